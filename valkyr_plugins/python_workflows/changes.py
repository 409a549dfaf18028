"""Compute what publishing changes, and find workflows whose code was removed."""

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
    """A planned or applied change; `version` is the number of the latest version, or None."""

    slug: str
    change: ChangeKind
    version: int | None
    origin: str


def planned() -> list[PlannedChange]:
    """Return the change that publishing would make to each workflow, and the removed workflows.

    Writes nothing. Raises the errors of `publish_all`.
    """
    plan = plan_all()
    return [*_of_declared(plan, plan.current), *_removed()]


def applied() -> list[PlannedChange]:
    """Publish the changes; return them as `planned` does.

    Workflows removed from the code are returned, but not changed. Raises the errors of
    `publish_all`.
    """
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
    """Return the workflows whose code was removed.

    Only workflows written as functions store their line in the code. Workflows of a canvas or a
    task store none, and are not returned.
    """
    rows = Workflow.objects.filter(
        workspace__slug=settings().code_workspace, archived_at=None, origin_line__isnull=False
    ).exclude(slug__in=[workflow.slug for workflow in DECLARED])
    found = rows.order_by("slug").values_list("slug", "latest_version__number", "origin")
    return [PlannedChange(slug, "removed", version, origin) for slug, version, origin in found]
