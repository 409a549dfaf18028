"""Links to one place of an execution, such as the third iteration of a loop."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.utils.safestring import SafeString

from executions.admin import links


def place_link(execution_id: UUID, place: str, text: Any) -> SafeString:
    """A link to the execution's page with the steps of that place; "" is the workflow."""
    address = links.page("executions_workflowexecution", execution_id)
    asked = f"?{urlencode({'place': place})}" if place else ""
    return links.link(f"{address}{asked}#steps", text)


def runs_in(execution_id: UUID, prefix: str) -> str:
    """The address of the list of an execution's runs whose paths begin like this."""
    return links.listing("runners_run", q=f"{execution_id} {prefix}".strip())
