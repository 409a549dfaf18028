"""Every page of the admin in a project with the admin at `/office/`, and Valkyr under `/flows/`."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import resolve, set_script_prefix

from executions import addresses
from runners.segment.template_data import callback_url_of
from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db
PUBLIC = "https://shop.example/site"
PLACES = ("/office/", "/flows/", "/static/")


class Links(HTMLParser):
    """Collects all URLs of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            wanted = name in {"href", "src", "action", "hx-get", "hx-post"}
            if value and (wanted or name.startswith("data-")) and value.startswith("/"):
                self.found.add(value)


@pytest.fixture
def elsewhere(settings: Any, django_user_model: Any, static_files: None) -> Client:
    """Return a client of a user who may see the whole project."""
    settings.ROOT_URLCONF = "tests.hostile.urls"
    settings.VALKYR = {"PUBLIC_URL": PUBLIC}
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    ended = rows.execution(rows.workflow(), "FAILED", error_message="it failed")
    rows.dead_letter(rows.run(ended, "charge.main"))
    return client


def test_no_page_of_the_admin_links_to_where_it_is_not(elsewhere: Client) -> None:
    pages = ["/office/"]
    for model, page in admin.site._registry.items():
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        pages.append(addresses.admin(f"{name}_changelist"))
        row = model._default_manager.first()
        if row is not None and page.has_view_permission:
            pages.append(addresses.admin(f"{name}_change", row.pk))
    assert len(pages) > 30

    links: dict[str, str] = {}
    for page in pages:
        answer = elsewhere.get(page)
        assert answer.status_code in (200, 302, 403), (page, answer.status_code)
        links |= dict.fromkeys(Links(answer.content.decode()).found, page)

    assert {link: page for link, page in links.items() if not link.startswith(PLACES)} == {}
    # The monitor adds paths to the API's root, which is not a page itself.
    for link in links.keys() - {addresses.root()}:
        if not link.startswith("/static/"):
            assert resolve(urlsplit(link).path), link


def test_what_workers_write_begins_with_the_prefix(
    settings: Any, elsewhere: Client, script_name: None
) -> None:

    callback = callback_url_of(rows.execution(rows.workflow("other")).pk, "wait.main")

    assert callback.startswith("https://shop.example/site/flows/v1/callbacks/")
    page = addresses.page("dlq_failuregroup", workflow=7)
    assert addresses.public_page(page) == (
        "https://shop.example/site/office/dlq/failuregroup/?workflow=7"
    )


@pytest.fixture
def script_name() -> Iterator[None]:
    """Set the script prefix, as servers do for each request."""
    set_script_prefix("/site/")
    yield
    set_script_prefix("/")


def test_behind_a_script_name_addresses_begin_with_it(
    settings: Any, elsewhere: Client, script_name: None
) -> None:

    answer = elsewhere.get("/flows/studio/").content.decode()

    assert 'data-api="/site/flows/"' in answer
    assert 'data-admin="/site/office/"' in answer
    server = elsewhere.get("/flows/v1/schema", headers={"Accept": "application/json"}).json()[
        "servers"
    ][0]["url"]
    assert server == f"{PUBLIC}/flows"
