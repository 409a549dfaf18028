"""The effects of a redrive, computed in advance; nothing is written.

The redrive may be unsaved: then its row is only in memory.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from dlq.public.models import Resolution
from executions.public.errors import NotFound
from executions.public.graphs import Graph, compiled
from executions.public.models import VersionKind, Workflow, WorkflowVersion
from executions.public.templates import Allowance, TimeSpent
from valkyr_plugins.redrive import patching, statements
from valkyr_plugins.redrive import side_effects as effects
from valkyr_plugins.redrive.models import ItemState, Redrive, RedriveItem, RedriveScope
from valkyr_plugins.redrive.options import LATEST, PINNED, among
from valkyr_plugins.redrive.side_effects import Outside

# The version that entries would run, and the differences between its definition and the failed one.


MOST_CHANGES = 30


def target_of(redrive: Redrive, workflow_id: UUID) -> WorkflowVersion | None:
    """Return the version with which the redrive would run the workflow; None if it does not exist.

    `redrive.version` must not be `pinned`.
    """
    assert redrive.version != PINNED
    if redrive.version == LATEST:
        rows = Workflow.objects.select_related("latest_version").filter(pk=workflow_id)
        workflow = rows.first()
        return workflow.latest_version if workflow is not None else None
    return WorkflowVersion.objects.filter(
        workflow_id=workflow_id, number=int(redrive.version), kind=VersionKind.PUBLISHED
    ).first()


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the differences between two definitions, one sentence per task or setting.

    Returns at most one sentence more than a preview shows.
    """
    found = []
    for sentence in _changes(before, after):
        found.append(sentence)
        if len(found) > MOST_CHANGES:
            break
    return found


def _changes(before: Mapping[str, Any], after: Mapping[str, Any], where: str = "") -> Iterator[str]:
    old, new = (
        {task["id"]: task for task in version.get("tasks", [])} for version in (before, after)
    )
    for name in [*old, *(name for name in new if name not in old)]:
        path = f"{where}{name}"
        if name not in new:
            yield f"Task {path} was removed."
        elif name not in old:
            yield f"Task {path} is new."
        else:
            yield from _of_task(old[name], new[name], path)
    for key in sorted({*before, *after} - {"tasks", "ui"}):
        if before.get(key) != after.get(key):
            yield f"{where}{key} is different."


