"""Which addresses an HTTP step may reach: the public internet, and what an admin has allowed.

Names are never judged, only the address that is about to be connected to.
"""

import os
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from runners.modules.base import StepError

ALLOWED_NETWORKS = "VALKYR_HTTP_ALLOWED_NETWORKS"

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Public by number, but answered inside a cloud: Azure's platform channel.
METADATA = frozenset({ip_address("168.63.129.16")})
# IPv6 forms that carry an IPv4 address: NAT64 (RFC 6052) and IPv4-compatible (RFC 4291).
NAT64 = IPv6Network("64:ff9b::/96")
IPV4_COMPATIBLE = IPv6Network("::/96")


def may_connect(text: str) -> bool:
    """Whether a step may connect to this IP address; raises StepError for a bad setting."""
    address = ip_address(text.partition("%")[0])
    allowed = allowed_networks(os.environ.get(ALLOWED_NETWORKS, ""))
    inner = _inner(address)
    if any(address in network or inner in network for network in allowed):
        return True
    return is_public(address) and is_public(inner)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet and to no cloud's own services."""
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and address not in METADATA
    )


@lru_cache(maxsize=8)
def allowed_networks(setting: str) -> tuple[Network, ...]:
    """The CIDR ranges of a comma-separated setting; raises StepError naming one that is none."""
    return tuple(_network(part.strip()) for part in setting.split(",") if part.strip())


def _network(text: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError as error:
        raise StepError(
            f"{ALLOWED_NETWORKS} holds {text!r}, which is no CIDR range: "
            "write ranges such as 10.0.0.0/8,127.0.0.0/8"
        ) from error


def _inner(address: Address) -> Address:
    """The IPv4 address an IPv6 one stands for, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in NAT64 or (address in IPV4_COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
