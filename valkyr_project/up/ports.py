"""Whether the ports people will use are free, before anything is started."""

import socket

import psutil

from valkyr_project.up.errors import UpError


def require_free(port: int, variable: str) -> None:
    """Raise UpError naming the port, who holds it and the variable to set, if it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise UpError(
                f"Port {port} ({variable}) may not be used by this account. "
                f"Set {variable} to a number above 1023."
            ) from None
        except OSError:
            raise UpError(
                f"Port {port} ({variable}) is in use{_holder(port)}. "
                f"Stop that program or set {variable} to another port."
            ) from None


def _holder(port: int) -> str:
    """` by name (process n)` where the system tells us, otherwise nothing."""
    try:
        for connection in psutil.net_connections("tcp"):
            listening = connection.status == psutil.CONN_LISTEN
            if listening and connection.laddr.port == port and connection.pid:
                name = psutil.Process(connection.pid).name()
                return f" by {name} (process {connection.pid})"
    except (psutil.Error, OSError):
        return " by another program"
    return " by another program"
