"""recollect copy."""

from pathlib import Path

from tests.interface.test_cli_frame import ask, failure, run


def test_copy_there_and_what_it_says(tmp_path: Path) -> None:
    source, target = tmp_path / "recollect.db", tmp_path / "copy.db"
    run("record", "user", "My budget is $10,000", "--user", "ana")
    run("remember", "Ben likes tea", "--user", "ben")
    answer = ask("copy", source, target)
    assert (answer["verified"], answer["records"], answer["vectors_of"]) == (True, 7, "hashing-1-384")
    ana = answer["users"][0]
    assert (ana["user"], ana["contents"]["turn"]["count"], ana["later"]) == ("ana", 1, 0)
    assert len(ana["contents"]["turn"]["hash"]) == 64
    assert answer["only_in_target"] == []
    assert (answer["new"], ana["new"]) == (7, 3)
    printed = run("copy", source, tmp_path / "another.db").stdout
    assert printed.startswith(f"Copied 7 records of 2 users to {tmp_path / 'another.db'}.\n")
    assert "Verified" in printed
    assert ask("recall", "budget", "--user", "ana", "--db", target)["hits"][0]["content"] == (
        "My budget is $10,000"
    )
    only = tmp_path / "ben.db"
    assert run("copy", source, only, "--user", "ben").stdout.startswith("Copied 4 records of 1 user")
    run("remember", "said to the copy", "--user", "eve", "--db", only)
    assert ask("copy", source, only)["only_in_target"] == ["eve"]
    assert "Only the target has 1 user: eve." in run("copy", source, only).stdout


def test_copy_again_says_what_was_new(tmp_path: Path) -> None:
    source, target = tmp_path / "recollect.db", tmp_path / "copy.db"
    run("remember", "Ana likes tea", "--user", "ana")
    ask("copy", source, target)
    again = ask("copy", source, target)
    assert (again["records"] > 0, again["new"]) == (True, 0)
    assert "Copied 0 records of 1 user" in run("copy", source, target).stdout
    run("remember", "Ana likes milk", "--user", "ana")
    printed = run("copy", source, target).stdout
    now = ask("copy", source, target)["records"]
    assert printed.startswith(f"Copied {now - again['records']} records of 1 user to {target}; ")
    assert f"{again['records']} were there already." in printed


def test_copy_to_and_from_an_encrypted_file(tmp_path: Path) -> None:
    plain, sealed, back = (tmp_path / name for name in ("recollect.db", "sealed.db", "back.db"))
    key = tmp_path / "key"
    key.write_text("5e" * 32)
    run("remember", "The xylophone is green")
    run("copy", plain, sealed, "--to-key-file", key)
    assert b"ylophone" not in sealed.read_bytes()
    named = {"RECOLLECT_KEY_FILE": str(key)}
    failure("copy", sealed, back, "--to-plain", "--to-key-file", key, code=2, **named)
    assert not back.exists()
    assert ask("copy", sealed, back, "--to-plain", **named)["verified"]
    assert ask("recall", "xylophone", "--db", back)["hits"]


def test_copy_of_what_is_not_there_or_would_mix(tmp_path: Path) -> None:
    source, target = tmp_path / "recollect.db", tmp_path / "copy.db"
    assert "no database" in failure("copy", source, target, code=3)["message"]
    assert not target.exists()
    run("record", "user", "hello", "--user", "ana")
    assert "itself" in failure("copy", source, source, code=1)["message"]
    assert "nobody" in failure("copy", source, target, "--user", "nobody", code=3)["message"]
    assert not target.exists()
    run("record", "user", "something else", "--user", "ana", "--db", target)
    refused = failure("copy", source, target, code=1)
    assert refused["type"] == "Conflict"
    assert "forget that user there first" in refused["message"]
