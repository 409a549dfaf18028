"""SMTP to a server that a credential names: only to addresses that steps may reach.

An administrator's own server may stand in a private network; what a workspace names may not lead
there. The name is resolved once, and the address that was checked is the one connected to.
"""

import smtplib
import socket

from runners.public.modules import StepError
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS, may_connect


class GuardedSmtp(smtplib.SMTP):
    """smtplib's client with the address checked before it is connected to."""

    def _get_socket(self, host: str, port: int, timeout: float | None) -> socket.socket:
        failure: OSError | None = None
        for address in _permitted(host, port):
            try:
                return socket.create_connection((address, port), timeout)
            except OSError as error:
                failure = error
        raise failure or OSError(f"{host} has no address")


class GuardedSmtpSsl(smtplib.SMTP_SSL, GuardedSmtp):
    """The same, encrypted from the start: SMTP_SSL asks the class after it for its socket."""


def _permitted(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    permitted = [address for address in addresses if may_connect(address)]
    if addresses and not permitted:
        raise StepError(
            f"{host} is at {', '.join(addresses[:4])}, a private or special address, which a "
            "credential may not lead to: use a public address, or let an administrator add its "
            f"range to {ALLOWED_NETWORKS}"
        )
    return permitted
