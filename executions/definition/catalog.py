"""The properties of modules that the graph needs; `runners` registers them at start-up.

Validation and publishing read them here, so that `executions` does not import `runners`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

# Rules that derive a branch module's outcomes from its `with`, as data for the server and the
# studio.


Take = Literal["each", "value", "given", "equals"]


@dataclass(frozen=True, slots=True)
class OutcomeRule:
    """A rule for the outcomes that one key of `with` adds; `take` selects the rule.

    `each` adds every item of the key's list, or every value of its mapping, as text. `value` adds
    the key's value, or `otherwise` if the key is missing. `given` adds `outcomes` if the key is
    present and not null. `equals` adds `outcomes` if the key's value is the rule's `equals`.
    """

    key: str
    take: Take
    outcomes: tuple[str, ...] = ()
    equals: str = ""
    otherwise: str = ""


def outcomes_by(rules: Sequence[OutcomeRule], config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the outcomes that the rules add, in their order, each once.

    If the rules add none, the result is empty, and the only outcome is `success`.
    """
    return tuple(dict.fromkeys(one for rule in rules for one in _added(rule, config)))


def outcome_text(value: Any) -> str:
    """Return a value as an outcome: null and booleans as in JSON, 2.0 as "2", others as text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _added(rule: OutcomeRule, config: Mapping[str, Any]) -> Iterator[str]:
    value = config.get(rule.key)
    if rule.take == "each":
        yield from _each(value)
    elif rule.take == "value":
        yield str(config.get(rule.key, rule.otherwise))
    elif (rule.take == "given" and value is not None) or (
        rule.take == "equals" and value == rule.equals
    ):
        yield from rule.outcomes


def _each(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from map(str, value.values())
    elif isinstance(value, list | tuple):
        yield from map(outcome_text, value)


# Values of `ModuleSpec.judges_hosts`.
EVERYTHING = "everything"
CREDENTIAL_ALONE = "credential"


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One error in a module's `with`: its path (keys and indexes), a code and a message."""

    pointer: tuple[str | int, ...]
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class BadInput:
    """A kind of bad input: a description, the type of its error, and part of the error message."""

    what: str
    error_type: str
    says: str


@dataclass(frozen=True, slots=True)
class ModuleSpec:
    """A module type, with the properties that the graph needs.

    `outcomes` is empty for a plain module, whose outcome is `success`; a branch module lists its
    outcomes. `check` returns the problems of a `with` mapping; a string with a template may stand
    for any value. `outcomes_for` returns the outcomes for a `with` mapping, on which they may
    depend; `outcomes_from` declares the same as data, if possible. A `container` has a body (`loop`
    or `map`) that the engine runs. `expand` creates that body from the task if authors write a
    different body (`body_kind`), such as tools; `check_task` checks the task. `deferred` lists the
    keys of `with` whose templates the engine renders later, in another scope, such as a loop's
    `until`. `credential` lists the accepted types of credential; a step uses at most one. The
    module's `with` may name secrets if it `takes_secrets`. `judges_hosts` says which data the
    module sends to checked hosts only: `everything` in its `with`, its `credential` alone, or
    nothing (""). `addresses` lists the keys of `with` that contain the address. `keeps` lists the
    keys whose values never leave this machine.
    """

    type: str
    title: str
    category: str
    description: str
    queue: str
    inline: bool
    effect: str
    outcomes: tuple[str, ...]
    writes_variables: bool
    retry: str | Mapping[str, Any]  # the name or the values of a policy
    timeout_seconds: float
    credential: tuple[str, ...]
    inputs_schema: Mapping[str, Any]
    outputs_schema: Mapping[str, Any] | None
    check: Callable[[Mapping[str, Any]], list[ConfigProblem]] = field(repr=False)
    outcomes_for: Callable[[Mapping[str, Any]], tuple[str, ...]] = field(repr=False)
    container: str = ""  # "", "loop" or "map"
    body_kind: str = ""  # the kind of body that authors write, if not `container`
    # Creates the body that the engine runs; called when a version is published.
    expand: "Callable[[Mapping[str, Any], Catalog], dict[str, Any]] | None" = field(
        default=None, repr=False
    )
    check_task: "Callable[[Mapping[str, Any]], list[ConfigProblem]] | None" = field(
        default=None, repr=False
    )
    waits: bool = False  # may wait without occupying a worker
    computes: bool = False  # CPU-bound, so it must not share a process with other steps
    remote: bool = False  # only remote runners execute it
    deferred: tuple[str, ...] = ()
    takes_secrets: bool = True
    judges_hosts: str = ""
    addresses: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    circuit_target: str = ""  # a description of the target
    outcomes_from: tuple[OutcomeRule, ...] = ()
    icon: str = ""  # a name of Material Symbols
    example: Mapping[str, Any] = field(default_factory=dict)  # a valid `with`
    bad_inputs: tuple[BadInput, ...] = ()

    @property
    def retry_name(self) -> str:
        """Return the name of the module type's retry policy; `custom` if it is written out."""
        return self.retry if isinstance(self.retry, str) else "custom"


Catalog = Mapping[str, ModuleSpec]

_provider: Callable[[], Catalog] | None = None


def register(provider: Callable[[], Catalog]) -> None:
    """Set the function that returns the modules by type; a later call replaces the function."""
    global _provider  # noqa: PLW0603 - set once, at start-up
    _provider = provider


def catalog() -> Catalog:
    """Return the registered modules by type; {} before any are registered."""
    return _provider() if _provider is not None else {}
