"""Tokens of an OIDC provider: good ones open their user's memory, and no other one does."""

import base64
import hashlib
import hmac
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from recollect.server.identity.tokens import TOKEN_LIMIT
from recollect.server.logs import FIELDS
from recollect.testing.store_samples import ManualClock
from tests.interface.guarded import guarded, problem
from tests.interface.serving import Served

ISSUER, AUDIENCE = "https://id.example.org/", "memory"
RSA_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()
STRANGERS = rsa.generate_private_key(65537, 2048)

PUBLIC: list[dict[str, Any]] = [
    {**RSAAlgorithm.to_jwk(RSA_KEY.public_key(), as_dict=True), "kid": "rsa", "use": "sig"},
    {**ECAlgorithm.to_jwk(EC_KEY.public_key(), as_dict=True), "kid": "ec", "alg": "ES256"},
    {**OKPAlgorithm.to_jwk(ED_KEY.public_key(), as_dict=True), "kid": "ed"},
    {"kty": "oct", "k": base64.urlsafe_b64encode(b"shared" * 8).decode(), "kid": "oct"},
]


def claims(**changes: Any) -> dict[str, Any]:
    now = datetime.now(UTC)
    given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ana", "exp": now + timedelta(hours=1), **changes}
    return {name: value for name, value in given.items() if value is not None}


def token(key: Any = RSA_KEY, algorithm: str = "RS256", kid: str | None = "rsa", **changes: Any) -> str:
    return jwt.encode(claims(**changes), key, algorithm, {"kid": kid} if kid else {})


def hand_made(header: dict[str, Any], key: bytes = b"", **changes: Any) -> str:
    """A token that no library would make; signed with HMAC, if at all."""
    body = {
        name: int(v.timestamp()) if isinstance(v, datetime) else v for name, v in claims(**changes).items()
    }
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, body))
    signed = b".".join(parts)
    signature = (
        base64.urlsafe_b64encode(hmac.digest(key, signed, hashlib.sha256)).rstrip(b"=") if key else b""
    )
    return (signed + b"." + signature).decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tokens")
    (folder / "keys.json").write_text(json.dumps({"keys": PUBLIC}))
    with guarded(
        folder,
        keyed=False,
        jwt_issuer=ISSUER,
        jwt_audience=AUDIENCE,
        jwt_keys=str(folder / "keys.json"),
        rate_limit=0,
    ) as server:
        yield server


def test_the_log_names_nobody(server: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "recollect.access"):
        for user in ("ana@example.org", "ana@example.org", "bea@example.org"):
            client = server.client(token(sub=user, jti=str(len(caplog.records))))
            assert client.get("/api/v1/whoami").json()["user"] == user
        client.get("/healthz")  # the line before it is written by then
    told = [given["key"] for one in caplog.records if (given := getattr(one, FIELDS, None))]
    assert len(set(told)) == 2
    assert all(re.fullmatch("token [0-9a-f]{16}", one) for one in told)


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [(RSA_KEY, "RS256", "rsa"), (RSA_KEY, "PS512", "rsa"), (EC_KEY, "ES256", "ec"), (ED_KEY, "EdDSA", "ed")],
    ids=["RS256", "PS512", "ES256", "EdDSA"],
)
def test_a_good_token_opens_its_users_memory(server: Served, key: Any, algorithm: str, kid: str) -> None:
    client = server.client(token(key, algorithm, kid, aud=["other", AUDIENCE], nbf=datetime.now(UTC)))
    for _ in range(2):
        assert client.get("/api/v1/whoami").json() == {"user": "ana", "role": "user"}


def test_it_opens_nobody_elses(server: Served) -> None:
    problem(server.client(token(), **{"X-Recollect-User": "ben"}).get("/api/v1/whoami"), 404)
    problem(server.client(token()).get("/api/v1/jobs"), 403)
    assert server.client(token()).get("/api/v1/keys").json() == {"keys": []}
    assert "token makes no keys" in problem(server.client(token()).post("/api/v1/keys", json={}), 403)


def test_keys_do_beside_it_and_nothing_does_without(server: Served) -> None:
    assert server.of("ben").get("/api/v1/whoami").json()["user"] == "ben"
    problem(server.client().get("/api/v1/whoami"), 401)  # also on this machine


PEM = RSA_KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
HOUR = timedelta(hours=1)


