"""The registry's records are complete and consistent with each other."""

import re
from pathlib import Path

import pytest

import recollect.models
from recollect.errors import SettingsError
from recollect.models.registry import DEFAULT, KNOWN, MODEL_FILE, TOKENIZER_FILE, LocalModel, find

models = pytest.mark.parametrize("model", KNOWN.values(), ids=list(KNOWN))


@models
def test_a_record_is_complete(model: LocalModel) -> None:
    assert model.licence == "Apache-2.0"
    assert model.recipe.dimensions == 384
    assert (model.recipe.max_tokens or 0) >= 256
    assert 0.0 < model.recipe.unrelated < 1.0


@models
def test_every_source_has_every_file_with_size_and_hash(model: LocalModel) -> None:
    for source in model.sources:
        assert [file.name for file in source.files] == [MODEL_FILE, TOKENIZER_FILE]
        for file in source.files:
            assert file.size > 0
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)


@models
def test_weights_are_the_same_bytes_in_every_source(model: LocalModel) -> None:
    assert len({copy.sha256 for copy in model.accepted[MODEL_FILE]}) == 1


def test_arctic_has_the_hashes_that_were_measured() -> None:
    accepted = find("snowflake-arctic-embed-s").accepted
    assert {copy.sha256 for copy in accepted[MODEL_FILE]} == {
        "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14"
    }
    assert "87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b" in {
        copy.sha256 for copy in accepted[TOKENIZER_FILE]
    }


def test_the_default_is_known_and_an_unknown_name_says_which_are() -> None:
    assert find(DEFAULT).name == DEFAULT
    with pytest.raises(SettingsError, match="all-MiniLM-L6-v2"):
        find("no-such-model")


def test_no_address_is_written_in_the_models_package() -> None:
    folder = Path(recollect.models.__file__).parent
    for file in folder.glob("*.py"):
        assert not re.findall(r"https?://[a-z0-9]", file.read_text("utf-8")), file.name
