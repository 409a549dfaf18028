"""A connection to a server on this machine that is cut once, in the middle of a message."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

BITE = 4096


class CutLine:
    """Forwards both directions; cuts off the first direction that sends more than `most` bytes."""

    def __init__(self, url: str, most: int) -> None:
        """Listen for clients of the server at `url`."""
        self._there = urlsplit(url)
        self._most = most
        self.cuts = 0
        self._door = socket.create_server(("127.0.0.1", 0))
        account, at, _ = self._there.netloc.rpartition("@")
        here = f"{account}{at}127.0.0.1:{self._door.getsockname()[1]}"
        self.url = self._there._replace(netloc=here).geturl()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._door.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._door.accept()
                there = socket.create_connection((self._there.hostname, self._there.port))
                for pair, most in (((here, there), self._most), ((there, here), None)):
                    threading.Thread(target=self._hand_on, args=(*pair, most), daemon=True).start()

    def _hand_on(self, one: socket.socket, other: socket.socket, most: int | None) -> None:
        heard = 0
        with suppress(OSError):
            while data := one.recv(BITE):
                heard += len(data)
                if most is not None and heard > most and not self.cuts:
                    self.cuts += 1
                    break
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def cut_line(url: str, *, most: int) -> Iterator[CutLine]:
    """Forward connections to `url` during the block; `most` is the number of bytes before the only
    cut.
    """
    line = CutLine(url, most)
    try:
        yield line
    finally:
        line.close()
