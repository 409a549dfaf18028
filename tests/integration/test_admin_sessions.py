"""The page of the user's own sessions lists and ends them."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from executions.models import AccountSession, Activity
from tests.support.signed_in import bearer

pytestmark = pytest.mark.django_db
LIST = "/admin/executions/accountsession/"


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> None:
    """Provide the static files that pages need."""


def person(name: str, *, superuser: bool = False) -> Any:
    return get_user_model().objects.create(username=name, is_staff=True, is_superuser=superuser)


def browser(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def newest() -> AccountSession:
    return AccountSession.objects.latest("id")


def test_somebody_sees_their_own_sessions_alone() -> None:
    ada, eve = person("ada"), person("eve")
    page = browser(ada)
    own = newest()
    browser(eve)

    answer = page.get(LIST)

    assert answer.status_code == 200
    assert [row.pk for row in answer.context["cl"].queryset] == [own.pk]
    assert page.get(f"{LIST}{newest().pk}/change/").status_code == 302
    assert page.post(f"{LIST}{newest().pk}/end/", {"reason": ""}).status_code == 403
    assert "this browser" in page.get(f"{LIST}{own.pk}/change/").content.decode()


def test_a_session_ends_from_its_page() -> None:
    ada = person("ada")
    page, elsewhere = browser(ada), browser(ada)
    other = newest()

    assert page.get(f"{LIST}{other.pk}/end/").status_code == 200
    assert elsewhere.get(LIST).status_code == 200
    page.post(f"{LIST}{other.pk}/end/", {"reason": "a lost phone", "_form_submitted": "True"})

    assert elsewhere.get(LIST).status_code == 302
    assert page.get(LIST).status_code == 200
    assert Activity.objects.get(action="session.end").reason == "a lost phone"


def test_all_other_sessions_end_from_the_list() -> None:
    ada = person("ada")
    page, elsewhere, token = browser(ada), browser(ada), bearer(ada)

    assert page.get(f"{LIST}end-others/").status_code == 200
    assert elsewhere.get(LIST).status_code == 200
    assert page.post(f"{LIST}end-others/", {"_form_submitted": "True"}).status_code == 302

    assert elsewhere.get(LIST).status_code == 302
    assert Client(headers={"Authorization": token}).get("/v1/Me").status_code == 401
    assert page.get(LIST).status_code == 200


def test_a_superuser_ends_the_session_of_somebody_else() -> None:
    stolen = browser(person("ada"))
    theirs = newest()

    browser(person("op", superuser=True)).post(
        f"{LIST}{theirs.pk}/end/", {"reason": "stolen", "_form_submitted": "True"}
    )

    assert stolen.get(LIST).status_code == 302
    line = Activity.objects.get(action="session.end")
    assert (line.actor_name, line.before["user"]) == ("op", "ada")  # type: ignore[index]


def test_the_account_menu_leads_to_one_s_sessions() -> None:
    assert LIST in browser(person("ada")).get("/admin/").content.decode()
