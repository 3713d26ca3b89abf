"""Words whose postings are kept in memory are found as in the text index itself, whatever happened to it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.scoped import ScopedMemory

WORDS = ("apple", "pear", "plum", "straße", "東京", "under_score")
SOME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), SOME),
        st.tuples(st.just("record by another process"), SOME),
        st.tuples(st.just("forget"), st.integers(0, 5)),
        st.tuples(st.just("make the index anew"), st.none()),
        st.tuples(st.just("scrub"), st.none()),
        st.tuples(st.just("ask"), SOME),
    ),
    max_size=12,
)


def found(memory: Memory, query: str) -> list[tuple[str, float]]:
    hits = memory.scope("derek").recall(query, top_k=20, techniques={"gate": False}).hits
    return [(hit.id, hit.score) for hit in hits]


def opened(path: Path) -> Memory:
    return Memory.open(path, embedder="none")


def forget(derek: ScopedMemory, place: int) -> None:
    turns = derek.list("turn")
    if turns:
        derek.forget(turns[place % len(turns)].id)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_what_is_kept_answers_as_the_file_does(steps: list[tuple[str, str | int | None]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with opened(path) as memory, opened(path) as other:
            derek = memory.scope("derek")
            memory.scope("eve").record("user", "apple pear plum")
            for what, given_ in [*steps, ("ask", "apple pear"), ("ask", "straße plum 東京 under_score")]:
                if what == "record":
                    derek.record("user", str(given_))
                elif what == "record by another process":
                    other.scope("derek").record("user", str(given_))
                elif what == "forget":
                    forget(derek, int(given_ or 0))
                elif what == "make the index anew":
                    for _ in other.rebuild_text():
                        pass
                elif what == "scrub":
                    other.tend()
                else:
                    with opened(path) as fresh:
                        assert found(memory, str(given_)) == found(fresh, str(given_))
