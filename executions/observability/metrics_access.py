"""Who may read metrics: who has the token, or who asks from a network that an operator named.

Never the world: without either only this machine may, and a web process that others reach lets
not even that, since a proxy beside it asks from there too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_network

from django.utils.crypto import constant_time_compare

from executions.configuration import settings as valkyr_settings
from executions.observability.proxies import Network

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


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
    """The rule of the settings; `local`: nobody but this machine reaches this process.

    Raises ImproperlyConfigured, as all settings do.
    """
    chosen = valkyr_settings()
    token = chosen.metrics_token.get_secret_value()
    unsaid = LOOPBACK if local and not token else ()
    return Access(token, chosen.metrics_networks or unsaid)
