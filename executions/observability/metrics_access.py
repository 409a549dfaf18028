"""Who may read metrics: who has the token, or who asks from a network that an operator named.

Never the world: without either only this machine may, and a web process that others reach lets
not even that, since a proxy beside it asks from there too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address

from django.core.exceptions import ImproperlyConfigured
from django.utils.crypto import constant_time_compare

from executions import environment as env
from executions.observability.proxies import Network, read_networks

LOOPBACK = ("127.0.0.0/8", "::1/128")
SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Access:
    """The token, if there is one, and the networks that need none."""

    token: str
    networks: Sequence[Network]

    def allows(self, authorization: str, address: str) -> bool:
        """Whether a request with this `Authorization`, from this address, is let in."""
        return self.knows(authorization) or self._near(address)

    def knows(self, authorization: str) -> bool:
        """Whether it carries the token."""
        scheme, _, given = authorization.partition(" ")
        right = constant_time_compare(given.strip().encode(), self.token.encode())
        return bool(self.token) and scheme.lower() == "bearer" and right

    def _near(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        mapped = getattr(found, "ipv4_mapped", None) or found
        return any(mapped in network for network in self.networks)


@lru_cache(maxsize=2)
def access(*, local: bool) -> Access:
    """The rule of the environment; `local`: nobody but this machine reaches this process.

    Raises ImproperlyConfigured for a token that could be guessed, or what is no network.
    """
    token = env.text("VALKYR_METRICS_TOKEN")
    if token and len(token) < SHORTEST:
        raise ImproperlyConfigured(
            f"VALKYR_METRICS_TOKEN has {len(token)} characters; expected {SHORTEST} or more."
        )
    unsaid = LOOPBACK if local and not token else ()
    networks = env.words("VALKYR_METRICS_NETWORKS", unsaid)
    return Access(token, read_networks(networks, "VALKYR_METRICS_NETWORKS"))
