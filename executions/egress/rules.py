"""Decide whether steps of a workspace may connect to a host.

    rules.verdict("api.example.com", 443)    before a name is resolved
    rules.allows_address("10.1.2.3", 5432)   for each address, if the verdict is BY_ADDRESS

An entry is a name (`api.example.com`), the names below it (`*.example.com`), an address or a range
of addresses (`10.0.0.0/8`), each with or without a port. Entries for addresses also allow names
that resolve to these addresses. `*` allows any host.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from executions.credentials.boundary import ANY, HostPattern, host_pattern, listed
from executions.definition.graph.problem import DefinitionProblem

MOST = 100
SETTING = "VALKYR_EGRESS_ALLOW"
FIELD = "egressHosts"


class Verdict(enum.Enum):
    """The decision on a host before its name is resolved."""

    ALLOWED = enum.auto()
    REFUSED = enum.auto()
    BY_ADDRESS = enum.auto()


@dataclass(frozen=True, slots=True)
class EgressRules:
    """The hosts that steps of a workspace may connect to.

    `own` is False for the installation's rules. `workspace` is the slug, empty for work that
    belongs to no workspace.
    """

    hosts: tuple[str, ...]
    own: bool = False
    workspace: str = ""
    workspace_id: UUID | None = None

    def verdict(self, host: str, port: int | None) -> Verdict:
        """Return the decision on a host and a port; `port` is None if the port is unknown."""
        patterns = [_pattern(text) for text in self.hosts]
        if ANY in self.hosts or any(one.matches(host, port) for one in patterns):
            return Verdict.ALLOWED
        if _is_address(host) or not self.ranges(port):
            return Verdict.REFUSED
        return Verdict.BY_ADDRESS

    def allows_address(self, address: str, port: int | None) -> bool:
        """Return whether an entry for addresses includes this address and port."""
        return any(_pattern(text).matches(address, port) for text in self.ranges(port))

    def ranges(self, port: int | None) -> tuple[str, ...]:
        """Return the address entries for a port; all address entries if `port` is None."""
        found = [text for text in self.hosts if _pattern(text).network is not None]
        return tuple(text for text in found if _pattern(text).port in (None, port) or port is None)

    def refusal(self, place: str) -> str:
        """Return the reason for rejecting an address, and what to do."""
        by = "its egress rules allow" if self.own else f"{SETTING} allows"
        who = f'the workspace "{self.workspace}"' if self.workspace else "this installation"
        return (
            f"{who} does not allow connections to {place[:200]}; {by} {listed(self.hosts)}. "
            f"Use an allowed host, or {self._remedy()}"
        )

    def _remedy(self) -> str:
        if self.workspace_id is None:
            return f"ask an operator to add the host to {SETTING}"
        return (
            "ask an administrator of the workspace to add the host to its egress rules (in the "
            f"admin under Workspaces, or PATCH /v1/Workspace/{self.workspace_id} with {FIELD})"
        )


def problems_of(hosts: Iterable[Any], path: str = FIELD) -> list[DefinitionProblem]:
    """Return a problem for each invalid entry, or only one if there are too many entries."""
    given = list(hosts)
    if len(given) > MOST:
        message = f"Give at most {MOST} entries; found {len(given)}."
        return [DefinitionProblem(path, "count", message)]
    found = []
    for index, text in enumerate(given):
        try:
            if text.strip() != ANY:
                host_pattern(text)
        except ValueError as error:
            found.append(DefinitionProblem(f"{path}[{index}]", "bad_entry", str(error)))
    return found


def stored(hosts: Iterable[str]) -> list[str]:
    """Return valid entries as they are stored: in lower case, sorted, without duplicates."""
    return sorted({text.strip().lower() for text in hosts})


@lru_cache(maxsize=1024)
def _pattern(text: str) -> HostPattern:
    try:
        return host_pattern(text)
    except ValueError:
        return HostPattern(name="")  # `*` or an invalid entry: matches nothing


def _is_address(host: str) -> bool:
    try:
        return host_pattern(host).network is not None
    except ValueError:
        return False
