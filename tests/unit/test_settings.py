"""Settings: given ones first, then the environment's, then the defaults; wrong ones are named."""

from dataclasses import fields
from typing import Any

import pytest

from recollect import Memory, SettingsError
from recollect.settings import CHOICES, PREFIX, Settings, load


def test_given_before_environment_before_default() -> None:
    environment = {"RECOLLECT_TOP_K": "8", "RECOLLECT_THRESHOLD": "0.5", "RECOLLECT_EMBED_ON_WRITE": "off"}
    loaded = load(environment, top_k=9)
    assert (loaded.top_k, loaded.threshold, loaded.embed_on_write) == (9, 0.5, False)
    assert loaded.content_limit == Settings().content_limit
    assert load({"RECOLLECT_TOP_K": ""}).top_k == Settings().top_k


@pytest.mark.parametrize("field", fields(Settings), ids=lambda f: f.name)
def test_every_setting_is_read_from_its_variable(field: Any) -> None:
    default = getattr(Settings(), field.name)
    text = CHOICES.get(field.name, ("other",))[-1]
    other = {bool: not default, int: 7, float: 1.0, str: text}[field.type]
    loaded = load({PREFIX + field.name.upper(): str(other)})
    assert getattr(loaded, field.name) == other


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("RECOLLECT_TOP_K", "many", "a whole number"),
        ("RECOLLECT_TOP_K", "5.5", "a whole number"),
        ("RECOLLECT_TOP_K", "0", "between 1 and 1000"),
        ("RECOLLECT_PII", "some", "one of off, tag, redact, drop"),
        ("RECOLLECT_THRESHOLD", "x", "a number"),
        ("RECOLLECT_THRESHOLD", "nan", "between"),
        ("RECOLLECT_SEMANTIC_WEIGHT", "1.5", "between 0 and 1"),
        ("RECOLLECT_EMBED_ON_WRITE", "maybe", "true or false"),
        ("RECOLLECT_CONTENT_LIMIT", "-1", "between"),
    ],
)
def test_a_wrong_variable_is_named(variable: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"{variable} is .*{message}"):
        load({variable: value})


@pytest.mark.parametrize("word", ["1", "TRUE", "yes", "On"])
def test_words_for_yes(word: str) -> None:
    assert load({"RECOLLECT_INSTALL_MODELS": word}).install_models is True


@pytest.mark.parametrize(
    "given",
    [{"top_k": "5"}, {"top_k": 5.0}, {"top_k": True}, {"embed_on_write": "no"}, {"db": 5}, {"top_k": 0}],
)
def test_a_given_value_of_the_wrong_kind_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"(?i){next(iter(given))}"):
        load({}, **given)


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(SettingsError, match="'colour'"):
        Memory.open(colour="red")


def test_the_key_is_never_shown() -> None:
    shown = repr(load({"RECOLLECT_EMBEDDER_KEY": "sk-very-secret"}))
    assert "sk-very-secret" not in shown
    assert "embedder_key='set'" in shown


def test_a_password_in_an_address_is_never_shown() -> None:
    addresses = {name: f"https://ada:lovelace@{name}.example" for name in ("milvus", "redis", "model")}
    shown = repr(load({}, db="postgresql://ada:lovelace@db.example/memory", **addresses))
    assert "lovelace" not in shown
    assert "db='postgresql://ada:…@db.example/memory'" in shown


def test_memory_opens_what_the_environment_names(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_DB", str(tmp_path / "deep" / "here.db"))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    with Memory.open() as memory:
        memory.scope("derek").record("user", "hello")
        assert memory.embedder is not None
    assert (tmp_path / "deep" / "here.db").exists()


def test_a_store_that_there_is_none_for() -> None:
    with pytest.raises(SettingsError, match="oracle"):
        Memory.open("oracle://host/db")
