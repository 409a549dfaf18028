"""Alert rules in a browser: created, tested with a real receiver, and changed; alerts and
messages.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.acting import page_action
from tests.browser.pictures import picture, picture_in_both
from tests.support import admin_rows as rows
from tests.support.accessibility import findings_in_both
from tests.support.alerts import Receiver, finding, rule
from tests.support.alerts import receiver as serving
from valkyr_plugins.alerts.lifecycle import close, notice, tell
from valkyr_plugins.alerts.models import AlertDelivery, AlertRule
from valkyr_plugins.alerts.sending import send_due

RULES = "/admin/valkyr_alerts/alertrule/"
# The framework's button in every list's search box, which Enter presses too.
SEARCH = ("#searchbar-submit",)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    with serving() as server:
        yield server


def test_a_rule_is_made_and_its_test_arrives(staff_page: Any, receiver: Receiver) -> None:
    place = rows.workspace()
    staff_page.goto(f"{staff_page.home}{RULES}")
    expect(staff_page.get_by_text("No alert rules")).to_be_visible()
    picture(staff_page, "alert-rules-none")

    staff_page.goto(f"{staff_page.home}{RULES}add/")
    staff_page.get_by_label("Workspace").select_option(label=place.name)
    staff_page.get_by_label("Name").fill("On call")
    staff_page.get_by_label("A new kind of failure").check()
    expect(staff_page.get_by_label("Multiple of the usual rate")).to_be_hidden()
    staff_page.get_by_label("Far more failures than usual").check()
    expect(staff_page.get_by_label("Multiple of the usual rate")).to_be_visible()
    expect(staff_page.get_by_label("Recipients")).to_be_visible()
    staff_page.locator("#id_channel").select_option(label="webhook")
    expect(staff_page.get_by_label("Recipients")).to_be_hidden()
    staff_page.get_by_label("Address").fill(receiver.url)
    picture(staff_page, "alert-rule-add")
    staff_page.get_by_role("button", name="Save", exact=True).click()
    expect(staff_page.get_by_text("Expected a signing secret of 16")).to_be_visible()
    picture(staff_page, "alert-rule-refused")
    staff_page.get_by_label("Secret").fill("a long secret that signs")
    staff_page.get_by_role("button", name="Save", exact=True).click()
    expect(staff_page).to_have_url(re.compile(f"{RULES}$"))
    picture(staff_page, "alert-rules")

    made = AlertRule.objects.get()
    staff_page.goto(f"{staff_page.home}{RULES}{made.pk}/change/")
    assert "a long secret" not in staff_page.content()
    picture(staff_page, "alert-rule")
    for answer, said in ((500, "The test was not delivered"), (200, "1 test delivered")):
        receiver.answers = [answer]
        page_action(staff_page, "Send a test…").click()
        dialog = staff_page.get_by_role("dialog")
        dialog.get_by_role("button", name="Send a test").click()
        expect(staff_page.get_by_text(said)).to_be_visible()
    picture(staff_page, "alert-rule-tested")
    assert [body["reason"] for body in receiver.said] == ["TEST", "TEST"]


def test_an_alert_shows_its_messages_and_one_is_sent_again(
    staff_page: Any, receiver: Receiver
) -> None:
    mine = rule(url=receiver.url, name=f"Night {rows.HOSTILE}"[:60])
    receiver.answers = [503]
    alert = notice(mine, finding(sentence=f"It broke: {rows.HOSTILE}"))
    tell(mine)
    send_due()
    over = notice(mine, finding("circuit:2"))
    tell(mine)
    send_due()
    close(mine, [over.pk])
    AlertDelivery.objects.filter(answer=503).update(state="GIVEN_UP", next_at=None)

    staff_page.goto(f"{staff_page.home}/admin/valkyr_alerts/alert/")
    expect(staff_page.get_by_text("It broke:").first).to_be_visible()
    picture(staff_page, "alerts")
    staff_page.get_by_role("link", name=re.compile("It broke")).first.click()
    expect(staff_page.get_by_text("given up").first).to_be_visible()
    picture(staff_page, "alert")
    staff_page.goto(f"{staff_page.home}/admin/valkyr_alerts/alertdelivery/")
    picture(staff_page, "alert-messages")
    given_up = AlertDelivery.objects.get(state="GIVEN_UP")
    staff_page.goto(f"{staff_page.home}/admin/valkyr_alerts/alertdelivery/{given_up.pk}/change/")
    picture(staff_page, "alert-message")
    page_action(staff_page, "Send again…").click()
    staff_page.get_by_role("dialog").get_by_role("button", name="Send again").click()
    expect(staff_page.get_by_text("1 queued")).to_be_visible()

    send_due()

    given_up.refresh_from_db()
    assert given_up.state == "SENT"
    assert alert.deliveries.count() == 1


def test_the_pages_are_accessible_and_fit_a_phone(staff_page: Any) -> None:
    mine = rule()
    alert = notice(mine, finding(sentence=f"It broke: {rows.HOSTILE * 5}"))
    tell(mine)
    message = AlertDelivery.objects.get()
    pages = {
        "alerts": "alert/",
        "alert": f"alert/{alert.pk}/change/",
        "alert-rules": "alertrule/",
        "alert-rule": f"alertrule/{mine.pk}/change/",
        "alert-rule-add": "alertrule/add/",
        "alert-messages": "alertdelivery/",
        "alert-message": f"alertdelivery/{message.pk}/change/",
    }
    found: list[str] = []
    for name, path in pages.items():
        staff_page.set_viewport_size({"width": 1440, "height": 900})
        staff_page.goto(f"{staff_page.home}/admin/valkyr_alerts/{path}")
        found += [f"{name}: {said}" for said in findings_in_both(staff_page, without=SEARCH)]
        picture_in_both(staff_page, name)
        staff_page.set_viewport_size({"width": 390, "height": 800})
        width = staff_page.evaluate("document.documentElement.scrollWidth")
        found += [f"{name}: {width} px wide"] if width > 390 else []
        picture_in_both(staff_page, f"{name}-phone")
    assert found == []
