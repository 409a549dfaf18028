"""Access to metrics: with a token, or from a network that an operator named.

Metrics are never public: without a token or such a network, only this machine may read them. A
process that other machines can reach does not allow even this machine, because a proxy's requests
also come from this machine.
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
    """The token, if any, and the networks from which no token is needed."""

    token: str
    networks: Sequence[Network]

    def allows(self, authorization: str, address: str) -> bool:
        """Return whether a request with this `Authorization`, from this address, is allowed."""
        return self.knows(authorization) or self._near(address)

    def knows(self, authorization: str) -> bool:
        """Return whether an `Authorization` header contains the token."""
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
    """Return the access to metrics that the settings allow.

    With `local`, this machine may read them if neither a token nor a network is set. Raises
    ImproperlyConfigured if a setting is invalid.
    """
    chosen = valkyr_settings()
    token = chosen.metrics_token.get_secret_value()
    unsaid = LOOPBACK if local and not token else ()
    return Access(token, chosen.metrics_networks or unsaid)
