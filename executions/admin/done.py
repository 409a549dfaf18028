"""What people and programs did to one object, on its page."""

from typing import Any

from executions.admin import marks
from executions.admin.sections import PageSection
from executions.models import Activity

SHOWN = 20
HEADERS = ("When", "Who", "Via", "Did", "Why")


def done_to(pk: Any) -> PageSection:
    """The newest rows of the audit trail about the object of that id."""
    rows = Activity.objects.filter(object_id=str(pk)).order_by("-created_at", "-id")
    found = rows.only("created_at", "actor_name", "via", "action", "reason")[:SHOWN]
    return PageSection(
        "Who did what",
        headers=HEADERS,
        rows=[
            [
                marks.ago(row.created_at),
                row.actor_name,
                row.via or marks.EMPTY,
                row.action,
                marks.clipped(row.reason) or marks.EMPTY,
            ]
            for row in found
        ],
        empty="Nobody has done anything to it.",
        folded=True,
    )
