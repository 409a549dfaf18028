"""Workflows to open in the studio, and fixtures that open them."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import Workflow
from executions.publishing import versioning
from tests.browser.one_page import FIRST_LOAD
from tests.support.workflows import ACTOR, default_workspace

Opened = Callable[..., Any]
UNMOVED = re.compile(r"translate\(0px, 0px\) scale\(1\)")


@pytest.fixture
def workflow(transactional_db: None) -> Callable[..., Workflow]:
    """Return a function that stores a draft: a definition, or its tasks and edges."""

    def store(name: str = "order", **definition: Any) -> Workflow:
        draft = {"schema": "valkyr/1", "name": name, "tasks": [], "edges": []} | definition
        return versioning.create_workflow(
            default_workspace(), name=name, definition=draft, actor=ACTOR
        )

    return store


@pytest.fixture
def studio(staff_page: Any) -> Opened:
    """Return a function that opens a workflow's editor and waits until it is shown."""

    def opened(of: Workflow, query: str = "") -> Any:
        staff_page.goto(f"{staff_page.home}/studio/{of.pk}/{query}")
        canvas = staff_page.get_by_role("region", name="Canvas", exact=True)
        expect(canvas).to_be_visible(timeout=FIRST_LOAD)
        if of.definition["tasks"]:
            # Until it is fully shown, elements still move under the mouse.
            plane = staff_page.locator(".react-flow__viewport")
            expect(plane).not_to_have_attribute("style", UNMOVED)
        return staff_page

    return opened
