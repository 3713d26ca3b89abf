"""The store's contract: where runs of messages have led to, and that responses go with their turns."""

import pytest

from recollect.errors import NotFound
from recollect.model.changes import Put, Remove, Thread
from recollect.model.records import Response
from recollect.ports.store import Led, UserStore
from recollect.testing.store_samples import START, append, draft
from recollect.testing.store_suite import Opener, StoreSuite


def say(user: UserStore, id: str, conversation: str, *digests: str) -> None:
    threads = [Thread(digest, conversation) for digest in digests]
    user.apply([append(draft("tea", id=id, conversation=conversation)), *threads])


class ThreadsContract(StoreSuite):
    """`threads`."""

    def test_a_thread_leads_to_where_its_conversation_stood(self, alice: UserStore, reopen: Opener) -> None:
        say(alice, "1", "talk", "a")
        assert alice.threads(["a", "b"]) == [Led("a", "talk", 1, True)]
        say(alice, "2", "talk", "b")
        found = reopen().user("alice").threads(["b", "a"])
        assert {led.digest: led for led in found} == {
            "a": Led("a", "talk", 1, False),
            "b": Led("b", "talk", 2, True),
        }
        assert alice.threads([]) == []

    def test_the_same_may_be_said_in_two_conversations(self, alice: UserStore) -> None:
        say(alice, "1", "one", "a")
        say(alice, "2", "two", "a")
        assert {led.conversation for led in alice.threads(["a"])} == {"one", "two"}
        say(alice, "3", "one", "a")  # and twice in one
        assert {(led.conversation, led.index) for led in alice.threads(["a"])} == {("one", 2), ("two", 1)}

    def test_threads_stay_with_their_user(self, alice: UserStore, bob: UserStore) -> None:
        say(alice, "1", "talk", "a")
        say(bob, "1", "talk", "b")
        assert (alice.threads(["b"]), bob.threads(["a"])) == ([], [])
        alice.erase()
        assert (alice.threads(["a"]), bob.threads(["b"])) == ([], [Led("b", "talk", 1, True)])

    def test_a_thread_goes_with_its_conversation(self, alice: UserStore) -> None:
        say(alice, "1", "talk", "a")
        say(alice, "2", "other", "a")
        alice.apply([Remove("turn", ("1",)), Remove("conversation", ("talk",))])
        assert [led.conversation for led in alice.threads(["a"])] == ["other"]
        say(alice, "3", "talk")
        assert [led.conversation for led in alice.threads(["a"])] == ["other"]

    def test_a_thread_of_no_conversation_is_refused_with_all_that_goes_with_it(
        self, alice: UserStore
    ) -> None:
        with pytest.raises(NotFound):
            alice.apply([append(draft("tea", id="1", conversation="talk")), Thread("a", "another")])
        assert (alice.threads(["a"]), alice.seq()) == ([], 0)

    def test_a_response_is_kept_as_it_is(self, alice: UserStore, bob: UserStore, reopen: Opener) -> None:
        said = [{"role": "user", "content": "tea\n\u00e9"}]
        kept = Response(
            id="resp_1",
            conversation="talk",
            at=START,
            previous="resp_0",
            input=said,
            body={"id": "resp_1", "output": [], "n": 1.5, "none": None},
            channel="work",
            agent="helper",
            sources=("1",),
        )
        alice.apply([append(draft("tea", id="1", conversation="talk")), Put(kept)])
        assert reopen().user("alice").get(Response, ["resp_1"]) == [kept]
        assert alice.linking("sources", ["1"]) == {"resp_1": ("1",)}
        assert bob.get(Response, ["resp_1"]) == []
        assert [*alice.find(Response, {"conversation": "talk"})] == [kept]
