"""recollect models; and what doctor and demo want to know of the weights."""

from pathlib import Path
from typing import Annotated

import typer

from recollect.cli import output, values
from recollect.cli.frame import Here, command, new_app
from recollect.errors import NotFound
from recollect.models.registry import DEFAULT, KNOWN
from recollect.settings import MiB, Settings

app = new_app(
    "models",
    "The local embedding models.",
    "recollect models list",
    "recollect models install",
)

Name = Annotated[
    str | None,
    typer.Argument(
        parser=values.one_of(KNOWN), metavar="NAME", help=f"{', '.join(KNOWN)}. Default: the configured one."
    ),
]


def is_local(settings: Settings) -> bool:
    """Whether the configured embedder is a model of the registry."""
    return settings.embedder in KNOWN


def weights(settings: Settings, name: str | None = None) -> Path | None:
    """Where the model's files are; None when they are not installed."""
    from recollect.models.install import installed_path

    return installed_path(name or settings.embedder, Path(settings.models))


def without_weights(here: Here) -> dict[str, str]:
    """Settings under which nothing has to be fetched; says so when that is worth knowing."""
    if not is_local(here.settings) or weights(here.settings) is not None:
        return {}
    here.note(
        f"The model {here.settings.embedder} is not installed: this goes by words only. "
        "`recollect models install` fetches it."
    )
    return {"embedder": "none"}


def _chosen(here: Here, name: str | None) -> str:
    return name or (here.settings.embedder if is_local(here.settings) else DEFAULT)


def _bytes(name: str) -> int:
    return sum(file.size for file in KNOWN[name].sources[0].files)


@command(app, "recollect models list", "recollect models list --json", name="list")
def list_models(here: Here) -> None:
    """List the models that can be installed by name."""
    found = [
        {
            "name": name,
            "configured": name == here.settings.embedder,
            "installed": (at := weights(here.settings, name)) is not None,
            "path": None if at is None else str(at),
            "dimensions": model.recipe.dimensions,
            "licence": model.licence,
            "bytes": _bytes(name),
        }
        for name, model in KNOWN.items()
    ]
    rows = [
        (
            str(model["name"]),
            "installed" if model["installed"] else "not installed",
            f"{model['dimensions']} dimensions",
            f"{_bytes(str(model['name'])) / MiB:.0f} MiB",
            str(model["licence"]),
            "configured" if model["configured"] else "",
        )
        for model in found
    ]
    headings = ("model", "state", "vectors", "size", "licence", "")
    here.answer({"models": found}, lambda: output.table(headings, rows))


@command(app, "recollect models install", "recollect models install all-MiniLM-L6-v2")
def install(here: Here, name: Name = None) -> None:
    """Fetch a model's weights and check them by hash; nothing is done when they are there."""
    from recollect.models.install import install

    chosen = _chosen(here, name)
    directory = install(chosen, Path(here.settings.models), here.fetching)
    here.answer(
        {"model": chosen, "path": str(directory)},
        lambda: output.line(f"{chosen} is installed in {directory}"),
    )


@command(app, "recollect models path", "recollect models path all-MiniLM-L6-v2")
def path(here: Here, name: Name = None) -> None:
    """Print the folder of an installed model."""
    chosen = _chosen(here, name)
    directory = weights(here.settings, chosen)
    if directory is None:
        raise NotFound(f"{chosen} is not installed: run `recollect models install {chosen}`.")
    here.answer({"model": chosen, "path": str(directory)}, lambda: output.line(str(directory)))
