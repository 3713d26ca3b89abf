"""Sensitive data in what was extracted: left as it is, told, made unreadable, or left out (B12).

What was said is not touched: a turn is a record, and stays word for word.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from recollect.mine.extracted import Bond, Claim, Extraction, Mention, Topic
from recollect.mine.pii_rules import rules_for

Policy = Literal["off", "tag", "redact", "drop"]

Found = dict[str, str]
"""Each piece of sensitive data, and of what kind it is."""

_SHORTEST = 3
"""The fewest characters that are looked for again where only the words beside them gave them away."""
_NOTHING_LEFT = re.compile(r"(?:[^\w\[]*\[[a-z -]+\])+\W*")


def guarded(extraction: Extraction, policy: Policy) -> Extraction:
    """The extraction as the policy wants it. `tag` names the kinds of data in each claim; `redact` puts a
    word such as `[e-mail]` in the place of each, and leaves out what is named by nothing else; `drop` leaves
    out whatever holds any."""
    match policy:
        case "off":
            return extraction
        case "tag":
            claims = tuple(replace(claim, tags=_tags(claim)) for claim in extraction.claims)
            return replace(extraction, claims=claims)
        case "redact":
            while (clean := _redacted(extraction)) != extraction:  # as in a single text
                extraction = clean
            return extraction
        case "drop":
            return replace(
                extraction,
                claims=tuple(one for one in extraction.claims if not _found(_of_claim(one))),
                bonds=tuple(one for one in extraction.bonds if not _found(_of_bond(one))),
                mentions=tuple(one for one in extraction.mentions if not _found(_of_mention(one))),
                topics=tuple(one for one in extraction.topics if not _found((one.title, one.subject))),
            )


def sensitive(text: str) -> list[tuple[int, int, str]]:
    """Where a text holds sensitive data, in its order: from, up to, and of what kind."""
    taken: list[tuple[int, int, str]] = []
    for rule in rules_for(text):
        for start, stop in rule.find(text):
            if not any(start < other_stop and other_start < stop for other_start, other_stop, _ in taken):
                taken.append((start, stop, rule.kind))
    return sorted(taken)


def redacted(text: str, known: Mapping[str, str] | None = None) -> str:
    """The text with a word for its kind in the place of each piece; also of those that are `known`."""
    before = ""
    while text != before:  # what stood beside a piece may be one without it
        before = text
        for piece, kind in (known or {}).items():
            text = re.sub(rf"(?<![\w\[]){re.escape(piece)}(?![\w\]])", f"[{kind}]", text)
        for start, stop, kind in reversed(sensitive(text)):
            text = f"{text[:start]}[{kind}]{text[stop:]}"
    return text


def _tags(claim: Claim) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*claim.tags, *_found(_of_claim(claim)).values())))


def _found(texts: Iterable[str]) -> Found:
    each = dict.fromkeys(texts)  # many are there several times, as a subject or a name
    return {text[start:stop]: kind for text in each for start, stop, kind in sensitive(text)}


def _redacted(extraction: Extraction) -> Extraction:
    texts = [text for claim in extraction.claims for text in _of_claim(claim)]
    texts += [text for mention in extraction.mentions for text in _of_mention(mention)]
    texts += [text for bond in extraction.bonds for text in _of_bond(bond)]
    titles = [text for topic in extraction.topics for text in (topic.title, topic.subject)]
    # What the words beside it gave away in one place stands bare in another.
    found = _found(texts)
    pieces = sorted(found.items(), key=lambda found: -len(found[0]))
    known = {piece: kind for piece, kind in pieces if len(piece) >= _SHORTEST}
    anything = bool(found or _found(titles))  # most often there is nothing to redact

    def clean(text: str) -> str:
        return redacted(text, known) if anything else text

    def names(given: Iterable[str]) -> tuple[str, ...]:
        return tuple(filter(_says, dict.fromkeys(map(clean, given))))

    def claim(given: Claim) -> Claim:
        return replace(
            given,
            content=clean(given.content),
            subject=clean(given.subject),
            attribute=clean(given.attribute),
            value=clean(given.value),
            about=names(given.about),
            fields=_each(given.fields, clean),
        )

    def mention(given: Mention) -> Mention:
        return replace(
            given,
            name=clean(given.name),
            aliases=names(given.aliases),
            description=clean(given.description),
            properties={clean(name): clean(value) for name, value in given.properties.items()},
        )

    def bond(given: Bond) -> Bond:
        return replace(given, source=clean(given.source), target=clean(given.target), type=clean(given.type))

    def topic(given: Topic) -> Topic:
        return replace(given, title=clean(given.title), subject=clean(given.subject))

    return replace(
        extraction,
        claims=tuple(map(claim, extraction.claims)),
        mentions=tuple(one for one in map(mention, extraction.mentions) if _says(one.name)),
        bonds=tuple(one for one in map(bond, extraction.bonds) if _says(one.source) and _says(one.target)),
        topics=tuple(one for one in map(topic, extraction.topics) if _says(one.title)),
    )


def _says(name: str) -> bool:
    """Whether a name is more than a word in the place of what it was."""
    return not _NOTHING_LEFT.fullmatch(name)


def _each(value: Any, clean: Callable[[str], str]) -> Any:
    """All texts in a value, cleaned."""
    match value:
        case str():
            return clean(value)
        case {**named}:
            return {name: _each(part, clean) for name, part in cast(dict[str, Any], named).items()}
        case [*parts]:
            return tuple(_each(part, clean) for part in parts)
        case _:
            return value


def _texts(value: Any) -> list[str]:
    found: list[str] = []
    _each(value, lambda text: found.append(text) or text)
    return found


def _of_claim(claim: Claim) -> list[str]:
    """Its texts; a value also with its name, which may be what gives it away."""
    named = f"{claim.attribute} : {claim.value}"
    texts = (claim.content, claim.attribute, claim.value, named, claim.subject)
    return [*texts, *claim.about, *_texts(claim.fields)]


def _of_mention(mention: Mention) -> list[str]:
    named = [f"{name} : {value}" for name, value in mention.properties.items()]
    texts = (mention.name, *mention.aliases, mention.description, *named)
    return [*texts, *mention.properties, *mention.properties.values()]


def _of_bond(bond: Bond) -> list[str]:
    return [bond.source, bond.type, bond.target]
