"""Copy a workflow from code for editing in the studio; the original does not change.

The copy is a draft. Triggers do not start it until it is published.
"""

from uuid import UUID

from executions.access.actor import Actor, record
from executions.database import transaction
from executions.errors import NotFound, ValkyrError
from executions.models import Workflow
from executions.publishing.versioning import create_workflow

LONGEST_SLUG = 80
LONGEST_NAME = 200


class NotFromCode(ValkyrError):
    """This workflow does not come from code. Edit it directly."""

    code = "workflow_not_from_code"


def take_over(
    workflow_id: UUID, *, actor: Actor, name: str = "", slug: str = "", reason: str = ""
) -> Workflow:
    """Copy a workflow from code for a user to edit; the original does not change.

    By default, the name is `<name> (copy)`, and the slug is the first free slug among
    `<slug>-copy`, `<slug>-copy-2` and so on. Raises NotFound, NotFromCode and SlugTaken.
    """
    with transaction.atomic():
        source = _locked(workflow_id)
        if not source.origin:
            raise NotFromCode(
                f"Workflow {source.name!r} does not come from code. Edit it directly."
            )
        called = name or f"{source.name[: LONGEST_NAME - 7]} (copy)"
        copy = create_workflow(
            source.workspace,
            name=called,
            slug=slug or _free_slug(source),
            description=source.description,
            definition={**source.definition, "name": called},
            actor=actor,
        )
        record(
            actor,
            "workflow.take_over",
            workspace_id=source.workspace_id,
            object_type="Workflow",
            object_id=source.pk,
            reason=reason,
            details={"origin": source.origin, "copy": str(copy.pk)},
        )
    return copy


def _locked(workflow_id: UUID) -> Workflow:
    """Return the workflow, locked, so that two concurrent copies get different slugs.

    Raises NotFound.
    """
    rows = Workflow.objects.select_for_update(no_key=True, of=("self",))
    found = rows.select_related("workspace").filter(pk=workflow_id, archived_at=None).first()
    if found is None:
        raise NotFound(f"There is no workflow {workflow_id}.")
    return found


def _free_slug(source: Workflow) -> str:
    base = f"{source.slug[: LONGEST_SLUG - 9]}-copy"
    rows = Workflow.objects.filter(
        workspace=source.workspace_id, slug__startswith=base, archived_at=None
    )
    taken, number, found = set(rows.values_list("slug", flat=True)), 1, base
    while found in taken:
        number += 1
        found = f"{base}-{number}"
    return found
