"""Check whether the running step may connect to a host, before each request.

The egress rules of the step's workspace decide, together with the boundary of each credential that
the step uses.

    with using(credentials):  # in the executor, around a step that uses credentials
        judge("api.example.com", 443)  # in each client, before it sends

The check includes redirects and requests on connections that are already open. It depends on where
the secrets are sent, not on the code that opened the connection.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runners.modules.base import StepError
from runners.modules.egress import egress_rules, judge_egress

if TYPE_CHECKING:
    from executions.credentials.boundary import Boundary
MOST_NOTED = 20


@dataclass(frozen=True, slots=True)
class RefusedHost:
    """A connection that a credential's boundary rejected."""

    name: str
    place: str
    reason: str


_in_use: "ContextVar[Mapping[str, Boundary]]" = ContextVar("credentials_in_use")
_refused: ContextVar[list[RefusedHost]] = ContextVar("refused_hosts")
NONE: "Mapping[str, Boundary]" = {}


class HostRefused(StepError):
    """The step's credential must not be sent to the host; retries do not help."""


@contextmanager
def using(
    credentials: "Mapping[str, Boundary]", refused: list[RefusedHost] | None = None
) -> Iterator[None]:
    """Check every connection of this thread against these boundaries while the block runs.

    The first 20 rejections are added to `refused`, even if the module handles the errors.
    """
    mark = _in_use.set({name: one for name, one in credentials.items() if not one.any_host})
    noted = _refused.set([] if refused is None else refused)
    try:
        yield
    finally:
        _refused.reset(noted)
        _in_use.reset(mark)


def restricted() -> bool:
    """Return whether a credential's boundary or the egress rules limit the step's connections."""
    return bool(_in_use.get(NONE)) or egress_rules() is not None


def judge(host: str, port: int | None) -> None:
    """Raise EgressRefused if the rules forbid the host, or HostRefused if a boundary does."""
    judge_egress(host, port)
    for name, boundary in _in_use.get(NONE).items():
        if not boundary.allows_host(host, port):
            shown = f"[{host}]" if ":" in host else host
            place = shown if port is None else f"{shown}:{port}"
            refused = RefusedHost(name, place, refusal(name, boundary, place))
            if (noted := _refused.get(None)) is not None and len(noted) < MOST_NOTED:
                noted.append(refused)
            raise HostRefused(refused.reason)


def refusal(name: str, boundary: "Boundary", place: str) -> str:
    """Return the error message for a credential that must not be sent to an address."""
    hosts = ", ".join(boundary.hosts[:5]) + (", …" if len(boundary.hosts) > 5 else "")
    return (
        f'the credential "{name}" may not be sent to {place[:200]}, only to {hosts or "no host"}. '
        "Use an allowed address, or ask a user who may configure credentials to add the host"
    )
