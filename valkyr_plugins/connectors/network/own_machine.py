"""Whether two lists of addresses lead to the same machine, however each is written.

A step may not reach the engine's own broker and tables. An address of them has many others beside
it that lead to the same server: all of 127.0.0.0/8, ::1, 0.0.0.0, their forms as IPv6, and every
address of this machine's network cards.
"""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address


def same_machine(some: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether both have an address in common, or both have one of this machine."""
    one, two = ({_plain(text) for text in texts} for texts in (some, others))
    if one & two:
        return True
    return any(map(_is_here, one)) and any(map(_is_here, two))


def _plain(text: str) -> IPv4Address | IPv6Address:
    """The address without its zone, an IPv4 address in IPv6's writing as itself."""
    found = ip_address(text.partition("%")[0])
    return getattr(found, "ipv4_mapped", None) or found


def _is_here(address: IPv4Address | IPv6Address) -> bool:
    """Whether it is an address of this machine: only these can be bound to."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
