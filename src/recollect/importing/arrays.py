"""JSON of any size, one element of its outermost array at a time."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

ITEM_LIMIT = 256 * 1024 * 1024
"""The most characters of one element."""
PIECE = 64 * 1024
"""How many bytes are read at a time, unless an element needs more."""
_SPACE = re.compile(r"[ \t\r\n]*")
_STRUCTURE = re.compile(r'["\\{}\[\],]')
_DECODER = json.JSONDecoder()
_MARGIN = 16
"""So near to the end of what was read an error may be that the rest is still to come."""

TOO_LONG = "it is longer than can be read at once"
TOO_DEEP = "it is nested too deep"
NOT_JSON = "it is not JSON"
CUT = "the file breaks off or is not JSON from here on"


class Bad(str):
    """Why an element, in its place among the others, cannot be read."""

    __slots__ = ()


class Cut(Exception):
    """The rest of a file cannot be read."""


class Text:
    """A stream of bytes as text, of which no more is held than the element that is read. Bytes that are not
    UTF-8 become lone surrogates, so that only the text that has them is lost."""

    def __init__(self, stream: IO[bytes], limit: int = ITEM_LIMIT) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._limit = limit
        self._held = ""
        self._at = 0
        self._ended = False
        self._more()
        self._at = int(self._held.startswith("\ufeff"))

    def next(self) -> str:
        """The next character that is no space, still to be read; "" at the end."""
        while True:
            space = _SPACE.match(self._held, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._held) or not self._more():
                return self._held[self._at : self._at + 1]

    def skip(self) -> None:
        """Pass over the character that is next."""
        self._at += 1

    def value(self) -> Any:
        """The next value; `Bad` when it can only be passed over, `Cut` when there is no telling what is."""
        while True:
            try:
                found, end = _DECODER.raw_decode(self._held, self._at)
            except json.JSONDecodeError as error:
                long = len(self._held) - self._at >= self._limit
                near = error.pos >= len(self._held) - _MARGIN or error.msg.startswith("Unterminated")
                if near and not long and self._more():
                    continue
                return self._passed(TOO_LONG if long and near else NOT_JSON)
            except RecursionError:
                return self._passed(TOO_DEEP)
            except ValueError:  # a number with thousands of digits
                return self._passed(NOT_JSON)
            goes_on = isinstance(found, (int, float)) and end >= len(self._held) - _MARGIN
            if not goes_on or not self._more():
                self._at = end
                return found

    def _more(self) -> bool:
        """Read about as much again as is held, and let go of what was read; whether there was more."""
        if self._ended:
            return False
        data = self._stream.read(max(PIECE, len(self._held) - self._at))
        self._ended = not data
        if self._ended:
            self._held += self._decode(b"", final=True)
            return False
        self._held, self._at = self._held[self._at :] + self._decode(data), 0
        return True

    def _passed(self, reason: str) -> Bad:
        """Pass over a value that cannot be read, by its brackets, quotes and commas alone."""
        depth, quoted, begun = 0, False, False
        while True:
            found = _STRUCTURE.search(self._held, self._at)
            if found is None or found[0] == "\\":
                begun = True
                self._at = len(self._held) if found is None else found.end()
                if self._at == len(self._held) and not self._more():
                    raise Cut
                self._at += found is not None  # what is escaped
                continue
            sign = found[0]
            if sign == '"':
                quoted = not quoted
            elif not quoted and sign in "{[":
                depth += 1
            elif not quoted and depth == 0:  # what comes after the value
                if not begun and found.start() == self._at:
                    raise Cut
                self._at = found.start()
                return Bad(reason)
            elif not quoted and sign in "}]":
                depth -= 1
            begun = True
            self._at = found.end()
            if depth == 0 and sign in "}]" and not quoted:
                return Bad(reason)


def elements(text: Text) -> Iterator[Any]:
    """The elements of the array that the text is, as they are read; `Bad` in place of one that cannot be."""
    text.next()
    text.skip()  # the bracket
    while (sign := text.next()) != "]":
        if not sign:
            raise Cut
        if sign == ",":
            text.skip()
        else:
            yield text.value()