def _of_task(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[str]:
    bodies = [task.get("body") for task in (before, after)]
    keys = sorted(
        key for key in {*before, *after} - {"body", "ui"} if before.get(key) != after.get(key)
    )
    if keys:
        yield f"Task {path} differs in {', '.join(keys)}."
    if bodies[0] and bodies[1]:
        yield from _changes(bodies[0], bodies[1], f"{path}[].")
    elif bodies[0] != bodies[1]:
        yield f"The body of task {path} differs."


SAMPLES = 10
TRIED = 1_000
# CPU time, in seconds, for trying entries in a request. Each template has the budget of a web
# process.
TRIED_SECONDS = 0.5
LISTED = 100
MEASURED = 100
MOST_KINDS = 500
MOST_CHANGED = 20
# Assumed rate in entries per second, until a redrive of the workspace was measured.
FULL_PACE = 300.0


@dataclass(frozen=True, slots=True)
class Skipped:
    """The number of entries that would be skipped for one reason."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Effect:
    """A step with side effects that would run again; `count` says how often.

    In the step's path, iterations are written as `[]`.
    """

    step: str
    module: str
    effect: str  # "idempotent" | "database" | "external"
    count: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One entry's inputs or payload before and after the changes; shown only to permitted users."""

    entry_id: UUID
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Rejected:
    """A dead letter whose inputs or payload cannot be changed as requested, and the reasons."""

    entry_id: UUID
    problems: list[str]


@dataclass(frozen=True, slots=True)
class VersionChange:
    """The changes in the definition between the failed runs' version and the target version."""

    before: int
    after: int
    changes: list[str]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """The effects of a redrive: runs, skipped entries, repeated side effects, and duration.

    `dead_letters` are the first 100 entries. Changes of inputs were tried on `checked` of the first
    1,000 open entries, in at most 0.5 s of CPU time; at most 100 rejected entries are listed.
    `seconds` estimates how long sending takes or, if longer, running at limited concurrency.
    """

    entries: int
    dead_letters: list[UUID]
    runs: int
    skipped: list[Skipped]
    effects: list[Effect]
    samples: list[Sample]
    rejected: list[Rejected]
    checked: int
    seconds: float
    definition_changes: list[VersionChange]
    truncated: bool = False  # whether more entries were selected than one redrive accepts


def preview(redrive_id: UUID) -> Preview:
    """Preview a redrive's queued entries in their current state; write nothing. Raises NotFound."""
    redrive = Redrive.objects.filter(pk=redrive_id).first()
    if redrive is None:
        raise NotFound(f"There is no redrive {redrive_id}.")
    queued = RedriveItem.objects.filter(redrive=redrive, state=ItemState.QUEUED).order_by("pk")
    return preview_of(redrive, list(queued.values_list("entry_id", flat=True)))


def preview_of(redrive: Redrive, entries: Sequence[UUID]) -> Preview:
    """Preview a redrive of these entries, in the order of sending; the redrive may be unsaved."""
    kinds = _kinds(entries)
    targets = _targets(redrive, kinds)
    gone = [pk for pk, version in targets.items() if version is None]
    runs, skipped = _counted(redrive, entries, gone)
    samples, rejected, checked = _tried(redrive, entries)
    return Preview(
        entries=len(entries),
        dead_letters=list(entries[:LISTED]),
        runs=runs,
        skipped=skipped,
        effects=_effects(redrive, kinds, targets),
        samples=samples,
        rejected=rejected,
        checked=checked,
        seconds=_seconds(redrive, entries, runs),
        definition_changes=_version_changes(kinds, targets),
        truncated=redrive.truncated,
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """The numbers of entries and executions that failed at one step of one version."""

    workflow_id: UUID
    version_id: UUID
    number: int
    step: str
    entries: int
    executions: int


def _kinds(entries: Sequence[UUID]) -> list[_Kind]:
    found = statements.fetch("count_by_step", {"entries": list(entries), "most": MOST_KINDS})
    return [_Kind(*row) for row in found]


def _targets(redrive: Redrive, kinds: list[_Kind]) -> dict[UUID, WorkflowVersion | None]:
    """Return each workflow's target version (None if missing); {} if each entry uses its own."""
    if redrive.scope == RedriveScope.STEP or redrive.version == PINNED:
        return {}
    return {pk: target_of(redrive, pk) for pk in {kind.workflow_id for kind in kinds}}


def _counted(
    redrive: Redrive, entries: Sequence[UUID], gone: list[UUID]
) -> tuple[int, list[Skipped]]:
    rows = statements.fetch(
        "count_skip_reasons",
        {
            "redrive": redrive.pk, "entries": list(entries),
            "step": redrive.scope == RedriveScope.STEP, "gone": gone,
        },
    )  # fmt: skip
    counts = dict(rows)
    runs = counts.pop("", 0)
    return runs, [Skipped(reason, count) for reason, count in counts.items()]


def _effects(
    redrive: Redrive, kinds: list[_Kind], targets: dict[UUID, WorkflowVersion | None]
) -> list[Effect]:
    counts: Counter[Outside] = Counter()
    for kind in kinds:
        target = targets.get(kind.workflow_id)
        graph = compiled(target.pk if target else kind.version_id).graph
        together = redrive.scope != RedriveScope.STEP
        for outside in _again(redrive, graph, kind.step):
            counts[outside] += kind.executions if together else kind.entries
    return [
        Effect(outside.step, outside.module, outside.effect, count)
        for outside, count in counts.most_common()
    ]


def _again(redrive: Redrive, graph: Graph, step: str) -> list[Outside]:
    """Return the steps with side effects that run again; [] if the version lacks the step."""
    try:
        if redrive.scope == RedriveScope.STEP:
            return effects.of_step(graph, step)
        if redrive.scope == RedriveScope.FROM:
            return effects.from_step(graph, redrive.from_step or step)
    except KeyError:
        return []
    return effects.of_graph(graph)


def _tried(redrive: Redrive, entries: Sequence[UUID]) -> tuple[list[Sample], list[Rejected], int]:
    """Try the changes of inputs on the first open entries.

    Return the samples, the rejected entries and the number of entries that were tried.
    """
    patcher = patching.patcher(redrive)
    rows = (
        among(entries)
        .filter(resolution=Resolution.PENDING)
        .order_by("pk")
        .only(*patching.COLUMNS, "original_inputs")
    )
    if patching.needs_payload(redrive):
        rows = rows.select_related("execution").only(
            *patching.COLUMNS, "original_inputs", "execution__trigger_payload",
            "execution__version_id",
        )  # fmt: skip
    if patcher is None:
        same = [(entry.pk, patching.subject(redrive, entry)) for entry in rows[:SAMPLES]]
        return [Sample(pk, value, value) for pk, value in same], [], 0
    samples: list[Sample] = []
    rejected: list[Rejected] = []
    checked = 0
    allowance = Allowance(TRIED_SECONDS)
    for entry in rows[:TRIED].iterator(chunk_size=100):
        try:
            with allowance.rendering():
                patched = patcher(entry)
        except TimeSpent:
            break
        checked += patched.checked
        if len(samples) < SAMPLES:
            samples.append(Sample(entry.pk, patched.before, patched.after))
        if patched.problems and len(rejected) < LISTED:
            rejected.append(Rejected(entry.pk, list(patched.problems)))
    return samples, rejected, checked


def _seconds(redrive: Redrive, entries: Sequence[UUID], runs: int) -> float:
    """Estimate the seconds that sending takes or, if longer, running at limited concurrency."""
    row = statements.fetch_one(
        "measured_rates", {"entries": list(entries[:MEASURED]), "workspace": redrive.workspace_id}
    )
    pace, each = row if row is not None else (None, None)
    rate = redrive.rate or float(pace or FULL_PACE)
    busy = runs * float(each or 0) / redrive.max_in_flight if redrive.max_in_flight else 0.0
    return round(max(runs / rate, busy), 1)


def _version_changes(
    kinds: list[_Kind], targets: dict[UUID, WorkflowVersion | None]
) -> list[VersionChange]:
    found: list[VersionChange] = []
    pairs = {(kind.version_id, targets.get(kind.workflow_id)) for kind in kinds}
    befores = {version.pk: version for version in _definitions([pk for pk, _ in pairs])}
    for version_id, target in pairs:
        before = befores[version_id]
        if target is not None and target.pk != version_id and len(found) < MOST_CHANGED:
            differs = changes(before.definition, target.definition)
            shown = differs[:MOST_CHANGES]
            more = len(differs) > len(shown)
            found.append(VersionChange(before.number, target.number, shown, more))
    return sorted(found, key=lambda change: change.before)


def _definitions(ids: list[UUID]) -> list[WorkflowVersion]:
    return list(WorkflowVersion.objects.filter(pk__in=ids).only("id", "number", "definition"))
