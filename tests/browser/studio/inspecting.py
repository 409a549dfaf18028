"""Common actions of the inspector's tests."""

from typing import Any

from playwright.sync_api import expect

from executions.models import Workflow


def details(page: Any) -> Any:
    """Return the inspector."""
    return page.get_by_role("complementary", name="Details")


def select(page: Any, path: str) -> Any:
    """Select a task on the canvas; return the inspector."""
    page.locator(f'.react-flow__node[data-id="{path}"]').click(position={"x": 60, "y": 12})
    expect(details(page).get_by_label("ID", exact=True)).to_have_value(
        path.rsplit(".", maxsplit=1)[-1]
    )
    return details(page)


def field(page: Any, key: str) -> Any:
    """Return the field with these keys of the task or the workflow, such as `with/url`."""
    return details(page).locator(f'[data-field="{key}"]')


def saved(page: Any, of: Workflow) -> dict[str, Any]:
    """Save; return the definition on the server."""
    page.get_by_role("banner").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status", name="Draft")).to_have_text("cloud_donesaved")
    definition: dict[str, Any] = Workflow.objects.get(pk=of.pk).definition
    return definition


def task(definition: dict[str, Any], task_id: str) -> dict[str, Any]:
    """Return a task of a definition, without its position on the canvas."""
    found = next(one for one in definition["tasks"] if one["id"] == task_id)
    return {key: value for key, value in found.items() if key != "ui"}
