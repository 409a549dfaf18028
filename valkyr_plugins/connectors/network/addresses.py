"""The addresses that network steps may reach: the public internet, and allowed ranges.

The callers check each address just before they connect; this module never checks names.
"""

import socket
from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)

from valkyr_plugins.connectors.conf import settings

ALLOWED_NETWORKS = "VALKYR_HTTP_ALLOWED_NETWORKS"

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Special addresses that Python considers public: Azure's platform channel, the IETF's block (which
# contains Oracle's metadata service) and the old site-local addresses of IPv6.
SPECIAL: tuple[Network, ...] = (
    IPv4Network("168.63.129.16/32"),
    IPv4Network("192.0.0.0/24"),
    IPv6Network("fec0::/10"),
)
NAT64 = IPv6Network("64:ff9b::/96")  # the last 32 bits are an IPv4 address (RFC 6052)


def may_connect(text: str) -> bool:
    """Return whether a step may connect to this IP address."""
    address = ip_address(text.partition("%")[0])
    allowed = settings().http_allowed_networks
    inner = _inner(address)
    if any(address in network or inner in network for network in allowed):
        return True
    return is_public(inner) and (is_public(address) or _is_translated(address))


def is_public(address: Address) -> bool:
    """Return whether an address is on the public internet and not a cloud's service address."""
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not any(address in network for network in SPECIAL)
    )


def _is_translated(address: Address) -> bool:
    """Return whether the address is an IPv4 address in IPv6 notation (IPv4-mapped or NAT64)."""
    return isinstance(address, IPv6Address) and (
        address.ipv4_mapped is not None or address in NAT64
    )


def _inner(address: Address) -> Address:
    """Return the IPv4 address to which an IPv6 address leads, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


# Decide whether two lists of addresses lead to the same machine.
#
# A step must not reach the engine's own broker and tables. Many addresses can lead to the same
# server: all of 127.0.0.0/8, ::1, 0.0.0.0, their IPv6 forms, and every address of this machine's
# network interfaces.


def same_machine(some: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether the groups share an address, or both have an address of this machine."""
    one, two = ({_plain(text) for text in texts} for texts in (some, others))
    if one & two:
        return True
    return any(map(_is_here, one)) and any(map(_is_here, two))


def _plain(text: str) -> IPv4Address | IPv6Address:
    """Return the address without its zone; convert an IPv4-mapped IPv6 address to IPv4."""
    found = ip_address(text.partition("%")[0])
    return getattr(found, "ipv4_mapped", None) or found


def _is_here(address: IPv4Address | IPv6Address) -> bool:
    """Return whether this machine has the address, and can therefore bind to it."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
