"""A model without a model: what it does is a fixed function of the prompt it is given, and of nothing else.

It does what a sensible newcomer does: tools whose names or descriptions have words of the question first,
then all others in the order in which they are offered; options in their order; what an error names next. What
knows nothing of the item is not asked again, what came too early once something else has worked. What its
prompt says of earlier tasks comes before that: the steps that worked there, those of the task most like this
one first; what was in vain there comes last. So memory helps, or misleads, by what was recalled and how it
was put, and in no other way."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from recollect.bench.agent.world import RESULT
from recollect.ports.acting import Call, Message, Offered, Result, Said
from recollect.ports.language_model import ChatMessage, Source, Tokens
from recollect.text.chunk import estimate_tokens

ALIKE = 2
"""How many words two tasks must share for one to say what is in vain for the other."""
UNKNOWN = "I do not know."
ABOUT = "item"
"""What every tool of the world takes; others are not for its tasks."""
ITEM = re.compile(r"\b[A-Z]{2}-\d+\b")
_VAIN = re.compile(r"In vain: ([^.]*)\.")
_WORD = re.compile(r"[a-z]{4,}")
REFUSED, TOO_EARLY, UNKNOWN_THERE, NOTHING = "400: ", "403: ", "404: ", "nothing there"
COMMON = frozenset(
    (
        "what",
        "when",
        "where",
        "which",
        "with",
        "have",
        "from",
        "that",
        "this",
        "tell",
        "please",
        "find",
        "much",
        "many",
        "right",
        "does",
        "need",
    )
)


class Attempt(NamedTuple):
    """A tool and the options it is given."""

    tool: str
    options: tuple[tuple[str, str], ...] = ()


class Naive:
    """The policy, as a model that acts."""

    name = "naive"

    def act(
        self,
        messages: Sequence[Message],
        tools: Sequence[Offered] = (),
        *,
        source: Source,
        max_tokens: int,
        within: float | None = None,
    ) -> Iterator[str | Said]:
        said = decided(messages, tools)
        prompt = sum(estimate_tokens(_text(message)) for message in messages)
        offered = estimate_tokens(json.dumps([tool._asdict() for tool in tools]))
        yield said._replace(tokens=Tokens(prompt + offered, estimate_tokens(_text(said))))


def decided(messages: Sequence[Message], tools: Sequence[Offered]) -> Said:
    """What is said next."""
    question = [m.content for m in messages if isinstance(m, ChatMessage) and m.role == "user"][-1]
    context = "\n".join(m.content for m in messages if isinstance(m, ChatMessage) and m.role == "system")
    results = [message.output for message in messages if isinstance(message, Result)]
    if results and RESULT in results[-1]:
        return Said(results[-1].partition(RESULT)[2].split()[0])
    tried, tools = _tried(messages), [tool for tool in tools if ABOUT in tool.parameters["properties"]]
    vain = _in_vain(context, question)
    known, newcomers = _remembered(context, question, tools), _naive(question, tools, vain)
    for attempt in itertools.chain(_named(results, tools), known, newcomers):
        if not tried.has(attempt):
            item = ITEM.search(question)
            given = {ABOUT: item[0] if item else "", **dict(attempt.options)}
            return Said(calls=(Call(f"call_{len(results)}", attempt.tool, json.dumps(given)),))
    return Said(UNKNOWN)


class Tried(NamedTuple):
    """What has been tried, and what there is no use in trying again."""

    useless: frozenset[str]
    """Tools that know nothing of it."""
    attempts: frozenset[Attempt]
    """What worked, and what did not since something last worked."""

    def has(self, attempt: Attempt) -> bool:
        return attempt.tool in self.useless or attempt in self.attempts


def _tried(messages: Sequence[Message]) -> Tried:
    useless: set[str] = set()
    done: set[Attempt] = set()
    early: set[Attempt] = set()
    asked: dict[str, Attempt] = {}
    for message in messages:
        if isinstance(message, Said):
            asked |= {call.id: _attempt(call.tool, call.arguments) for call in message.calls}
        elif isinstance(message, Result) and message.id in asked:
            attempt, came = asked[message.id], message.output
            if UNKNOWN_THERE in came or NOTHING in came:
                useless.add(attempt.tool)
            elif TOO_EARLY in came:
                early.add(attempt)
            else:
                done.add(attempt)
                early = early if REFUSED in came else set()
    return Tried(frozenset(useless), frozenset(done | early))


def _attempt(tool: str, arguments: str) -> Attempt:
    try:
        given: Any = json.loads(arguments)
    except ValueError:
        given = {}
    options = {name: str(value) for name, value in given.items() if name != ABOUT}
    return Attempt(tool, tuple(sorted(options.items())))


def _named(results: Sequence[str], tools: Sequence[Offered]) -> Iterator[Attempt]:
    """What the last error speaks of."""
    if results and TOO_EARLY in results[-1]:
        said = results[-1].partition(TOO_EARLY)[2]
        yield from _every(tool for tool in tools if tool.name in said)


def _naive(question: str, tools: Sequence[Offered], vain: frozenset[str]) -> Iterator[Attempt]:
    words = _words(question)

    def likeness(tool: Offered) -> tuple[bool, int]:
        name = tool.name.replace("_", " ")
        return tool.name not in vain, len(words & _words(f"{name} {tool.description}"))

    yield from _every(sorted(tools, key=likeness, reverse=True))


def _every(tools: Iterable[Offered]) -> Iterator[Attempt]:
    """Tools with each choice of their options."""
    for tool in tools:
        properties: Mapping[str, Any] = tool.parameters["properties"]
        choices = {name: rule["enum"] for name, rule in properties.items() if "enum" in rule}
        for values in itertools.product(*choices.values()):
            yield Attempt(tool.name, tuple(sorted(zip(choices, values, strict=True))))


def _remembered(context: str, question: str, tools: Sequence[Offered]) -> Iterator[Attempt]:
    """The steps that worked in what is told of earlier tasks, most like this one first, and of those the ones
    that tell the most. A tool that is named without what it was given is tried with each of its options."""
    words, known = _words(question), {tool.name: tool for tool in tools}
    lines = [_VAIN.sub("", line) for line in context.splitlines()]
    lines = [line for line in lines if any(name in line for name in known) and words & _words(line)]
    for line in sorted(lines, key=lambda line: (len(words & _words(line)), "{" in line), reverse=True):
        steps = list(_steps(line, known))
        told = any(given for _, given, _ in steps)
        for name, given, came in steps:
            if came.lstrip().startswith("failed") or NOTHING in came or (told and not given):
                continue
            yield from [_attempt(name, given)] if given else _every([known[name]])


def _in_vain(context: str, question: str) -> frozenset[str]:
    """What did not help with tasks like this one: it is tried last."""
    words = _words(question)
    alike = (line for line in context.splitlines() if len(words & _words(line)) >= ALIKE)
    return frozenset(name for line in alike for told in _VAIN.findall(line) for name in told.split(", "))


def _steps(line: str, known: Mapping[str, Offered]) -> Iterator[tuple[str, str, str]]:
    """Each tool that a line names, what it was given, and what is said behind it."""
    names = re.compile(rf"\b({'|'.join(known)})\b")
    found = list(names.finditer(line))
    for at, match in enumerate(found):
        behind = line[match.end() : found[at + 1].start() if at + 1 < len(found) else len(line)]
        given = re.match(r"\s*(\{[^{}]*\})", behind)
        yield match[0], given[1] if given else "", behind[given.end() :] if given else behind


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - COMMON


def _text(message: Message) -> str:
    if isinstance(message, Said):
        return " ".join([message.text, *(f"{call.tool} {call.arguments}" for call in message.calls)])
    return message.output if isinstance(message, Result) else message.content
