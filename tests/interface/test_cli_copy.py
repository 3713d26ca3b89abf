"""recollect copy."""

from pathlib import Path

from tests.interface.test_cli_frame import ask, failure, run


def test_copy_there_and_what_it_says(tmp_path: Path) -> None:
    source, target = tmp_path / "recollect.db", tmp_path / "copy.db"
    run("record", "user", "My budget is $10,000", "--user", "ana")
    run("remember", "Ben likes tea", "--user", "ben")
    answer = ask("copy", source, target)
    assert (answer["verified"], answer["records"], answer["vectors_of"]) == (True, 5, "hashing-1-384")
    ana = answer["users"][0]
    assert (ana["user"], ana["contents"]["turn"]["count"], ana["later"]) == ("ana", 1, 0)
    assert len(ana["contents"]["turn"]["hash"]) == 64
    assert answer["only_in_target"] == []
    printed = run("copy", source, target).stdout
    assert printed.startswith(f"Copied 5 records of 2 users to {target}.")
    assert "Verified" in printed
    assert ask("recall", "budget", "--user", "ana", "--db", target)["hits"][0]["content"] == (
        "My budget is $10,000"
    )
    only = tmp_path / "ben.db"
    assert run("copy", source, only, "--user", "ben").stdout.startswith("Copied 3 records of 1 user")
    run("remember", "said to the copy", "--user", "eve", "--db", only)
    assert ask("copy", source, only)["only_in_target"] == ["eve"]
    assert "Only the target has 1 user: eve." in run("copy", source, only).stdout


def test_copy_of_what_is_not_there_or_would_mix(tmp_path: Path) -> None:
    source, target = tmp_path / "recollect.db", tmp_path / "copy.db"
    assert "no database" in failure("copy", source, target, code=3)["message"]
    assert not target.exists()
    run("record", "user", "hello", "--user", "ana")
    assert "itself" in failure("copy", source, source, code=1)["message"]
    failure("copy", source, target, "--user", "nobody", code=3)
    run("record", "user", "something else", "--user", "ana", "--db", target)
    refused = failure("copy", source, target, code=1)
    assert refused["type"] == "Conflict"
    assert "forget that user there first" in refused["message"]
