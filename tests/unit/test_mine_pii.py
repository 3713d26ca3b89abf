"""Sensitive data in what was extracted (B12)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.mine.extracted import Bond, Claim, Extraction, Mention, Topic
from recollect.mine.pii import guarded, redacted, sensitive

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
GITHUB = "ghp_" + "a1B2" * 9

FOUND = {
    "Write to ana.silva+work@mail.example.co.uk soon": ("e-mail", "ana.silva+work@mail.example.co.uk"),
    "mailto:jürgen@müller.example": ("e-mail", "jürgen@müller.example"),
    "Reach me at +351 912 345 678.": ("phone", "+351 912 345 678"),
    "My number is (415) 555-0132": ("phone", "(415) 555-0132"),
    "415-555-0132 is hers": ("phone", "415-555-0132"),
    "Ring +44 (0)20 7946 0958 or write": ("phone", "+44 (0)20 7946 0958"),
    "+1 (415) 555-0132": ("phone", "+1 (415) 555-0132"),
    "reach her at 5550132": ("phone", "5550132"),
    "1-800-555-0199": ("phone", "1-800-555-0199"),
    "Call him on 5550132": ("phone", "5550132"),
    "Telefon 030 1234567": ("phone", "030 1234567"),
    "Son 06 12 34 56 78": ("phone", "06 12 34 56 78"),
    "It is 020 7946 0958": ("phone", "020 7946 0958"),
    "WhatsApp: 912345678": ("phone", "912345678"),
    "The card is 4111 1111 1111 1111": ("card", "4111 1111 1111 1111"),
    "Amex 378282246310005, expires soon": ("card", "378282246310005"),
    "card 5555-5555-5555-4444": ("card", "5555-5555-5555-4444"),
    "IBAN DE89 3704 0044 0532 0130 00 is mine": ("iban", "DE89 3704 0044 0532 0130 00"),
    "pay to gb82west12345698765432": ("iban", "gb82west12345698765432"),
    "NL91 ABNA 0417 1643 00 that one": ("iban", "NL91 ABNA 0417 1643 00"),
    "SSN 123-45-6789": ("national id", "123-45-6789"),
    "social security number is 123 45 6789": ("national id", "123 45 6789"),
    "NI number QQ 12 34 56 C or AB123456C": ("national id", "AB123456C"),
    "DNI 12345678Z": ("national id", "12345678Z"),
    "NIE X1234567L": ("national id", "X1234567L"),
    "CPF 529.982.247-25": ("national id", "529.982.247-25"),
    "RSSMRA85T10A562S is his codice fiscale": ("national id", "RSSMRA85T10A562S"),
    "Aadhaar 2341 2345 2346 of hers": ("national id", "2341 2345 2346"),
    "2 55 08 14 168 025 38": ("national id", "2 55 08 14 168 025 38"),
    "Her driver's license number: D1234567": ("national id", "D1234567"),
    "The user's passport number is X12345678": ("passport", "X12345678"),
    "Passport: 123456789": ("passport", "123456789"),
    "The wifi password is hunter2": ("secret", "hunter2"),
    "password: swordfish": ("secret", "swordfish"),
    "changed the password to 'Tr0ub4dor&3'": ("secret", "Tr0ub4dor&3"),
    "The user's password is swordfish.": ("secret", "swordfish"),
    "Passwort ist geheim123!x": ("secret", "geheim123!x"),
    "The PIN is 4921": ("secret", "4921"),
    f"token {GITHUB}": ("secret", GITHUB),
    "key sk-proj-abcdefghijklmnop1234": ("secret", "sk-proj-abcdefghijklmnop1234"),
    "AKIAIOSFODNN7EXAMPLE": ("secret", "AKIAIOSFODNN7EXAMPLE"),
    "API key = 9f8e7d6c5b4a": ("secret", "9f8e7d6c5b4a"),
    "Authorization: Bearer abcdef0123456789abcdef": ("secret", "abcdef0123456789abcdef"),
    "postgres://ana:pa55@db.example/x": ("secret", "ana:pa55"),
    f"here: {KEY} end": ("secret", KEY),
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghij_-": (
        "secret",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghij_-",
    ),
    "The server is at 203.0.113.7.": ("ip address", "203.0.113.7"),
    "2001:db8::8a2e:370:7334 answers": ("ip address", "2001:db8::8a2e:370:7334"),
    "The user lives at 221B Baker Street": ("address", "221B Baker Street"),
    "1600 Pennsylvania Ave, Apt 4": ("address", "1600 Pennsylvania Ave, Apt 4"),
    "wohnt in der Hauptstraße 5a in Bonn": ("address", "Hauptstraße 5a"),
    "habite au 12 rue de la Paix": ("address", "12 rue de la Paix"),
    "mora na Rua do Ouro 120": ("address", "Rua do Ouro 120"),
}

INNOCENT = [
    "The budget for Hawaii is $10,000",
    "It cost 1 234 567 euros",
    "The budget is 12500000",
    "They paid 1.234.567,89 € in all",
    "The population is 10 467 366",
    "The user was born on 1984-05-14",
    "on 14/05/2024 at 10:30:00",
    "From 01-02-2024 10 to 12",
    "2024-01-02 10:30:15 UTC",
    "from 2019 to 2024",
    "in the years 1998 2001 2004 2019",
    "Order 4155550132 was sent",
    "The user wants to reach 1000000 subscribers",
    "The signal has 1234567 samples",
    "a phone made in 2019 2020",
    "order number 112-3344556-7788990",
    "The invoice no. is 2024-000123-77",
    "Ticket #12345678 is closed",
    "tracking number 1234567890123",
    "ISBN 978-3-16-148410-0",
    "ISBN 9783161484100",
    "ISBN-10 0-306-40615-2",
    "Python 3.11.4 and version 1.2.3.4",
    "release 10.0.19041.1",
    "the server is on 127.0.0.1 or ::1",
    "at 10:30:00 or 7:45",
    "4111 1111 1111 1112 is no card",
    "a run of 1111111111111111",
    "DE89 3704 0044 0532 0130 01 is no account",
    "The password is wrong",
    "The user's password is too weak",
    "The user keeps passwords in a password manager",
    "the secret is to use butter",
    "The token limit is 4096",
    "The passport is valid until 20270101",
    "The user needs a new passport by 2025",
    "@ana and ana@home",
    "The user runs 5 km on Wall Street",
    "She lives near Baker Street",
    "1,000,000 people on 3 continents",
    "A score of 123-45 and 6789 points",
    "The flat has 3 rooms and 85.5 square metres",
    "lat 38.7223, long -9.1393",
    "GPT-4 scored 1234567 tokens",
    "The 2 555-page report costs 100 200 300 dollars",
    "[phone] 1234567 and [e-mail] and [passport] 12345678",
]


@pytest.mark.parametrize(("text", "found"), FOUND.items(), ids=FOUND)
def test_sensitive_data_is_found(text: str, found: tuple[str, str]) -> None:
    kind, piece = found
    assert [(text[start:stop], found_kind) for start, stop, found_kind in sensitive(text)] == [(piece, kind)]
    assert redacted(text) == text.replace(piece, f"[{kind}]")


@pytest.mark.parametrize("text", INNOCENT)
def test_other_numbers_and_words_are_left_alone(text: str) -> None:
    assert sensitive(text) == []


CLAIM = Claim(
    content="The user's wifi password is hunter2",
    turns=("t1",),
    attribute="wifi password",
    value="hunter2",
    about=("router", "hunter2"),
    fields={"steps": ("Type hunter2", "Wait"), "goal": "mail ana@mail.example"},
)
PLAIN = Claim(content="The user lives in Lisbon", turns=("t1",), value="Lisbon")
MENTIONS = (
    Mention(name="ana@mail.example", type="person", turns=("t1",)),
    Mention(
        name="Ana",
        type="person",
        turns=("t1",),
        aliases=("ana@mail.example", "Anita"),
        description="reached on +351 912 345 678",
        properties={"pin": "4921", "hair": "red"},
    ),
)
BONDS = (
    Bond(source="user", type="KNOWS", target="ana@mail.example", turns=("t1",)),
    Bond(source="user", type="KNOWS", target="Ana", turns=("t1",)),
)
TOPICS = (Topic(title="wifi", first=0, last=1), Topic(title="call +351 912 345 678", first=0, last=1))
ALL = Extraction(claims=(CLAIM, PLAIN), mentions=MENTIONS, bonds=BONDS, topics=TOPICS, way="a-model")


def test_off_changes_nothing() -> None:
    assert guarded(ALL, "off") is ALL


def test_tag_names_the_kinds() -> None:
    tagged = guarded(ALL, "tag")
    assert [claim.tags for claim in tagged.claims] == [("secret", "e-mail"), ()]
    assert replace(tagged, claims=ALL.claims) == ALL
    assert [replace(claim, tags=()) for claim in tagged.claims] == [*ALL.claims]
    assert guarded(tagged, "tag") == tagged


def test_redact_leaves_a_word_in_each_place() -> None:
    found = guarded(ALL, "redact")
    claim, plain = found.claims
    assert claim.content == "The user's wifi password is [secret]"
    assert (claim.value, claim.attribute) == ("[secret]", "wifi password")
    assert claim.fields == {"steps": ("Type [secret]", "Wait"), "goal": "mail [e-mail]"}
    assert claim.about == ("router",)
    assert plain == PLAIN
    (ana,) = found.mentions
    assert ana.aliases == ("Anita",)
    assert ana.description == "reached on [phone]"
    assert ana.properties == {"pin": "[secret]", "hair": "red"}
    assert found.bonds == BONDS[1:]
    assert [topic.title for topic in found.topics] == ["wifi", "call [phone]"]
    assert found.way == "a-model"


def test_drop_leaves_out_what_holds_any() -> None:
    found = guarded(ALL, "drop")
    assert found == Extraction(claims=(PLAIN,), bonds=BONDS[1:], topics=TOPICS[:1], way="a-model")


def test_a_value_is_told_by_its_name() -> None:
    claim = Claim(content="The user told it", turns=("t1",), attribute="PIN", value="4921")
    assert guarded(Extraction(claims=(claim,)), "drop").claims == ()


pieces = st.one_of(
    st.sampled_from([*FOUND, *INNOCENT, *(piece for _, piece in FOUND.values())]),
    st.sampled_from(
        ["phone", "password is ", "passport ", "pin: ", "SSN ", " ", ".", "order ", "[phone] ", "+"]
    ),
    st.text(alphabet="0123456789 -+.@:/()[]#aZ", max_size=20),
)
texts = st.tuples(st.sampled_from(["", " "]), st.lists(pieces, max_size=6)).map(
    lambda drawn: drawn[0].join(drawn[1])
)


@given(texts)
def test_redacted_once_is_redacted_for_good(text: str) -> None:
    once = redacted(text)
    assert sensitive(once) == []
    assert redacted(once) == once


@given(st.lists(st.tuples(texts, texts, texts), max_size=3))
def test_guarding_again_changes_nothing(given_texts: list[tuple[str, str, str]]) -> None:
    claims = tuple(
        Claim(content=content, turns=("t1",), attribute=attribute, value=value)
        for content, attribute, value in given_texts
    )
    mentions = tuple(
        Mention(name=name, type="item", turns=("t1",), properties={key: value})
        for name, key, value in given_texts
    )
    whole = Extraction(claims=claims, mentions=mentions)
    once = guarded(whole, "redact")
    assert guarded(once, "redact") == once
    assert guarded(once, "drop") == once
    dropped = guarded(whole, "drop")
    assert guarded(dropped, "drop") == dropped
    assert guarded(dropped, "redact").claims == dropped.claims
