"""HTTP/1.1 with a bound on the head of a request; the parser below takes one of any length into memory."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD = 64 * 1024


class BoundedHttp(HttpToolsProtocol):
    """Refuses a request line and headers of more than about MAX_HEAD bytes."""

    _head_open = False
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Count what follows while a head is unfinished; its first packet is bounded by the transport."""
        if self._head_open:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD:
                self.send_400_response("The head of the request is too long.")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._head_open, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head has ended."""
        self._head_open = False
        super().on_headers_complete()
