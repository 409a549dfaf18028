"""What publishing changes: each declared workflow, and those that left the code."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from executions.public.configuration import settings
from executions.public.models import Workflow
from executions.public.publishing import CodePlan, CodeVersion
from valkyr_plugins.python_workflows.publishing import plan_all, publish_all
from valkyr_plugins.python_workflows.workflow import DECLARED

ChangeKind = Literal["created", "changed", "unchanged", "removed"]


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One workflow; `version` is its latest version's number, None before it has one."""

    slug: str
    change: ChangeKind
    version: int | None
    origin: str


def planned() -> list[PlannedChange]:
    """What publishing would do now; nothing is written. Raises as `publish_all`."""
    plan = plan_all()
    return [*_of_declared(plan, plan.current), *_removed()]


def applied() -> list[PlannedChange]:
    """Publish what changed. One that left the code stays as it is. Raises as `publish_all`."""
    plan = plan_all()
    return [*_of_declared(plan, publish_all()), *_removed()]


def _of_declared(plan: CodePlan, versions: Mapping[str, CodeVersion]) -> Iterator[PlannedChange]:
    for workflow in DECLARED:
        slug = workflow.slug
        version = versions[slug].number if slug in versions else None
        yield PlannedChange(slug, _kind(plan, slug), version, workflow.origin)


def _kind(plan: CodePlan, slug: str) -> ChangeKind:
    if slug not in plan.current:
        return "created"
    return "unchanged" if slug in plan.unchanged else "changed"


def _removed() -> list[PlannedChange]:
    """Workflows that the code had once, and has no more.

    Of all that code publishes only functions have a line: neither a canvas nor a task has one.
    """
    rows = Workflow.objects.filter(
        workspace__slug=settings().code_workspace, archived_at=None, origin_line__isnull=False
    ).exclude(slug__in=[workflow.slug for workflow in DECLARED])
    found = rows.order_by("slug").values_list("slug", "latest_version__number", "origin")
    return [PlannedChange(slug, "removed", version, origin) for slug, version, origin in found]
