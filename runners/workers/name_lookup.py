"""Look up a host name in a thread, because a resolver may answer late or never."""

import ipaddress
import socket
import threading


class NameLookup:
    """A lookup of a host name in a thread; the lookup begins immediately."""

    def __init__(self, host: str) -> None:
        """Start the thread, which ends no later than the resolver's own timeout."""
        self._host = host
        self._addresses: list[str] = []
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._ask, name=f"lookup of {host}", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # the process has reached its limit on threads
            self._error = OSError(str(error))

    def addresses(self) -> list[str] | None:
        """Return the addresses; None until the resolver answers. Does not wait.

        Raises OSError if the lookup failed.
        """
        if self._thread.is_alive():
            return None
        if self._error is not None:
            raise self._error
        return self._addresses

    def _ask(self) -> None:
        try:
            found = socket.getaddrinfo(self._host, None, type=socket.SOCK_STREAM)
        except Exception as error:  # an exception in the thread would otherwise be lost
            self._error = error if isinstance(error, OSError) else OSError(str(error))
            return
        self._addresses = [str(address[0]) for *_, address in found]


def is_name(host: str) -> bool:
    """Return whether libpq would look up this host: it is not an address or a socket path."""
    if not host or host.startswith(("/", "@")):
        return False
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False
