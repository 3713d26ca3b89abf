"""What a browser loads for the memory page, as it is served."""

import pytest

from recollect.server.web.routes import PAGE, STATIC, files
from tests.interface.serving import Served


def test_everything_it_is_made_of_is_served_and_asked_for_again_only_when_it_changed(served: Served) -> None:
    browser = served.client()
    for path, file in files().items():
        first = browser.get(f"{STATIC}/{path}")
        assert (first.status_code, first.content) == (200, file.content)
        assert first.headers["content-type"].startswith(file.type)
        assert first.headers["x-content-type-options"] == "nosniff"
        again = browser.get(f"{STATIC}/{path}", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert browser.get(f"{STATIC}/{path}", headers={"If-None-Match": '"another"'}).status_code == 200


def test_whether_it_is_there_can_be_asked_without_loading_it(served: Served) -> None:
    whole, head = served.client().get(PAGE), served.client().head(PAGE)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", whole.headers["etag"])


def test_the_document_lets_no_text_become_markup(served: Served) -> None:
    policy = served.client().get(PAGE).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy


@pytest.mark.parametrize("path", ["main.py", "../routes.py", "%2e%2e/routes.py", "..%2froutes.py", "style"])
def test_nothing_else_is(served: Served, path: str) -> None:
    assert served.client().get(f"{STATIC}/{path}").status_code in (401, 404)
