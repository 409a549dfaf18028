"""Compare a bundle with its workspace: find the objects to create, change, archive and delete.

A plan writes the items other than workflows in a transaction, and rolls it back, to find the
problems that writing these items would cause.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.bundles.kinds import BundleContext, BundleKind, Item, StoredItem, kinds
from executions.bundles.wording import ADDED, WordedChange, difference_of_values, shown
from executions.bundles.workflows import (
    LiveWorkflow,
    WorkflowVerdict,
    check,
    judged,
    live_workflows,
    warn_of_withdrawn,
)
from executions.database import transaction
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.graph.storable import sha256_hex
from executions.errors import ValkyrError, WithProblems
from executions.models import AppliedBundle, Workspace

WORKFLOWS = "workflows"
MOST_WORKFLOWS = 500
MOST_PROBLEMS = 200
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,80}\Z")
# Actions on a workflow or on an item of a kind.
CREATE, CHANGE, LAYOUT, ARCHIVE, DELETE = "create", "change", "layout", "archive", "delete"


@dataclass(frozen=True, slots=True)
class Bundle:
    """The definitions that a workspace should have.

    `checksums` maps slugs to the checksums that the versions must have. With `prune`, workflows and
    items of earlier bundles that this bundle lacks are archived or deleted, even items of a kind
    that `resources` does not name.
    """

    workflows: Mapping[str, Any]
    resources: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)
    prune: bool = False

    @property
    def digest(self) -> str:
        """Return a digest of the bundle's definitions, resources, checksums and `prune`."""
        wanted = [self.workflows, self.resources, self.checksums, self.prune]
        return sha256_hex(wanted)[:32]


@dataclass(frozen=True, slots=True)
class BundleChange:
    """One object that changes when the bundle is applied.

    `version` is the number of a workflow's latest version before the change; None if there is none.
    """

    kind: str
    name: str
    action: str
    lines: Sequence[WordedChange] = ()
    warnings: Sequence[str] = ()
    version: int | None = None


@dataclass(slots=True)
class BundlePlan:
    """The effects of applying a bundle. `kept` names the objects that only `prune` would remove."""

    fingerprint: str = ""
    changes: list[BundleChange] = field(default_factory=list)
    unchanged: int = 0
    kept: list[str] = field(default_factory=list)
    problems: list[DefinitionProblem] = field(default_factory=list)
    missing_credentials: list[str] = field(default_factory=list)


@dataclass(slots=True)
class KindComparison:
    """The items of one kind: those to create, to change and to remove."""

    kind: BundleKind
    stored: list[StoredItem]
    unchanged: int = 0
    added: list[tuple[int, Item]] = field(default_factory=list)
    changed: list[tuple[int, Item, StoredItem]] = field(default_factory=list)
    gone: list[StoredItem] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    lines: dict[int, list[WordedChange]] = field(default_factory=dict)


@dataclass(slots=True)
class BundleComparison:
    """Everything that a plan shows and that applying the bundle writes."""

    plan: BundlePlan
    verdicts: list[WorkflowVerdict]
    gone: list[LiveWorkflow]
    items: list[KindComparison]
    context: BundleContext


def plan(
    workspace: Workspace, bundle: Bundle, actor: Actor, readable: Iterable[BundleKind] = ()
) -> BundlePlan:
    """Return the effects of applying the bundle; roll back all writes except those of `prepare`.

    Without `prune`, the plan also lists the items of earlier bundles whose kinds are in `readable`
    but not in the bundle's `resources`.
    """
    prepare(bundle)
    with transaction.atomic():
        found = compare(workspace, bundle, actor, lock=False)
        if not bundle.prune:
            unnamed = [kind for kind in readable if kind.name not in bundle.resources]
            found.plan.kept += _brought(workspace, unnamed)
        found.plan.problems += write_items(found, bundle)
        transaction.set_rollback(True)
    found.plan.problems = first_problems(found.plan.problems)
    return found.plan


def first_problems(problems: Sequence[DefinitionProblem]) -> list[DefinitionProblem]:
    """Return the first `MOST_PROBLEMS` problems, and a further one that counts the rest, if any."""
    if len(problems) <= MOST_PROBLEMS:
        return list(problems)
    rest = len(problems) - MOST_PROBLEMS
    more = DefinitionProblem("", "too_many", f"There are {rest:,} more problems.")
    return [*problems[:MOST_PROBLEMS], more]


def prepare(bundle: Bundle) -> None:
    """Call `prepare` of each kind in the bundle.

    Call this before the transaction begins.
    """
    for name, kind in kinds().items():
        if bundle.resources.get(name):
            kind.prepare()


