"""What every test shares: repeatable property tests, a database of its own, and skips that can be refused."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, and no verdict on speed: machines differ. To look further afield:
# make test PYTEST_ARGS=--hypothesis-profile=explore
settings.register_profile(
    "ci", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


@pytest.fixture(autouse=True)
def _own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can reach the database of the person who runs it."""
    monkeypatch.setenv("RECOLLECT_DB", str(tmp_path / "recollect.db"))
    monkeypatch.setenv("RECOLLECT_USER", "local")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With RECOLLECT_NO_SKIPS=1 a skipped test fails the run: there, everything must be installed."""
    if session.exitstatus == 0 and _refused_skips(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if refused := _refused_skips(config):
        terminalreporter.write_line(
            f"RECOLLECT_NO_SKIPS: {refused} skipped (reasons listed), so this run fails.", red=True
        )


def _refused_skips(config: pytest.Config) -> int:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or os.environ.get("RECOLLECT_NO_SKIPS") != "1":  # no reporter: an xdist worker
        return 0
    return len(reporter.stats.get("skipped", []))
