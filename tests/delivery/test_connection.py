"""What the engine's tests do not show of a connection: TLS, and a relay that pings without reading."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from app.delivery import connection as module
from app.delivery import incoming
from app.delivery.connection import MESSAGE_LIMIT, ConnectError, Connection, connect
from app.delivery.frames import frame_end
from tests.relays.fake import FakeRelay, nothing
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import Iterable
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
        assert connection._incoming._fragments == b"the "
        await listener.heard.wait()
        assert loop.time() - before >= 1
        assert listener.messages == [b"the end"]
        connection.close()
        await connection.lost


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.aborted = self.paused = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


class Client:
    """A connection without a socket, and what a server answers to its request."""

    def __init__(self) -> None:
        self.listener, self.transport = Listener(), Transport()
        self.connection = Connection(
            ClientProtocol(parse_uri("ws://x"), max_size=MESSAGE_LIMIT), self.listener
        )
        self.connection.connection_made(self.transport)
        self.server = ServerProtocol()
        self.server.receive_data(self.transport.written)
        [request] = self.server.events_received()
        self.server.send_response(self.server.accept(request))  # type: ignore[arg-type] - it is a request

    def hear(self, data: bytes, sizes: Iterable[int]) -> None:
        """Read the data in pieces of these sizes, the rest at once."""
        for size in (*sizes, len(data)):
            piece, data = data[:size], data[size:]
            self.connection.get_buffer(-1)[: len(piece)] = piece
            if piece:
                self.connection.buffer_updated(len(piece))


MESSAGES = st.lists(
    st.one_of(
        st.tuples(st.just("text"), st.sampled_from([0, 1, 125, 126, 127, 500]).map(lambda n: "é" * (n // 2))),
        st.tuples(st.just("parts"), st.text(max_size=5)),
        st.tuples(st.just("binary"), st.text(max_size=5)),
        st.tuples(st.just("ping"), st.text(max_size=5)),
    ),
    max_size=8,
)


@given(MESSAGES, st.booleans(), st.lists(st.integers(1, 200), max_size=40))
async def test_messages_arrive_whole_and_in_order_however_the_stream_is_cut(
    messages: list[tuple[str, str]], closes: bool, sizes: list[int]
) -> None:
    client = Client()
    server, expected = client.server, []
    for kind, text in messages:
        data = text.encode()
        if kind == "text":
            server.send_text(data)
        elif kind == "binary":
            server.send_binary(data)
        elif kind == "ping":
            server.send_ping(data)
        else:
            server.send_text(data, fin=False)
            server.send_ping(b"")
            server.send_continuation(data, fin=True)
            data += data
        if kind != "ping":
            expected.append(b"" if kind == "binary" else data)
    if closes:
        server.send_close(1000)
    written = b"".join(server.data_to_send())
    client.hear(written, sizes)
    assert client.connection.opened.done()
    assert client.listener.messages == expected
    pongs = [event for event in heard_by(server, client) if event.opcode is Opcode.PONG]
    assert len(pongs) == sum(kind in ("ping", "parts") for kind, _ in messages)


def heard_by(server: ServerProtocol, client: Client) -> list[Frame]:
    server.receive_data(client.transport.written.partition(b"\r\n\r\n")[2])
    return [event for event in server.events_received() if isinstance(event, Frame)]


WRONG = {
    "a masked frame": (b"\x81\x81\x00\x00\x00\x00x", 1002, "masking"),
    "a reserved bit": (b"\xc1\x01x", 1002, "reserved bits"),
    "an unknown opcode": (b"\x83\x01x", 1002, "opcode"),
    "a message inside another": (b"\x01\x01x\x81\x01y", 1002, "continuation"),
    "the rest of nothing": (b"\x80\x01x", 1002, "continuation"),
    "a message that is too long": (
        b"\x81\x7f" + (MESSAGE_LIMIT + 1).to_bytes(8) + b"x" * 1000,
        1009,
        str(MESSAGE_LIMIT),
    ),
    "a part that is too long": (b"\x01\x7f" + (2**62).to_bytes(8) + b"x" * 1000, 1009, str(MESSAGE_LIMIT)),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("size", [1, 3, 10_000])
async def test_what_breaks_the_protocol_ends_the_connection_and_brings_no_more_messages(
    name: str, size: int
) -> None:
    data, code, why = WRONG[name]
    client = Client()
    [answer] = client.server.data_to_send()
    stream = answer + b"\x81\x02hi" + data + b"\x81\x02no" * 5
    client.hear(stream, [size] * (len(stream) // size))
    assert client.listener.messages == [b"hi"]
    [close] = heard_by(client.server, client)
    assert (close.opcode, int.from_bytes(close.data[:2], "big")) == (Opcode.CLOSE, code)
    client.connection.abort()  # as it does by itself after a second
    client.connection.connection_lost(None)
    reason = await client.connection.lost
    assert reason.startswith("the relay broke the websocket protocol: ")
    assert why in reason


async def test_a_long_message_that_comes_in_pieces() -> None:
    client = Client()
    text = b"x" * MESSAGE_LIMIT
    client.server.send_text(text)
    client.server.send_text(b"next")
    data = b"".join(client.server.data_to_send())
    client.hear(data, [module.READ_SIZE] * (len(data) // module.READ_SIZE))
    assert client.listener.messages == [text, b"next"]


async def test_a_long_frame_is_not_looked_at_again_for_every_byte_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[int] = []

    def counted(data: bytes, start: int) -> int | None:
        looks.append(len(data))
        return frame_end(data, start)

    monkeypatch.setattr(incoming, "frame_end", counted)
    client = Client()
    client.server.send_text(b"x" * 1_000_000)
    data = b"".join(client.server.data_to_send())
    client.hear(data, [len(data) - 5000, *[1] * 5000])
    assert client.listener.messages == [b"x" * 1_000_000]
    assert len(looks) <= 3  # at its beginning, at its end, and behind it


async def test_small_parts_of_a_message_take_no_more_memory_than_it() -> None:
    client = Client()
    client.server.send_text(b"", fin=False)
    client.hear(b"".join(client.server.data_to_send()), [])
    parts = 20_000
    for _ in range(parts):
        client.server.send_continuation(b"ab", fin=False)
    data = b"".join(client.server.data_to_send())
    tracemalloc.start()
    try:
        client.hear(data, [1000] * (len(data) // 1000))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3 * 2 * parts  # as an object each they take 20 times as much
    client.server.send_continuation(b"", fin=True)
    client.hear(b"".join(client.server.data_to_send()), [])
    assert client.listener.messages == [b"ab" * parts]


@virtual_time
async def test_single_bytes_are_read_slowly() -> None:
    client = Client()
    client.server.send_text(b"x" * 10_000)
    data = b"".join(client.server.data_to_send())
    reads = 2500  # half a second's grace, at 0.2 ms for each of them
    client.hear(data[:-8000], [])
    client.hear(data[-8000 : -8000 + reads - 2], [1] * reads)
    assert not client.transport.paused
    client.hear(data[-8000 + reads - 2 : -4000], [1] * reads)
    assert client.transport.paused
    await asyncio.sleep(0.5)
    assert not client.transport.paused
    client.hear(data[-4000:], [])
    assert client.listener.messages == [b"x" * 10_000]


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_of_two_rests_the_longer_one_counts(loop: str) -> None:
    """On uvloop, too, on which the service runs."""

    async def rested() -> float:
        now = asyncio.get_running_loop().time
        async with FakeRelay() as relay:
            listener = Listener()
            connection = await connect(relay.url, listener)
            before = now()
            for seconds in (0.3, 0.02, 0.0001):
                connection.throttle(seconds)
            relay.peers[0].protocol.send_text(b"hi")
            relay.peers[0].flush()
            await listener.heard.wait()
            after = now()
            connection.close()
            await connection.lost
            return after - before

    with asyncio.Runner(loop_factory=pytest.importorskip(loop).new_event_loop) as runner:
        assert runner.run(rested()) >= 0.29
