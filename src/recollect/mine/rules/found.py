"""What has been found in a window so far, within its limits."""

from dataclasses import dataclass, field, replace

from recollect.mine.extracted import Bond, Claim, Mention, MentionType

CLAIMS_LIMIT = 200
BONDS_LIMIT = 200
MENTIONS_LIMIT = 200
CONTENT_LIMIT = 500
TURNS_LIMIT = 50
_SHORTEST = 8

ClaimKey = tuple[str, str]
"""A claim's kind and content."""


@dataclass(slots=True)
class Found:
    claims: dict[ClaimKey, Claim] = field(default_factory=dict[ClaimKey, Claim])
    bonds: dict[tuple[str, str, str, bool], Bond] = field(
        default_factory=dict[tuple[str, str, str, bool], Bond]
    )
    mentions: dict[str, Mention] = field(default_factory=dict[str, Mention])

    def claim(self, claim: Claim) -> ClaimKey | None:
        """Kept, unless it is too short or long; said again, it is the same claim with two sources."""
        key = (claim.kind, claim.content)
        if known := self.claims.get(key):
            self.claims[key] = replace(known, turns=_with(known.turns, claim.turns[0]))
            return key
        if len(self.claims) >= CLAIMS_LIMIT or not _SHORTEST < len(claim.content) <= CONTENT_LIMIT:
            return None
        self.claims[key] = claim
        return key

    def bond(self, bond: Bond) -> None:
        key = (bond.source, bond.type, bond.target, bond.ended)
        if len(self.bonds) < BONDS_LIMIT and key not in self.bonds and bond.source != bond.target:
            self.bonds[key] = bond

    def mention(
        self, name: str, kind: MentionType, turn: str, description: str = "", relation: str = ""
    ) -> None:
        key = name.lower()
        known = self.mentions.get(key)
        properties = {"relation to the user": relation} if relation else {}
        if known is None:
            if len(self.mentions) < MENTIONS_LIMIT:
                self.mentions[key] = Mention(
                    name=name, type=kind, turns=(turn,), description=description, properties=properties
                )
            return
        self.mentions[key] = replace(
            known,
            turns=_with(known.turns, turn),
            description=known.description or description,
            properties={**known.properties, **properties},
        )


def _with(turns: tuple[str, ...], turn: str) -> tuple[str, ...]:
    return turns if turn in turns or len(turns) >= TURNS_LIMIT else (*turns, turn)
