"""The page of the API, /docs: drawn by Swagger UI from this server alone, so that it works offline too."""

from functools import cache
from importlib import resources

from fastapi import APIRouter
from starlette.responses import Response

from recollect.server.problems import Refused

PAGE = "/docs"
START = "start.js"
_FROM = "fastapi_swagger.resources"
_TYPES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
PARTS = frozenset(f"{PAGE}/{name}" for name in (START, *_TYPES))
"""What the page loads."""
POLICY = (
    b"default-src 'none'; frame-ancestors 'none'; connect-src 'self'; img-src 'self' data:; "
    b"script-src 'self'; style-src 'self' 'unsafe-inline'"
)
"""It loads from this server and talks to this server; no script is in the page itself."""
_KEPT = {"cache-control": "public, max-age=3600"}
_HTML = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Recollect</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="docs/favicon-32x32.png">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
_STARTED = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#page",
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
});
"""

router = APIRouter(include_in_schema=False)


@router.get(PAGE)
async def page() -> Response:
    return Response(_HTML, media_type="text/html")


@router.get(PAGE + "/{part}")
async def part(part: str) -> Response:
    if part == START:
        return Response(_STARTED, headers=_KEPT, media_type="text/javascript")
    if part not in _TYPES:
        raise Refused(404, f"There is nothing at this address. {PAGE} lists what there is.")
    return Response(_read(part), headers=_KEPT, media_type=_TYPES[part])


@cache
def _read(name: str) -> bytes:
    return resources.files(_FROM).joinpath(name).read_bytes()