def bad_tokens() -> dict[str, tuple[str, str]]:
    """Made when they are needed: an hour from now is soon over while tests are waiting for their turn."""
    return {
        "none": (hand_made({"alg": "none"}), "public key"),
        "None": (hand_made({"alg": "None", "kid": "rsa"}), "public key"),
        "no alg": (hand_made({"kid": "rsa"}), "public key|read"),
        "HS256 with the public key": (hand_made({"alg": "HS256", "kid": "rsa"}, PEM), "public key"),
        "HS256 with a key of the set": (
            hand_made({"alg": "HS256", "kid": "oct"}, b"shared" * 8),
            "public key",
        ),
        "RS256 over HMAC": (hand_made({"alg": "RS256", "kid": "rsa"}, PEM), "not signed by"),
        "a kid that is shared": (hand_made({"alg": "RS256", "kid": "oct"}, b"shared" * 8), "does not have"),
        "key of another kind": (token(EC_KEY, "ES256", "rsa"), "not signed by"),
        "an alg that the key is not for": (hand_made({"alg": "ES384", "kid": "ec"}, PEM), "another way"),
        "unknown kid": (token(kid="other"), "does not have"),
        "kid of another kind": (hand_made({"alg": "RS256", "kid": {"a": 1}}, PEM), "does not have|read"),
        "path as kid": (hand_made({"alg": "RS256", "kid": "../../../dev/null"}, b"x"), "does not have"),
        "a key of its own": (
            jwt.encode(
                claims(), STRANGERS, "RS256", {"kid": "rsa", "jwk": PUBLIC[0], "jku": "http://evil.example"}
            ),
            "not signed by",
        ),
        "no kid among several": (token(kid=None), "does not have"),
        "strangers": (token(STRANGERS), "not signed by"),
        "expired": (token(exp=datetime.now(UTC) - HOUR), "expired"),
        "no end": (token(exp=None), "exp"),
        "endless": (token(exp=10**30), "user|signed"),
        "not yet": (token(nbf=datetime.now(UTC) + HOUR), "not valid yet"),
        "issuer": (token(iss="https://id.example.org"), "another issuer"),
        "no issuer": (token(iss=None), "iss"),
        "audience": (token(aud="somebody"), "not made out"),
        "no audience": (token(aud=None), "aud"),
        "no user": (token(sub=None), "names no user"),
        "empty user": (token(sub=" "), "names no user"),
        "control characters": (token(sub="a\r\nb"), "names no user"),
        "changed": (token()[:-8] + "AAAAAAAA", "not signed by"),
        "huge": (token(more="a" * TOKEN_LIMIT), "characters"),
        "deep": (
            base64.urlsafe_b64encode(b'{"alg":"RS256","x":' + b"[" * 3000 + b"]" * 3000 + b"}").decode()
            + ".e30.",
            "read|not signed|does not have|characters",
        ),
        "rubbish": ("a.b.c", "read"),
    }


@pytest.mark.parametrize("bad", [*bad_tokens()])
def test_no_other_token_does(server: Served, bad: str) -> None:
    given, why = bad_tokens()[bad]
    refused = server.client(given).get("/api/v1/whoami")
    assert re.search(why, problem(refused, 401)), refused.text
    assert refused.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert given not in refused.text


# The issuer's keys


class Issuer(ThreadingHTTPServer):
    keys: list[dict[str, Any]] = PUBLIC[:1]
    asked = 0
    status = 200

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer = self.server
            assert isinstance(issuer, Issuer)
            issuer.asked += 1
            body = json.dumps({"keys": issuer.keys}).encode()
            self.send_response(issuer.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass


@contextmanager
def issuing() -> Iterator[Issuer]:
    with Issuer(("127.0.0.1", 0), Issuer.Handler) as issuer:
        thread = threading.Thread(target=issuer.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield issuer
        finally:
            issuer.shutdown()
            thread.join()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as issuer:
        yield issuer


def test_keys_are_fetched_once_and_again_for_an_unknown_one(tmp_path: Path, issuer: Issuer) -> None:
    clock = ManualClock()
    where = f"http://127.0.0.1:{issuer.server_port}/keys"
    settings: dict[str, Any] = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_keys": where}
    with guarded(tmp_path, clock, **settings) as server:

        def status(*given: Any) -> int:
            return server.client(token(*given)).get("/api/v1/whoami").status_code

        issuer.status = 500
        assert status() == 503
        issuer.status = 200
        clock.advance(seconds=30)
        assert status() == 200
        clock.advance(minutes=1)  # the token is checked again, with the same key
        assert status() == 200
        assert issuer.asked == 2
        issuer.keys = PUBLIC[1:2]
        new = (EC_KEY, "ES256", "ec")
        assert status(*new) == 200
        assert status() == 401 or issuer.asked == 3
        for _ in range(3):  # whoever names keys that do not exist makes us ask no more often
            assert status(RSA_KEY, "RS256", "no such") == 401
        assert issuer.asked == 3
        issuer.status = 500  # those we have do while the issuer is away
        clock.advance(hours=2)
        assert status(*new) == 200
