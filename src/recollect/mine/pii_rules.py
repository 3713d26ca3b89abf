"""What sensitive data looks like: patterns, each with a check where its numbers carry one.

Written so that amounts, dates, order numbers, years, prices, versions and ISBNs are not taken for it: digits
alone are a phone number only after a plus, in a grouping that phones have, or where the words around say so.
A placeholder such as "[phone]" is no such word.
"""

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import NamedTuple

EMAIL, PHONE, CARD, IBAN = "e-mail", "phone", "card", "iban"
NATIONAL, PASSPORT, SECRET = "national id", "passport", "secret"
IP, ADDRESS = "ip address", "address"


class Rule(NamedTuple):
    """Where `pattern` matches and `check` says so, the group `it`, or all of it, is of this kind."""

    kind: str
    pattern: re.Pattern[str]
    check: Callable[[re.Match[str]], str | None]
    """What of the match it really is; None: nothing."""

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        for match in self.pattern.finditer(text):
            found = self.check(match)
            if found:
                start = match.start(self.pattern.groupindex.get("it", 0))
                yield start, start + len(found)


def _it(match: re.Match[str]) -> str:
    return match["it"] if "it" in match.re.groupindex else match.group()


def _rule(kind: str, pattern: str, check: Callable[[re.Match[str]], str | None] = _it) -> Rule:
    return Rule(kind, re.compile(pattern, re.IGNORECASE | re.DOTALL), check)


def _exact(kind: str, pattern: str, check: Callable[[re.Match[str]], str | None] = _it) -> Rule:
    return Rule(kind, re.compile(pattern), check)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


_LENGTHS = {
    "34": (15,),
    "37": (15,),
    "30": (14,),
    "36": (14,),
    "38": (14,),
    "4": (13, 16, 19),
    "6": (16, 17, 18, 19),
}


def _luhn(match: re.Match[str]) -> str | None:
    number = _digits(match.group())
    if len(number) not in _LENGTHS.get(number[:2], _LENGTHS.get(number[0], (16,))):
        return None
    digits = [int(digit) for digit in reversed(number)]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return match.group() if (sum(digits[::2]) + doubled) % 10 == 0 and len({*digits}) > 1 else None


def _iban(match: re.Match[str]) -> str | None:
    """The longest beginning whose check digits are right: what follows may be the next word."""
    words = match.group().split(" ")
    for count in range(len(words), 0, -1):
        code = "".join(words[:count]).upper()
        if len(code) >= 15 and int("".join(str(int(c, 36)) for c in code[4:] + code[:4])) % 97 == 1:
            return " ".join(words[:count])
    return None


def _ip(match: re.Match[str]) -> str | None:
    text = match.group().rstrip(".") if ":" not in match.group() else match.group()
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return None if found.is_loopback or found.is_unspecified else text


def _dni(match: re.Match[str]) -> str | None:
    number = match[1].upper().translate(str.maketrans("XYZ", "012"))
    return match.group() if "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == match[2].upper() else None


def _nir(match: re.Match[str]) -> str | None:
    digits = _digits(match.group())
    return match.group() if 97 - int(digits[:13]) % 97 == int(digits[13:]) else None


def _long(match: re.Match[str]) -> str | None:
    """An id with its spaces, but not the words after it."""
    parts = match["it"].split(" ")
    while parts and not any(c.isdigit() for c in parts[-1]):
        parts.pop()
    return " ".join(parts) if len(_digits(" ".join(parts))) >= 6 else None


_AROUND = 40  # how far back the words are that say what a number is
_PHONES = re.compile(
    r"(?<!\[)\b(?:(?:tele)?phone|tel|mobile|whatsapp|sms|fax|telefon\w*|handynummer|m[óo]vil|tel[ée]fono|"
    r"t[ée]l[ée]phone|celular)\b"
    r"|\b(?:call(?:ed|s|ing)?|text(?:ed|s)?|ring|dial)(?:\s\w+){0,2}?(?:\s(?:on|at|under))?[\s:]*$"
    r"|\breach(?:able|ed)?(?:\s\w+){0,2}?\s(?:on|at|under)[\s:]*$",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"(?:\b(?:orders?|invoices?|ticket|isbn|issn|ean|serial|account|amount|price|version|tracking|reference|"
    r"ref|case|booking|customer|article|item|id|population|budget|costs?|sku|part|patent|doi|flight|build)\b|"
    r"[#$€£])"
    r"[^.;\n]{0,24}$",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?<!\d)(?:\d{1,2}([-/.])\d{1,2}\1\d{2,4}|\d{4}([-/.])\d{1,2}\2\d{1,2})(?!\d)")
