"""The options of a redrive (scope, rate, canary), and the permissions that it needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from dlq.public.models import DeadLetterEntry
from executions.public.access import (
    AccessChange,
    Action,
    Base,
    Power,
    User,
    check_change,
    operators_powers,
    powers_on,
    refused,
    visible,
)
from executions.public.definitions import DefinitionProblem
from executions.public.errors import WithProblems
from executions.public.models import Permission
from runners.public.forks import fork_execution
from runners.public.repair import given_in
from valkyr_plugins.redrive import patching
from valkyr_plugins.redrive.models import Redrive, RedriveScope

PINNED, LATEST = "pinned", "latest"
MAX_RATE = 10_000
MAX_WINDOW = 1_000
MOST = 100_000  # maximum entries of one redrive
MAX_VERSION_DIGITS = 9
NEEDS_FORKS = (
    "New executions are forks, which need the plugin timetravel. It is not installed here. "
    "Choose the scope STEP."
)


class InvalidRedrive(WithProblems):
    """The options of the redrive are not valid."""

    code = "invalid_redrive"


@dataclass(frozen=True, slots=True)
class RedriveOptions:
    """The options of a redrive.

    `selection` is the original choice, for display; the entries are passed separately. With scope
    FROM, an empty `from_step` means each entry's own step. `version` (pinned, latest or a number)
    concerns new executions only. `overrides` is a JSON merge patch (RFC 7396) of the inputs of the
    step that runs first (scope EXECUTION: of the payload). `expression` computes each entry's patch
    from `inputs`, `error`, `attempts` and `entry`. `rate` is in entries per second; None means as
    fast as possible. The first `canary` entries must end before others are sent. The redrive stops
    if too many canaries fail (more than `stop_above` per cent; default: 0) or, with `stop_above`,
    too many of the last `stop_window` entries.
    """

    selection: Any = field(default_factory=dict)
    group_id: UUID | None = None
    scope: str = RedriveScope.STEP
    from_step: str = ""
    version: str | int = PINNED
    overrides: Any = None
    expression: str = ""
    rate: float | None = None
    max_in_flight: int | None = None
    canary: int = 0
    stop_above: float | None = None
    stop_window: int = 100
    reason: str = ""

    @property
    def changes_inputs(self) -> bool:
        """Return whether entries run with changed inputs, which needs an additional permission."""
        return bool(self.overrides) or bool(self.expression)


def scopes() -> list[str]:
    """Return the scopes that this installation offers; some need the plugin that provides forks."""
    return RedriveScope.values if fork_execution.provided else [RedriveScope.STEP]


def check(wish: RedriveOptions) -> None:
    """Raise InvalidRedrive if the options have problems; the error lists all of them."""
    problems = [*_what(wish), *_how_fast(wish)]
    if problems:
        raise InvalidRedrive("The redrive's options are not valid.", problems)


def _what(wish: RedriveOptions) -> Iterator[DefinitionProblem]:
    if wish.scope not in RedriveScope.values:
        known = ", ".join(RedriveScope.values)
        yield DefinitionProblem(
            "scope", "choice", f"Expected one of {known}, found {wish.scope!r}."
        )
    elif wish.scope not in scopes():
        yield DefinitionProblem("scope", "needs_plugin", NEEDS_FORKS)
    if wish.from_step and wish.scope != RedriveScope.FROM:
        yield DefinitionProblem("fromStep", "needs_scope", "A first step requires the scope FROM.")
    if str(wish.version) != PINNED and wish.scope == RedriveScope.STEP:
        text = "With the scope STEP, the execution keeps its version; choose FROM or EXECUTION."
        yield DefinitionProblem("version", "needs_scope", text)
    if not _is_version(str(wish.version)):
        yield DefinitionProblem("version", "choice", f"Expected {PINNED}, {LATEST} or a number.")
    if wish.overrides is not None and not isinstance(wish.overrides, dict):
        yield DefinitionProblem(
            "overrides", "object", ("A merge patch of inputs must be a JSON object.")
        )
    if wish.overrides and wish.expression:
        yield DefinitionProblem(
            "expression", "either", "Give overrides or an expression, not both."
        )
    if wish.expression:
        yield from patching.problems(wish.expression)


def _is_version(text: str) -> bool:
    number = text.isascii() and text.isdigit() and len(text) <= MAX_VERSION_DIGITS
    return text in {PINNED, LATEST} or (number and int(text) > 0)


def _how_fast(wish: RedriveOptions) -> Iterator[DefinitionProblem]:
    if wish.rate is not None and not 0 < wish.rate <= MAX_RATE:
        yield DefinitionProblem(
            "ratePerSecond", "range", f"Expected more than 0, at most {MAX_RATE:,}."
        )
    if wish.max_in_flight is not None and not 1 <= wish.max_in_flight <= MOST:
        yield DefinitionProblem("maxInFlight", "range", f"Expected 1 to {MOST:,}.")
    if not 0 <= wish.canary <= MAX_WINDOW:
        yield DefinitionProblem("canary", "range", f"Expected 0 to {MAX_WINDOW:,}.")
    if wish.stop_above is not None and not 0 <= wish.stop_above <= 100:
        yield DefinitionProblem("stopAbove", "range", "Expected a percentage, 0 to 100.")
    if not 1 <= wish.stop_window <= MAX_WINDOW:
        yield DefinitionProblem("stopWindow", "range", f"Expected 1 to {MAX_WINDOW:,}.")


# The permissions to create, start or resume a redrive: the same as for its entries individually.


BASES = {LATEST: Base.LATEST, PINNED: Base.PINNED}


def needed(wish: RedriveOptions | Redrive, *, by_inputs: bool = False) -> list[Power]:
    """Return the powers that the user must have on every entry.

    A new execution is a fork, and needs the powers of a fork. An expression, or a selection of
    entries by their inputs (`by_inputs`), needs VIEW_PAYLOADS.
    """
    changed = bool(wish.overrides) or bool(wish.expression)
    powers: list[Power] = [Permission.REDRIVE]
    if changed:
        powers.append(Permission.REDRIVE_CHANGED)
    if wish.expression or by_inputs:
        powers.append(Permission.VIEW_PAYLOADS)
    return list(dict.fromkeys([*powers, *operators_powers(_change(wish, changed=changed))]))


def check_start(user: User, redrive: Redrive) -> None:
    """Raise Forbidden if the redrive needs a permission that the user does not have."""
    mine = powers_on(user, redrive.workspace_id)
    for power in needed(redrive):
        if not mine.allows(power) and _lacking(user, entries_of(redrive), power).exists():
            raise refused(mine.role, power, limited=mine.limited)
    check_approved(user, redrive)


def among(ids: Sequence[UUID]) -> QuerySet[DeadLetterEntry]:
    """Return these dead letters; the IDs are one parameter, because there may be 100,000."""
    return DeadLetterEntry.objects.filter(pk__in=RawSQL("SELECT unnest(%s::uuid[])", [list(ids)]))


def entries_of(redrive: Redrive) -> QuerySet[DeadLetterEntry]:
    """Return the dead letters of a stored redrive."""
    return DeadLetterEntry.objects.filter(redrive_items__redrive=redrive)


def check_approved(
    user: User, redrive: Redrive, entries: QuerySet[DeadLetterEntry] | None = None
) -> None:
    """Raise Forbidden if a step's inputs would change after an approval in the step's execution.

    Approvals in parents and children count too. Authors may change such inputs. New executions are
    not checked: they request approvals again. Pass `entries` for a redrive that is not stored.
    """
    if redrive.scope != RedriveScope.STEP or not (redrive.overrides or redrive.expression):
        return
    mine = powers_on(user, redrive.workspace_id)
    if mine.allows(Action.AUTHOR):
        return
    entries = entries_of(redrive) if entries is None else entries
    rows = _lacking(user, entries, Action.AUTHOR).order_by()
    executions: list[UUID] = list(rows.values_list("execution_id", flat=True).distinct())
    check_change(mine, AccessChange(approved=bool(given_in(executions))))


def _lacking(
    user: User, rows: QuerySet[DeadLetterEntry], power: Power
) -> QuerySet[DeadLetterEntry]:
    return rows.exclude(pk__in=visible(user, rows, power).values("pk"))


def _change(wish: Any, *, changed: bool) -> AccessChange:
    if wish.scope == RedriveScope.STEP:
        return AccessChange()
    base = BASES.get(str(wish.version), Base.OTHER)
    if wish.scope == RedriveScope.FROM:
        return AccessChange(base, inside=True, steps=changed)
    return AccessChange(base, payload=changed)
