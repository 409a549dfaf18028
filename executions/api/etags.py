"""ETag and If-Match of a workflow's draft: the tag is the draft's revision."""

import re

from rest_framework.request import Request

from executions.models import Workflow

_TAG = re.compile(r'"(\d{1,9})"')
NEVER = 0  # revisions count from 1


def of(workflow: Workflow) -> str:
    """The draft's ETag."""
    return f'"{workflow.revision}"'


def expected(request: Request, workflow: Workflow) -> int | None:
    """The revision that If-Match asks for; None where it asks for nothing.

    Of several tags, the one that is true now; a tag that is none of ours matches no revision.
    """
    given = request.headers.get("If-Match")
    if given is None or given.strip() == "*":
        return None
    revisions = [int(number) for number in _TAG.findall(given)]
    if workflow.revision in revisions:
        return workflow.revision
    return revisions[0] if revisions else NEVER
