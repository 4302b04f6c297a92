"""An identity provider: its JWKS on a loopback socket, and tokens made with `cryptography` alone."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

AUDIENCE = "briscola"


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def b64_json(value: object) -> str:
    return b64(json.dumps(value).encode())


def b64_number(number: int, length: int) -> str:
    return b64(number.to_bytes(length))


@cache
def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


@dataclass
class Key:
    """A signing key of the provider."""

    id: str
    algorithm: str = "ES256"
    private: Any = None

    def __post_init__(self) -> None:
        if self.private is None:
            self.private = {
                "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
                "RS256": rsa_key,
                "PS256": rsa_key,
                "EdDSA": ed25519.Ed25519PrivateKey.generate,
            }[self.algorithm]()

    def jwk(self, **changes: Any) -> dict[str, Any]:
        """The public half, as RFC 7517 has it."""
        public = self.private.public_key()
        if isinstance(public, rsa.RSAPublicKey):
            numbers = public.public_numbers()
            shape = {
                "kty": "RSA",
                "n": b64_number(numbers.n, public.key_size // 8),
                "e": b64_number(numbers.e, 3),
            }
        elif isinstance(public, ec.EllipticCurvePublicKey):
            point = public.public_numbers()
            shape = {"kty": "EC", "crv": "P-256", "x": b64_number(point.x, 32), "y": b64_number(point.y, 32)}
        else:
            shape = {"kty": "OKP", "crv": "Ed25519", "x": b64(public.public_bytes_raw())}
        return {**shape, "kid": self.id, "use": "sig", "alg": self.algorithm, **changes}

    def sign(self, data: bytes) -> bytes:
        if self.algorithm == "RS256":
            return bytes(self.private.sign(data, padding.PKCS1v15(), SHA256()))
        if self.algorithm == "PS256":
            return bytes(self.private.sign(data, padding.PSS(padding.MGF1(SHA256()), 32), SHA256()))
        if self.algorithm == "EdDSA":
            return bytes(self.private.sign(data))
        r, s = decode_dss_signature(self.private.sign(data, ec.ECDSA(SHA256())))
        return r.to_bytes(32) + s.to_bytes(32)

    def token(self, claims: dict[str, Any], **header: Any) -> str:
        """A signed token; header fields that are None are left out."""
        head = {"alg": self.algorithm, "typ": "JWT", "kid": self.id, **header}
        signed = f"{b64_json({k: v for k, v in head.items() if v is not None})}.{b64_json(claims)}"
        return f"{signed}.{b64(self.sign(signed.encode()))}"


@dataclass
class Provider:
    """The provider; what it answers can be changed while it runs.

    `answering` holds the answers back while it is clear.
    """

    keys: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200
    body: bytes | None = None
    asked: int = 0
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    @property
    def issuer(self) -> str:
        return self.url

    @property
    def jwks_url(self) -> str:
        return f"{self.url}/jwks.json"

    def settings(self) -> dict[str, str]:
        """The service's settings that trust this provider, without their prefix."""
        return {
            "JWT_ISSUER": self.issuer,
            "JWT_AUDIENCE": AUDIENCE,
            "JWT_JWKS_URL": self.jwks_url,
            "JWT_USERNAME_CLAIM": "preferred_username",
        }

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Good claims of alice; those that are None are left out."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": hashlib.sha256(b"alice").hexdigest()[:8],
            "iat": now,
            "exp": now + 600,
            "preferred_username": "alice",
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not None}

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        assert request.startswith(b"GET /jwks.json HTTP/1.1\r\n")
        self.asked += 1
        self.waiting.set()
        await self.answering.wait()
        body = json.dumps({"keys": self.keys}).encode() if self.body is None else self.body
        head = f"HTTP/1.1 {self.status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def identity_provider(*keys: Key) -> AsyncIterator[Provider]:
    """A provider that publishes these keys."""
    provider = Provider([key.jwk() for key in keys])
    provider.answering.set()
    server = await asyncio.start_server(provider._answer, "127.0.0.1", 0)
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield provider
