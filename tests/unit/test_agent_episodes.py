"""What is remembered of a task: the way that worked, and by name what did not."""

from recollect.agent.calling import Asked, Outcome
from recollect.agent.episodes import episode_of
from recollect.agent.tools import Tool
from recollect.ports.acting import Call


def done(name: str, arguments: str, output: str, success: bool) -> Outcome:
    tool = Tool(name, "", {"type": "object"}, lambda given: "")
    return Outcome(Asked(Call("1", name, arguments), tool, {}), output, None if success else output)


WAY = (
    done("archive", "{}", "404", False),
    done("token", '{"service": "crm"}', "400", False),
    done("token", '{"service": "billing"}', "ok", True),
    done("read", "{}", "total 7", True),
)


def test_what_worked_comes_first_and_is_what_is_learnt() -> None:
    made = episode_of("What is the total?", "It is 7.", WAY, "answered", "off")
    assert made is not None
    assert made["success"] is True
    assert made["tools"] == ("token", "read")
    assert made["steps"] == ('token {"service": "billing"}: ok', "read {}: total 7")
    assert made["content"] == (
        "The user asked: What is the total. Done with token, read. It worked. "
        'What worked: token {"service": "billing"}: ok; read {}: total 7. In vain: archive. Outcome: It is 7.'
    )


def test_of_a_task_that_failed_all_that_was_tried_is_told() -> None:
    made = episode_of("What is the total?", "", WAY[:2], "iterations", "off")
    assert made is not None
    assert made["success"] is False
    assert made["tools"] == ("archive", "token")
    assert made["steps"] == ("archive {} failed: 404", 'token {"service": "crm"} failed: 400')
    assert "In vain: archive, token." in made["content"]
