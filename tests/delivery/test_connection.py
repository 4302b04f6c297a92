"""What the engine's tests do not show of a connection: TLS, and a relay that pings without reading."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from app.delivery import connection as module
from app.delivery.connection import ConnectError, connect
from tests.relays.fake import FakeRelay, nothing
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from pathlib import Path


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.heard = asyncio.Event()

    def received(self, messages: list[bytes]) -> None:
        self.messages += messages
        self.heard.set()

    def writable(self) -> None:
        pass


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for 127.0.0.1 and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    file = tmp_path / "certificate.pem"
    file.write_bytes(
        built.public_bytes(encoding) + key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    )
    return file


@pytest.mark.parametrize("trusted", [True, False])
async def test_tls(certificate: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool) -> None:
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    module.tls_context.cache_clear()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = Listener()
    try:
        async with FakeRelay(on_open=lambda peer: peer.send("NOTICE", "hello"), tls=context) as relay:
            if trusted:
                connection = await connect(relay.url, listener)
                connection.send(['["CLOSE","x"]'])
                connection.close()
                assert await connection.lost == "closed by us"
                assert listener.messages == [b'["NOTICE", "hello"]']
            else:
                with pytest.raises(ConnectError, match="certificate verify failed"):
                    await connect(relay.url, listener)
    finally:
        module.tls_context.cache_clear()


@pytest.mark.parametrize("url", ["http://127.0.0.1", "ws://", "ws://exa mple", "ws://" + "a" * 70])
async def test_a_url_that_leads_nowhere(url: str) -> None:
    with pytest.raises(ConnectError):
        await connect(url, Listener())


@virtual_time
async def test_a_relay_that_pings_and_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WRITE_LIMIT", 0)
    async with FakeRelay(on_open=nothing) as relay:
        connection = await connect(relay.url, Listener())
        relay.peers[0].transport.pause_reading()
        connection.send(["x" * 10_000_000])
        assert await connection.lost == "the relay does not read what it is sent"
        relay.peers[0].transport.resume_reading()


@virtual_time
async def test_a_flood_of_pings_is_read_slowly() -> None:
    loop = asyncio.get_running_loop()
    async with FakeRelay() as relay:
        listener = Listener()
        connection = await connect(relay.url, listener)
        peer = relay.peers[0]
        for _ in range(50_000):
            peer.protocol.send_ping(b"")
        peer.protocol.send_text(b"the end")
        before = loop.time()
        peer.flush()
        await listener.heard.wait()
        assert loop.time() - before >= 1
        connection.close()
        await connection.lost


@virtual_time
async def test_a_flood_of_empty_fragments_is_read_slowly_and_not_kept() -> None:
    loop = asyncio.get_running_loop()
    async with FakeRelay() as relay:
        listener = Listener()
        connection = await connect(relay.url, listener)
        protocol = relay.peers[0].protocol
        protocol.send_text(b"the ", fin=False)
        for _ in range(50_000):
            protocol.send_continuation(b"", fin=False)
        protocol.send_continuation(b"end", fin=True)
        before = loop.time()
        relay.peers[0].flush()
        await asyncio.sleep(0.9)  # of a second's rest
        assert connection._fragments == [b"the "]
        await listener.heard.wait()
        assert loop.time() - before >= 1
        assert listener.messages == [b"the end"]
        connection.close()
        await connection.lost


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65_535, 65_536, 1_000_000])
def test_our_frames_are_read_back_by_the_library(length: int) -> None:
    reader = Protocol(Side.SERVER, max_size=None)
    reader.receive_data(module._text_frame("x" * length, b"\x01\x80\xff\x00"))
    [frame] = reader.events_received()
    assert frame == Frame(Opcode.TEXT, b"x" * length)
