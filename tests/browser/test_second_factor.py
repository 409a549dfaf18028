"""The second factor in a real browser, under the strict policy: set-up, code, password again."""

import re
from typing import Any

import pyotp
import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from tests.support.accessibility import findings
from tests.support.rates import forget_rates
from valkyr_plugins.mfa.models import SecondFactor

PASSWORD = "correct horse battery"
pytestmark = pytest.mark.own_page


@pytest.fixture(name="page")
def _page(quiet_page: Any) -> Any:
    forget_rates()
    get_user_model().objects.create_superuser("root", password=PASSWORD)
    return quiet_page


def sign_in(page: Any, address: str) -> None:
    page.goto(f"{page.home}{address}")
    page.locator("input[name=username]").fill("root")
    page.locator("input[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def check_looks(page: Any) -> None:
    """Nothing is missing for screen readers, or hard to see, in dark and light."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert findings(page) == []


def code_of(page: Any) -> str:
    """What an app shows that was given the key by hand; earlier codes are forgotten."""
    SecondFactor.objects.update(last_step=0)
    return pyotp.TOTP(page.secret).now()


def test_a_person_sets_up_a_factor_signs_in_with_it_and_confirms_a_password(page: Any) -> None:
    sign_in(page, "/admin/")
    page.wait_for_url(f"{page.home}/admin/")
    page.goto(f"{page.home}/mfa/")
    check_looks(page)
    page.get_by_role("button", name="Set up an authenticator app").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    page.get_by_text("Enter the key manually").click()
    page.secret = page.locator("details code").inner_text().replace(" ", "")
    check_looks(page)
    page.get_by_label("Code").fill(code_of(page))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    expect(page.locator(".codes li")).to_have_count(10)
    check_looks(page)
    page.get_by_role("link", name="I have stored the codes").click()
    page.wait_for_url(f"{page.home}/admin/")

    page.context.clear_cookies()
    sign_in(page, "/studio/")
    expect(page.get_by_role("heading", name="Enter the code")).to_be_visible()
    page.get_by_label("Code").fill("12345")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The code is wrong")
    check_looks(page)
    page.get_by_label("Code").fill(code_of(page))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{page.home}/studio/")


def test_a_dialog_that_shows_a_secret_leads_to_the_password_and_back(
    page: Any, settings: Any
) -> None:
    sign_in(page, "/admin/executions/apitoken/")
    page.wait_for_url(f"{page.home}/admin/executions/apitoken/")
    # A thousandth of a second: the sign-in is not recent any more.
    settings.VALKYR = settings.VALKYR | {"RECENT_SIGN_IN_MINUTES": 1e-5}
    page.get_by_role("link", name="New token…").click()
    expect(page.get_by_role("heading", name="Confirm your identity")).to_be_visible()
    check_looks(page)
    settings.VALKYR = settings.VALKYR | {"RECENT_SIGN_IN_MINUTES": 15}
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()

    expect(page).to_have_url(re.compile("/admin/executions/apitoken/$"))
    page.get_by_role("link", name="New token…").click()
    expect(page.locator("input[name=name]")).to_be_visible()