_YEARS = re.compile(r"(?:(?:19|20)\d\d[ /.-]{0,2})+")
_NANP = re.compile(r"(?:1[ .-])?\(?[2-9]\d\d\)?[ .-]{1,2}\d{3}[ .-]\d{4}")
_TRUNK = re.compile(r"\(?0\d{1,4}\)?(?:[ /-]\d{2,8}){1,4}")


def _phone(match: re.Match[str]) -> str | None:
    text = match.group()
    count = len(_digits(text))
    before = match.string[max(0, match.start() - _AROUND) : match.start()]
    if _DATE.search(text) or _YEARS.fullmatch(text) or not 7 <= count <= 15:
        return None
    if text.startswith(("+", "00")) and count >= 8 and text[1:2] != " ":
        return text
    said = [word.end() for word in _PHONES.finditer(before)]
    other = _OTHERS.search(before)
    if other is not None and not (said and said[-1] > other.start()):
        return None
    grouped = _NANP.fullmatch(text) or (_TRUNK.fullmatch(text) and 9 <= count <= 12)
    return text if said or grouped else None


_NO_WORD = (
    "wrong|correct|incorrect|weak|strong|safe|secure|required|needed|lost|forgotten|stored|expired|the|a|an|"
    "not|too|very|his|her|my|their|in|on|at|to|for|kept|saved|reset|changed|unknown|invalid|default|empty"
)
_PASSWORD = r"(?<!\[)\b(?:pass(?:word|phrase|code|wort)|pwd|kennwort|mot de passe|contrase[ñn]a|senha)s?\b"
_KEY = r"(?<!\[)\b(?:(?:api|access|secret|private|auth|client)[ _-]?(?:key|token|secret)|token|secret)\b"
_IS = r"(?:[^\w\n]{0,3}(?:is|was|to|as|ist|est|es|é|=|:)[\s:=]{0,3}|\s?[:=]\s?)[\"'“‘`]?"
_NUMBERED = r"(?:\s?(?:number|no\.?|nummer|code|#|is|was|ist|:|\([^)]{0,10}\))){0,3}[\s:#]{0,3}"
_ID_WORDS = (
    r"(?<!\[)\b(?:ssn|social security|social insurance|national (?:id|insurance)|tax(?:payer)? id|"
    r"steuer-?id\w*|aadhaar|cpf|pesel|bsn|personnummer|driver'?s licen[cs]e|driving licen[cs]e|"
    r"id card|personalausweis\w*)"
)

_TOKEN = (  # by the beginnings that their makers gave them
    r"(?<![\w-])(?:sk-[\w-]{16,}|[sprk]{2}_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|"
    r"glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|hf_\w{20,}|"
    r"npm_\w{20,}|pypi-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,})"
)
_WITH_A_DIGIT = r"(?P<it>(?!\[)(?=[^\s\"'”’`,;]*[\d!@#$%^&*_?+=])[^\s\"'”’`,;]{3,}(?<![.!?]))"
_ONE_WORD = rf"(?P<it>(?!(?:{_NO_WORD})\b)[^\W\d_]{{4,}})(?=[\"'”’`]|\s?(?:[.,;!)]|$))"
_NINO = r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"
_PASSPORT = (
    r"(?<!\[)\b(?:passports?|reisepass\w*|passeport|pasaporte)\b"
    r"(?:(?!expire|valid|until|issued)[^.;\n\[\d]){0,30}?(?<!\w)(?P<it>[A-Z]{0,3}\d{6,9}[A-Z]?)(?!\w)"
)
_STREETS = (
    (  # 221B Baker Street
        r"(?<![\w.,-])\d{1,5}[A-Za-z]?\s(?:[NSEW]\.?\s)?(?:[A-Z][\w'’.-]*\s){1,4}(?:Street|St|Avenue|Ave|Road|"
        r"Rd|Boulevard|Blvd|Lane|Ln|Drive|Court|Ct|Place|Square|Terrace|Way|Close|Crescent|Highway|Hwy|"
        r"Parkway|Pkwy)\b(?:,?\s(?:[Aa]pt|[Aa]partment|[Ss]uite|[Uu]nit|[Ff]lat|#)\.?\s?\w+)?"
    ),
    # Hauptstraße 5a
    r"\b[A-ZÄÖÜ][\w-]*(?:straße|strasse|str\.|weg|platz|allee|gasse)\s\d{1,4}(?:\s?[a-z](?!\w))?(?!\w)",
    (  # 12 rue de la Paix
        r"(?<![\w.,-])\d{1,4}(?:\s(?:bis|ter))?,?\s(?:rue|avenue|boulevard|place|chemin|impasse|allée|quai)\s"
        r"(?:(?:de|du|des|la|le|les)\s|[ld]['’])*[A-ZÀ-Ý][\w'’-]*(?:\s[A-ZÀ-Ý][\w-]*)*"
    ),
    (  # Rua do Ouro 12
        r"\b(?:Calle|Avenida|Rua|Via|Plaza|Carrer|Piazza)\s(?:(?:de|da|do|del|la|los|las)\s)*[A-ZÀ-Ý][\w'’-]*"
        r"(?:\s(?:(?:de|da|do|del|la)\s)*[A-ZÀ-Ý][\w-]*)*,?\s(?:n[º°.]\s?)?\d{1,4}(?!\w)"
    ),
)