def compare(workspace: Workspace, bundle: Bundle, actor: Actor, *, lock: bool) -> BundleComparison:
    """Return the comparison of the bundle with the workspace; `lock` locks the compared rows."""
    made = BundlePlan(problems=_form(bundle))
    applied = AppliedBundle.objects.filter(workspace=workspace).first()
    keys = set(applied.keys) if applied else set()
    brought = {key.removeprefix(f"{WORKFLOWS}/") for key in keys if key.startswith(WORKFLOWS)}
    live = live_workflows(workspace, {*bundle.workflows, *brought}, lock=lock)
    verdicts = [] if made.problems else _verdicts(bundle, live, workspace)
    gone = [one for slug, one in live.items() if slug not in bundle.workflows and not one.origin]
    context = BundleContext(workspace, actor, _planned(workspace, bundle))
    items = [
        _compared(kind, workspace, bundle, keys, context, made.problems, lock=lock)
        for kind in _kinds_of(bundle, keys)
    ]
    made.fingerprint = _fingerprint(live, items) + bundle.digest
    for verdict in verdicts:
        _tell(made, verdict)
    for one in gone:
        if bundle.prune:
            made.changes.append(BundleChange(WORKFLOWS, one.slug, ARCHIVE, version=one.number))
        else:
            made.kept.append(f"{WORKFLOWS}/{one.slug}")
    for each in items:
        _tell_items(made, each, prune=bundle.prune)
    return BundleComparison(made, verdicts, gone, items, context)


def _brought(workspace: Workspace, wanted: Sequence[BundleKind]) -> list[str]:
    """Return the names of the wanted kinds' items that came from earlier bundles."""
    applied = AppliedBundle.objects.filter(workspace=workspace).first()
    keys = set(applied.keys) if applied else set()
    kinds_of_keys = {key.partition("/")[0] for key in keys}
    return [
        f"{kind.name}/{kind.called(row.item)}"
        for kind in wanted
        if kind.name in kinds_of_keys
        for row in kind.stored(workspace, lock=False)
        if kind.identity(row.item) in keys
    ]


def _form(bundle: Bundle) -> list[DefinitionProblem]:
    found = []
    if len(bundle.workflows) > MOST_WORKFLOWS:
        what = f"Expected at most {MOST_WORKFLOWS} workflows; found {len(bundle.workflows):,}."
        found.append(DefinitionProblem(WORKFLOWS, "too_many", what))
    for slug, document in bundle.workflows.items():
        if not SLUG.match(slug):
            what = "A slug has 1 to 80 letters, digits, hyphens and underscores."
            found.append(DefinitionProblem(f"{WORKFLOWS}.{slug[:80]}", "bad_slug", what))
        elif not isinstance(document, dict):
            what = "A definition must be an object."
            found.append(DefinitionProblem(f"{WORKFLOWS}.{slug}", "type", what))
    known = ", ".join([WORKFLOWS, *kinds()])
    for name in bundle.resources:
        if name not in kinds():
            what = f"Unknown kind. Known: {known}."
            found.append(DefinitionProblem(f"resources.{name[:80]}", "unknown_kind", what))
    return found


def _verdicts(
    bundle: Bundle, live: Mapping[str, LiveWorkflow], workspace: Workspace
) -> list[WorkflowVerdict]:
    found = [
        judged(slug, bundle.workflows[slug], live.get(slug)) for slug in sorted(bundle.workflows)
    ]
    check(found, workspace, bundle.checksums)
    warn_of_withdrawn(found)
    return found


def _planned(workspace: Workspace, bundle: Bundle) -> dict[str, UUID | None]:
    """Return the IDs of workflows that items may name, keyed by slug.

    None stands for a workflow that `apply` will create.
    """
    rows = workspace.workflows.filter(archived_at=None).values_list("slug", "pk")
    return dict.fromkeys(bundle.workflows) | dict(rows)


def _kinds_of(bundle: Bundle, keys: set[str]) -> Iterator[BundleKind]:
    """Yield the kinds that the bundle names and, with `prune`, the kinds of earlier bundles."""
    brought = {key.partition("/")[0] for key in keys} if bundle.prune else set()
    for name, kind in kinds().items():
        if name in bundle.resources or name in brought:
            yield kind


