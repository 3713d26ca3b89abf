"""From settings to a language model and a reranker, or to what has to be set."""

import importlib.util
from typing import Any

import pytest

from recollect.errors import SettingsError
from recollect.models.rerank_http import HttpReranker
from recollect.models.rerank_model import ModelReranker
from recollect.settings import load
from recollect.wiring import open_model, open_reranker

URL = "http://localhost:11434/v1"


def test_by_default_there_is_neither() -> None:
    settings = load({})
    assert open_model(settings) is None
    assert open_reranker(settings, None) is None


def test_both_are_what_the_settings_name() -> None:
    pytest.importorskip("openai")
    pytest.importorskip("httpx")
    settings = load({}, model=URL, model_name="llama", reranker="model", model_key="sk-very-secret")
    model = open_model(settings)
    assert model is not None
    assert model.name == "llama"
    assert isinstance(open_reranker(settings, model), ModelReranker)
    address = load({}, reranker=URL, reranker_model="bge", reranker_key="sk-very-secret")
    assert isinstance(open_reranker(address, None), HttpReranker)
    assert "sk-very-secret" not in repr((settings, address, model, open_reranker(address, None)))


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ({"model": URL}, "RECOLLECT_MODEL_NAME"),
        ({"model": "localhost", "model_name": "m"}, "http://"),
        ({"reranker": "model"}, "RECOLLECT_MODEL"),
        ({"reranker": URL}, "RECOLLECT_RERANKER_MODEL"),
        ({"reranker": "cohere"}, "none, model or a base URL"),
    ],
)
def test_what_is_missing_is_named(given: dict[str, Any], fix: str) -> None:
    settings = load({}, **given)
    with pytest.raises(SettingsError, match=fix):
        open_reranker(settings, open_model(settings))


@pytest.mark.parametrize(
    ("package", "given", "extra"),
    [
        ("openai", {"model": URL, "model_name": "m"}, "llm"),
        ("httpx", {"reranker": URL, "reranker_model": "m"}, "remote"),
    ],
)
def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, package: str, given: dict[str, Any], extra: str
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))
    settings = load({}, **given)
    with pytest.raises(SettingsError, match=rf"pip install 'recollect\[{extra}\]'"):
        open_reranker(settings, open_model(settings))
