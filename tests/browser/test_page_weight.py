"""The files that a browser fetches for a page on a first visit."""

from typing import Any

import pytest
from django.urls import reverse

from tests.support import admin_rows as rows

# Bytes as they cross the network on a first visit, headers included; without the studio's bundle,
# which has its own budgets (tests/architecture/test_bundle.py).
BUDGET = 250_000
STUDIO = "/executions/studio/"


def fetched(page: Any, path: str) -> dict[str, int]:
    """Load a page with an empty cache; return the bytes of each file, including the page itself."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    addresses: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def began(event: Any) -> None:
        addresses[event["requestId"]] = event["request"]["url"]

    def ended(event: Any) -> None:
        # A request of the page before can end here; it began before anything was recorded.
        if (address := addresses.get(event["requestId"])) is not None:
            sizes[address.removeprefix(page.home)] = int(event["encodedDataLength"])

    session.on("Network.requestWillBeSent", began)
    session.on("Network.loadingFinished", ended)
    page.goto(f"{page.home}{path}", wait_until="networkidle")
    session.detach()
    return sizes


@pytest.fixture
def pages(transactional_db: None) -> dict[str, str]:
    """Return the pages that users open most, by name."""
    workflow = rows.workflow()
    letter = rows.failed_order(workflow)
    rows.one_of_each(workflow)
    return {
        "home": "/admin/",
        "executions": "/admin/executions/workflowexecution/",
        "an execution": reverse(
            "admin:executions_workflowexecution_change", args=[letter.execution_id]
        ),
        "failures": "/admin/dlq/failuregroup/",
        "a failure": reverse("admin:dlq_failuregroup_change", args=[letter.group_id]),
        "dead letters": "/admin/dlq/deadletterentry/",
        "a dead letter": reverse("admin:dlq_deadletterentry_change", args=[letter.pk]),
    }


@pytest.mark.own_page
def test_pages_stay_within_their_weight(pages: dict[str, str], staff_page: Any) -> None:
    heavy = {}
    for name, address in pages.items():
        sizes = fetched(staff_page, address)
        own = {file: size for file, size in sizes.items() if STUDIO not in file}
        print(f"{name}: {sum(own.values()):,} of {sum(sizes.values()):,} bytes")
        if sum(own.values()) > BUDGET:
            heavy[name] = sorted(own.items(), key=lambda one: -one[1])[:12]

    assert heavy == {}
