"""The second factor in a real browser, under the strict Content-Security-Policy: set-up, code,
password again.
"""

import re
from typing import Any

import pyotp
import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from executions.access.actor import Actor
from tests.browser.acting import page_action
from tests.support.accessibility import findings
from tests.support.passkeys import SoftPasskey
from tests.support.rates import forget_rates
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.models import Passkey, SecondFactor

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
    """Check that the page is accessible in dark and light."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert findings(page) == []


def code_of(page: Any) -> str:
    """Return the code of an authenticator app with the key; forget earlier codes."""
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
    # A thousandth of a second: the sign-in is no longer recent.
    settings.VALKYR = settings.VALKYR | {"RECENT_SIGN_IN_MINUTES": 1e-5}
    page_action(page, "New token…").click()
    expect(page.get_by_role("heading", name="Confirm your identity")).to_be_visible()
    check_looks(page)
    settings.VALKYR = settings.VALKYR | {"RECENT_SIGN_IN_MINUTES": 15}
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()

    expect(page).to_have_url(re.compile("/admin/executions/apitoken/$"))
    page_action(page, "New token…").click()
    expect(page.locator("input[name=name]")).to_be_visible()


def test_a_passkey_in_the_browser_is_added_signs_in_and_is_removed(page: Any) -> None:
    # Passkeys belong to host names, and 127.0.0.1 is not one.
    page.home = page.home.replace("127.0.0.1", "localhost")
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    asked = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    device = devices.send("WebAuthn.addVirtualAuthenticator", {"options": asked})
    device_id = {"authenticatorId": device["authenticatorId"]}
    sign_in(page, "/admin/")
    page.goto(f"{page.home}/mfa/")
    page.get_by_role("link", name="Add a passkey").click()
    check_looks(page)
    page.get_by_label("Name").fill("Ada's laptop")
    page.get_by_role("button", name="Create passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert len(devices.send("WebAuthn.getCredentials", device_id)["credentials"]) == 1

    page.context.clear_cookies()
    sign_in(page, "/studio/")
    expect(page.get_by_role("heading", name="Use a passkey")).to_be_visible()
    check_looks(page)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{page.home}/studio/")

    page.goto(f"{page.home}/mfa/")
    check_looks(page)
    page.get_by_role("link", name="Remove the passkey Ada's laptop").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Ada's laptop")).to_have_count(0)
    assert not Passkey.objects.exists()


def test_a_browser_without_the_passkey_says_so_and_takes_a_recovery_code(page: Any) -> None:
    page.home = page.home.replace("127.0.0.1", "localhost")
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    ada = get_user_model().objects.get(username="root")
    made = SoftPasskey()
    Passkey.objects.create(
        user=ada, name="elsewhere", site="localhost", credential_id=made.id,
        credential=made.attested(),
    )  # fmt: skip
    code = factors.renew_codes(ada, Actor.system("tests")).recovery_codes[0]
    asked = {"protocol": "ctap2", "transport": "internal", "automaticPresenceSimulation": True}
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": asked})
    sign_in(page, "/studio/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("The passkey was not used")
    check_looks(page)
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{page.home}/studio/")
