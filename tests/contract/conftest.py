"""The suite lives in the package; its assertions are to show their values all the same."""

import pytest

pytest.register_assert_rewrite(
    *(
        f"recollect.testing.store_{part}"
        for part in (
            "bad_input",
            "concurrency",
            "copying",
            "feed",
            "isolation",
            "ranking",
            "reading",
            "recording",
            "search",
            "search_filters",
            "spaces",
            "upkeep",
        )
    )
)
