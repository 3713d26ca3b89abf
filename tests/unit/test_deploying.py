"""The examples of deployment: they parse, their commands exist, and what they set are settings."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from recollect.cli import app
from recollect.server.running import CLOSING
from recollect.settings import PREFIX, Settings, load

ROOT = Path(__file__).parents[2]
IMAGE_PORT, IMAGE_USER = "7070", "10001"
VARIABLES = {PREFIX + field.name.upper() for field in fields(Settings)}
OWN = {"RECOLLECT_DB_PASSWORD"}
"""Filled in by compose, from the environment of whoever runs it."""


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines]


def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def manifests() -> dict[tuple[str, str], Any]:
    found = yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text())
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def pods() -> Iterator[dict[str, Any]]:
    for (kind, _), found in manifests().items():
        if kind == "Deployment":
            yield found["spec"]["template"]["spec"]


def commands() -> list[list[str]]:
    """Every command of ours that an example runs."""
    found = [yaml.safe_load(rest) for name, rest in instructions() if name == "CMD"]
    found += [service.get("command", []) for service in compose()["services"].values()]
    for pod in pods():
        found += [one["command"] for one in (*pod.get("initContainers", ()), *pod["containers"])]
    return [command for command in found if command and command[0] == "recollect"]


def set_values() -> dict[str, str]:
    """What the examples set, where they say to what."""
    values: dict[str, str] = {}
    for name, rest in instructions():
        if name == "ENV":
            values |= dict(pair.split("=", 1) for pair in rest.split())
    for service in compose()["services"].values():
        values |= service.get("environment", {})
    values |= manifests()["ConfigMap", "recollect"]["data"]
    return {name: str(value) for name, value in values.items() if name.startswith(PREFIX)}


def test_every_variable_is_a_setting() -> None:
    for path in ("Dockerfile", "compose.yaml", "deploy/kubernetes.yaml"):
        named = set(re.findall(r"\bRECOLLECT_[A-Z_]+", (ROOT / path).read_text()))
        assert named
        assert named <= VARIABLES | OWN, path


def test_their_values_can_be() -> None:
    values = {name: value for name, value in set_values().items() if "$" not in value}
    assert load(values).log_format == "json"


def test_every_command_exists() -> None:
    found = commands()
    assert len(found) >= 6
    for command in found:
        group: Any = typer.main.get_command(app)
        arguments = list(command[1:])
        while arguments and not arguments[0].startswith("-") and hasattr(group, "commands"):
            group = group.commands[arguments.pop(0)]
        options = {name for parameter in group.params for name in parameter.opts}
        assert {argument for argument in arguments if argument.startswith("--")} <= options, command


def test_the_image_is_not_roots_and_says_how_it_is() -> None:
    found = dict(instructions())
    assert found["USER"] == IMAGE_USER
    assert found["EXPOSE"] == IMAGE_PORT == str(load({}).port)
    assert "/healthz" in found["HEALTHCHECK"]
    assert found["STOPSIGNAL"] == "SIGTERM"
    assert all(rest.startswith("python:3.12-slim") for name, rest in instructions() if name == "FROM")
    (install,) = [rest for name, rest in instructions() if "pip install" in rest]
    assert "--constraint constraints.txt" in install
    assert "server" in install
    kept = (ROOT / ".dockerignore").read_text().split()
    copied = {
        part
        for name, rest in instructions()
        if name == "COPY" and "--from" not in rest
        for part in rest.split()[:-1]
    }
    assert {f"!{part}" for part in copied} <= set(kept)
    assert kept[0] == "*"


def test_make_installs_for_serving_what_the_image_has() -> None:
    (served,) = re.findall(r"^SERVED := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    (install,) = [rest for name, rest in instructions() if "pip install" in rest]
    assert f"'.[{served}]'" in install


def test_the_composition_holds_together() -> None:
    found = compose()
    services = found["services"]
    assert set(services) == {"schema", "server", "worker", "database", "redis"}
    assert "pgvector" in services["database"]["image"]
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])
    assert services["worker"]["command"] == ["recollect", "tend", "--forever"]
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        for volume in service.get("volumes", ()):
            assert volume.split(":")[0] in found["volumes"]
    grace = int(services["server"]["stop_grace_period"].removesuffix("s"))
    assert grace > load({}).shutdown_seconds + CLOSING


def test_the_manifests_hold_together() -> None:
    found = manifests()
    assert {kind for kind, _ in found} == {"ConfigMap", "Service", "Deployment"}
    server = found["Deployment", "recollect"]["spec"]
    assert found["Service", "recollect"]["spec"]["selector"] == server["template"]["metadata"]["labels"]
    (container,) = server["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert str(container["ports"][0]["containerPort"]) == IMAGE_PORT
    for pod in pods():
        assert pod["securityContext"]["runAsUser"] == int(IMAGE_USER)
        assert pod["terminationGracePeriodSeconds"] > load({}).shutdown_seconds + CLOSING
        volumes = {volume["name"] for volume in pod["volumes"]}
        for one in (*pod.get("initContainers", ()), *pod["containers"]):
            assert {"secretRef": {"name": "recollect"}} in one["envFrom"]
            assert not one["securityContext"]["allowPrivilegeEscalation"]
            assert {mount["name"] for mount in one["volumeMounts"]} <= volumes
        assert all("limits" in one["resources"] for one in pod["containers"])


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "deploy/kubernetes.yaml"])
def test_no_secret_is_in_an_example(name: str) -> None:
    text = (ROOT / name).read_text()
    assert not re.search(r"(?i)(password|key)\s*[:=]\s*[\"']?[a-z0-9]{6,}", text)
