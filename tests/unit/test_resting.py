"""What fails slowly is not waited for again and again; recall goes on without it (C11)."""

import pytest

from recollect.resting import QUIET, REST, Resting


class Watch:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def resting(watch: Watch) -> Resting:
    return Resting(watch)


def fail(resting: Resting, watch: Watch, seconds: float) -> None:
    def ask() -> None:
        watch.now += seconds
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"), resting.after_slow_failure("reranker", "Not reranked"):
        ask()


def test_a_slow_failure_is_remembered_for_a_while(resting: Resting, watch: Watch) -> None:
    fail(resting, watch, 5)
    assert resting.reason("reranker") == "Not reranked: gone It is asked again in 30 s."
    assert resting.reason("embedder") is None
    watch.now += REST
    assert resting.reason("reranker") is None


def test_a_failure_that_costs_nothing_is_not(resting: Resting, watch: Watch) -> None:
    fail(resting, watch, 0.1)
    assert resting.reason("reranker") is None


def test_what_works_slowly_is_asked_again(resting: Resting, watch: Watch) -> None:
    with resting.after_slow_failure("reranker", "Not reranked"):
        watch.now += 5
    assert resting.reason("reranker") is None


def test_one_may_be_left_alone_at_once(resting: Resting, watch: Watch) -> None:
    resting.rest("standby", "It is down.")
    assert resting.reason("standby") == "It is down. It is asked again in 30 s."
    watch.now += REST
    assert resting.reason("standby") is None


def test_what_fails_again_and_again_is_logged_once_a_minute(
    resting: Resting, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    for left in (30, 29):
        resting.warn(f"Not reranked: gone. It is asked again in {left} s.")
    resting.warn("Recalled by words only: gone.")
    assert len(caplog.messages) == 2
    watch.now += QUIET
    resting.warn("Not reranked: gone. It is asked again in 28 s.")
    assert len(caplog.messages) == 3
