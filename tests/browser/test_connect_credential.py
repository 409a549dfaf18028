"""A user connects a credential in the browser, under the strict Content-Security-Policy."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from executions import credentials
from tests.browser.acting import page_action
from tests.support.accessibility import findings
from tests.support.issuing import IssuingServer
from tests.support.workflows import ACTOR, default_workspace


@pytest.fixture
def issuing(monkeypatch: pytest.MonkeyPatch) -> Iterator[IssuingServer]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    started = IssuingServer()
    yield started
    started.stop()


def test_a_person_connects_a_credential_and_comes_back(
    staff_page: Any, issuing: IssuingServer
) -> None:
    fields = {
        "token_url": f"{issuing.url}/token",
        "authorization_url": f"{issuing.url}/authorize",
        "client_id": "valkyr",
    }
    kept = credentials.create(
        default_workspace(), name="crm", type="oauth2", fields=fields, hosts=["*"], actor=ACTOR
    )
    staff_page.goto(f"{staff_page.home}/admin/executions/credential/{kept.pk}/change/")
    expect(staff_page.get_by_text("not connected")).to_be_visible()
    page_action(staff_page, "Connect…").click()
    expect(staff_page.get_by_text("/credentials/oauth2/callback")).to_be_visible()
    assert findings(staff_page) == []

    staff_page.get_by_role("link", name="Continue to").click()

    expect(staff_page.get_by_text("Credential crm is connected.")).to_be_visible()
    expect(staff_page.get_by_text("token expires")).to_be_visible()
    kept.refresh_from_db()
    assert "refresh_token" in kept.fields