def _compared(
    kind: BundleKind,
    workspace: Workspace,
    bundle: Bundle,
    keys: set[str],
    context: BundleContext,
    problems: list[DefinitionProblem],
    *,
    lock: bool,
) -> KindComparison:
    found = KindComparison(kind, kind.stored(workspace, lock=lock))
    wanted_items = bundle.resources.get(kind.name, ())
    for many, whose in ((len(wanted_items), "bundle"), (len(found.stored), "workspace")):
        if many > kind.most:
            what = f"A bundle holds at most {kind.most} {kind.name}; the {whose} has more."
            problems.append(DefinitionProblem(f"resources.{kind.name}", "too_many", what))
            return found
    known = {kind.key(row.item): row for row in found.stored}
    wanted = set()
    for index, given in enumerate(wanted_items):
        path = f"resources.{kind.name}[{index}]"
        mistakes = kind.mistakes(given, path)
        problems += mistakes
        if mistakes:
            continue
        item = kind.full(given)
        key = kind.key(item)
        if key in wanted:
            what = f"There are two entries for {kind.called(item)}."
            problems.append(DefinitionProblem(path, "twice", what))
            continue
        wanted.add(key)
        found.named.add(kind.identity(item))
        _sort(found, context, index, item, known.get(key))
    found.gone = [
        row for key, row in known.items() if key not in wanted and kind.identity(row.item) in keys
    ]
    return found


def _sort(
    found: KindComparison,
    context: BundleContext,
    index: int,
    item: Item,
    row: StoredItem | None,
) -> None:
    kind = found.kind
    if row is None:
        found.added.append((index, item))
        found.lines[index] = [
            WordedChange(ADDED, f"{name}: {shown(value)}")
            for name, value in kind.short(item).items()
        ]
        return
    lines = difference_of_values(kind.compared(row.item), kind.compared(item))
    lines += [WordedChange("~", text) for text in kind.unseen(context, row, item)]
    if lines:
        found.changed.append((index, item, row))
        found.lines[index] = lines
    else:
        found.unchanged += 1


def _fingerprint(live: Mapping[str, LiveWorkflow], items: Sequence[KindComparison]) -> str:
    workflows = [[one.slug, one.revision, one.checksum, one.number] for one in live.values()]
    stored = [[each.kind.name, [row.item for row in each.stored]] for each in items]
    return sha256_hex([workflows, stored])[:32]


def _tell(made: BundlePlan, verdict: WorkflowVerdict) -> None:
    path = f"{WORKFLOWS}.{verdict.slug}"
    made.problems += [
        DefinitionProblem(f"{path}.{one.path}" if one.path else path, one.code, one.message)
        for one in verdict.problems
    ]
    named = {*made.missing_credentials, *verdict.missing_credentials}
    made.missing_credentials = sorted(named)
    if not verdict.action:
        made.unchanged += 1
        return
    made.changes.append(
        BundleChange(
            WORKFLOWS,
            verdict.slug,
            verdict.action,
            verdict.lines,
            verdict.warnings,
            verdict.live.number if verdict.live else None,
        )
    )


def _tell_items(made: BundlePlan, each: KindComparison, *, prune: bool) -> None:
    kind = each.kind
    made.unchanged += each.unchanged
    for index, item in each.added:
        named = kind.called(item)
        made.changes.append(BundleChange(kind.name, named, CREATE, each.lines[index]))
    for index, item, _ in each.changed:
        named = kind.called(item)
        made.changes.append(BundleChange(kind.name, named, CHANGE, each.lines[index]))
    for row in each.gone:
        named = kind.called(row.item)
        if prune:
            made.changes.append(BundleChange(kind.name, named, DELETE))
        else:
            made.kept.append(f"{kind.name}/{named}")


def write_items(found: BundleComparison, bundle: Bundle) -> list[DefinitionProblem]:
    """Remove, create and change items, each in a savepoint; return the problems that occurred."""
    problems = list[DefinitionProblem]()
    context = found.context
    for each in found.items:
        kind, path = each.kind, f"resources.{each.kind.name}"
        # Removals come first, because a new item may replace an old one.
        for row in each.gone if bundle.prune else ():
            problems += _tried(lambda k=kind, r=row: k.remove(context, r), path)
        for index, item in each.added:
            problems += _tried(lambda k=kind, i=item: k.create(context, i), f"{path}[{index}]")
        for index, item, row in each.changed:
            problems += _tried(
                lambda k=kind, i=item, r=row: k.change(context, r, i), f"{path}[{index}]"
            )
    return problems


def _tried(action: Any, path: str) -> list[DefinitionProblem]:
    try:
        with transaction.atomic():
            action()
    except WithProblems as error:
        return [
            DefinitionProblem(f"{path}.{one.path}" if one.path else path, one.code, one.message)
            for one in error.problems
        ]
    except ValkyrError as error:
        return [DefinitionProblem(path, error.code, error.message)]
    return []
