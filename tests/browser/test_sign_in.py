"""Sign-in through an identity provider, in a real browser under the strict
Content-Security-Policy.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from executions.models import Membership, Tier, Workspace
from tests.support.identity import Provider, running_provider
from tests.support.rates import forget_rates

# The provider's page is of another origin, so the shared page would not forget it.
pytestmark = pytest.mark.own_page


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    forget_rates()
    with running_provider() as running:
        groups = {"engineers": "default:WORKFLOW"}
        settings.VALKYR = settings.VALKYR | running.settings(roles=groups, only=True)
        yield running


def test_a_person_of_the_provider_comes_to_the_page_that_was_asked_for(
    provider: Provider, quiet_page: Any
) -> None:
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    Workspace.objects.get_or_create(slug="default", defaults={"name": "Default", "tier": tier})
    provider.person("u1", preferred_username="grace", groups=["engineers"])
    page = quiet_page
    page.goto(f"{page.home}/admin/executions/workflow/")
    assert page.locator("input[name=password]").count() == 0

    page.get_by_role("link", name="Sign in with Example ID").click()
    page.locator("input[name=sub]").fill("u1")
    page.locator("input[name=sub]").press("Enter")
    page.wait_for_url(f"{page.home}/admin/executions/workflow/")
    # This page is not ours: it loads a style sheet of another site.
    page.problems[:] = [text for text in page.problems if not text.startswith(provider.url)]

    grace = get_user_model().objects.get(username="grace")
    assert Membership.objects.get(user=grace).role == "WORKFLOW"


def test_a_superuser_finds_the_password_where_the_provider_is_the_only_way(
    provider: Provider, quiet_page: Any, django_user_model: Any
) -> None:
    django_user_model.objects.create_superuser("root", password="correct horse")
    page = quiet_page
    page.goto(f"{page.home}/admin/login/?password")

    page.locator("input[name=username]").fill("root")
    page.locator("input[name=password]").fill("correct horse")
    page.get_by_role("button", name="Log in").click()

    page.wait_for_url(f"{page.home}/admin/")