RULES: tuple[Rule, ...] = (
    _rule(SECRET, r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    _exact(SECRET, r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    _exact(SECRET, _TOKEN),
    _rule(SECRET, r"(?<=://)[^\s/:@\[]+:[^\s/@\[]+(?=@)"),
    _rule(SECRET, r"\bbearer\s(?P<it>[\w.~+/-]{16,}=*)"),
    _rule(SECRET, f"{_PASSWORD}{_IS}{_WITH_A_DIGIT}"),
    _rule(SECRET, f"{_PASSWORD}{_IS}{_ONE_WORD}"),
    _rule(SECRET, rf"{_KEY}{_IS}(?P<it>(?=[^\s\"'”’`,;]*\d)[\w.~+/=-]{{8,}}(?<!\.))"),
    _rule(SECRET, rf"(?<!\[)\bpin(?:[ -]?(?:code|number))?{_IS}(?P<it>\d{{4,8}})(?!\w)"),
    _rule(EMAIL, r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    _rule(IBAN, r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)", _iban),
    _rule(CARD, r"(?<![\w.,-])(?:3[04-8]|4\d|5[0-8]|2[2-7]|6\d)(?:[ -]?\d){11,17}(?![\w-]|[.,]\d)", _luhn),
    _exact(NATIONAL, r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])"),
    _exact(NATIONAL, rf"(?<!\w){_NINO}(?!\w)"),
    _exact(NATIONAL, r"(?<!\w)(\d{8}|[XYZ]\d{7})-?([A-Z])(?!\w)", _dni),
    _exact(NATIONAL, r"(?<!\w)[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?\d\d ?\d{3} ?\d{3} ?\d\d(?!\w)", _nir),
    _exact(NATIONAL, r"(?<!\w)[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z](?!\w)"),
    _exact(NATIONAL, r"(?<![\w.])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w-])"),
    _rule(NATIONAL, rf"{_ID_WORDS}{_NUMBERED}(?P<it>[A-Z]{{0,3}}\d(?:[ .-]?[\dA-Z]){{5,20}})(?!\w)", _long),
    _rule(PASSPORT, _PASSPORT),
    _rule(IP, r"(?<![\w.:])(?<!version )(?<!release )(?:\d{1,3}\.){3}\d{1,3}(?![\w:]|\.\d)", _ip),
    _rule(IP, r"(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", _ip),
    _rule(
        PHONE, r"(?<![\w.,/$€£#+-])(?:\+|\()?\d(?:[ ./()-]{0,2}\d){6,16}(?![\w-]|[.,:]\d|\s?[%€$£])", _phone
    ),
    *(_exact(ADDRESS, street) for street in _STREETS),
)
"""In order: where two overlap, the earlier rule has it."""

_DIGIT = re.compile(r"\d")
_WORDED = tuple(rule for rule in RULES if rule.kind in (SECRET, EMAIL, IP))
"""Those that may find something without a digit."""


def rules_for(text: str) -> tuple[Rule, ...]:
    """The rules that may find something in a text: most texts have no digit."""
    return RULES if _DIGIT.search(text) else _WORDED
