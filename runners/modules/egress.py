"""Check each connection of a step against its workspace's egress rules.

    with ruled_by(load):  # in the executor, around each step
        judge_egress("api.example.com", 443)  # in each client, before it sends
        among("api.example.com", 443, addresses)  # in each client, before it connects

The rules are loaded at the step's first connection.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from runners.modules.base import StepError

if TYPE_CHECKING:
    from executions.egress.rules import EgressRules


class EgressRefused(StepError):
    """The workspace's egress rules do not allow the host; retries do not help."""


class RulesInForce:
    """The rules of the running step, which are loaded once, at the first connection."""

    __slots__ = ("_found", "_load")

    def __init__(self, load: "Callable[[], EgressRules | None]") -> None:
        self._load: Callable[[], EgressRules | None] | None = load
        self._found: EgressRules | None = None

    def rules(self) -> "EgressRules | None":
        """Return the rules; None if any host is allowed."""
        if self._load is not None:
            self._found = self._load()
            self._load = None
        return self._found


_in_force: ContextVar[RulesInForce | None] = ContextVar("egress_rules", default=None)


@contextmanager
def ruled_by(load: "Callable[[], EgressRules | None]") -> Iterator[None]:
    """While the block runs, apply the rules that `load` returns to this thread's connections."""
    mark = _in_force.set(RulesInForce(load))
    try:
        yield
    finally:
        _in_force.reset(mark)


def egress_rules() -> "EgressRules | None":
    """Return the rules of the running step; None if it may connect to any host."""
    found = _in_force.get()
    return None if found is None else found.rules()


def judge_egress(host: str, port: int | None) -> None:
    """Raise EgressRefused for a host that the rules forbid, regardless of its addresses."""
    rules = egress_rules()
    if rules is not None and rules.verdict(host, port).name == "REFUSED":
        raise EgressRefused(rules.refusal(_place(host, port)))


def address_rules(host: str, port: int | None) -> tuple[str, ...]:
    """Return the address ranges that decide on a host; () if the host's addresses do not matter."""
    rules = egress_rules()
    if rules is None or rules.verdict(host, port).name != "BY_ADDRESS":
        return ()
    return rules.ranges(port)


def among(host: str, port: int | None, addresses: Iterable[str]) -> list[str]:
    """Return those of the host's `addresses` that the rules allow.

    Raises EgressRefused if none of them is allowed. The caller has checked the host's name.
    """
    found = list(addresses)
    rules = egress_rules()
    if rules is None or not address_rules(host, port):
        return found
    allowed = [one for one in found if rules.allows_address(one.partition("%")[0], port)]
    if found and not allowed:
        raise EgressRefused(rules.refusal(f"{_place(host, port)} ({', '.join(found[:4])})"))
    return allowed


def address_filter(host: str, port: int | None) -> Callable[[str], bool]:
    """Return a function that checks whether an address of the host is allowed.

    The function can be called in any thread, even if no rules are in force there.
    """
    rules = egress_rules()
    if rules is None or not address_rules(host, port):
        return lambda address: True
    return lambda address: rules.allows_address(address.partition("%")[0], port)


def _place(host: str, port: int | None) -> str:
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"
