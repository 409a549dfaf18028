"""The studio and an execution's page in the page's language, in a real browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import expect

from tests.browser import monitored
from tests.browser.pictures import picture
from tests.support.accessibility import findings

pytestmark = pytest.mark.browser

TASKS = [
    {"id": "fetch", "name": "Fetch order", "use": "data.set", "with": {"values": {}}},
    {"id": "risky", "name": "Risky?", "use": "flow.if", "with": {"condition": "{{ true }}"}},
]
EDGES = [{"from": "fetch", "to": "risky"}]
# By language: the texts of buttons, regions, a status and a plural.
STUDIO = {
    "de": ("Veröffentlichen…", "Zeichenfläche", "Entwurf", "gespeichert", "2 Aufgaben"),
    "es": ("Publicar…", "Lienzo", "Borrador", "guardado", "2 tareas"),
}
MONITOR = {
    "de": ("Zeitleiste", "Läufe", "Wiederholungen"),
    "es": ("Cronología", "Corridas", "Reintentos"),
}


@pytest.fixture
def in_language(staff_page: Any) -> Callable[[str], Any]:
    """Return a function that makes Django use another language on the pages of the studio and the
    monitor.

    The language is written into the page's `<html lang>`, so that only the sources under test
    determine the texts.
    """

    def speak(tag: str) -> Any:
        def answer(route: Any) -> None:
            response = route.fetch()
            body = re.sub(r'<html lang="[^"]*"', f'<html lang="{tag}"', response.text(), count=1)
            route.fulfill(response=response, body=body)

        staff_page.route(re.compile(r"/studio/([^/]+/)?(\?.*)?$|/change/(\?.*)?$"), answer)
        return staff_page

    return speak


@pytest.mark.parametrize("language", ["de", "es"])
def test_the_studio_speaks_the_language_of_its_page(
    in_language: Any, workflow: Any, language: str
) -> None:
    publish, canvas, draft, saved, tasks = STUDIO[language]
    page = in_language(language)
    asked = languages_asked(page)

    page.goto(f"{page.home}/studio/{workflow(tasks=TASKS, edges=EDGES).pk}/")

    expect(page.get_by_role("region", name=canvas, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name=publish)).to_be_visible()
    expect(page.get_by_role("status", name=draft)).to_contain_text(saved)
    expect(page.locator("html")).to_have_attribute("lang", language)
    assert asked() == [language]
    assert not cut_off(page)
    picture(page, f"studio-{language}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    picture(page, f"studio-keys-{language}")
    page.keyboard.press("Escape")
    page.get_by_role("button", name={"de": "Liste", "es": "Lista"}[language]).click()
    expect(page.get_by_role("heading", name=tasks)).to_be_visible()
    assert findings(page) == []
    picture(page, f"studio-list-{language}")


@pytest.mark.parametrize("language", ["de", "es"])
def test_the_list_of_workflows_speaks_the_language_of_its_page(
    in_language: Any, workflow: Any, language: str
) -> None:
    workflow()
    page = in_language(language)

    page.goto(f"{page.home}/studio/")

    word, ago = {"de": ("Neuer Workflow", "gerade eben"), "es": ("Nuevo flujo", "ahora mismo")}[
        language
    ]
    expect(page.get_by_role("button", name=word)).to_be_visible()
    expect(page.get_by_role("table")).to_contain_text(ago)
    assert not cut_off(page)
    picture(page, f"studio-home-{language}")


@pytest.mark.parametrize("language", ["de", "es"])
def test_an_executions_page_speaks_its_language(in_language: Any, language: str) -> None:
    timeline, runs, retries = MONITOR[language]
    execution = monitored.order()
    page = in_language(language)

    page.goto(f"{page.home}/admin/executions/workflowexecution/{execution.pk}/change/")

    expect(page.locator("#monitor")).to_have_attribute("data-ready", "yes")
    expect(page.get_by_role("region", name=timeline)).to_be_visible()
    expect(page.get_by_text(retries, exact=True)).to_be_visible()
    failed = {"de": "reserve, Versuch 2, fehlgeschlagen", "es": "reserve, intento 2, fallido"}
    page.get_by_role("table", name=runs).get_by_role("button", name=failed[language]).click()
    # Seconds with the language's own decimal sign.
    length = {"de": "15,00 s", "es": "15,00 s"}[language].replace(" ", "\u00a0")
    expect(page.get_by_text(length).first).to_be_visible()
    assert not cut_off(page)
    picture(page, f"monitor-{language}")


@pytest.mark.parametrize("language", ["de", "es"])
def test_the_language_that_the_admin_was_switched_to_is_spoken(
    staff_page: Any, workflow: Any, language: str
) -> None:
    page = staff_page
    cookie = {"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": page.home}
    page.context.add_cookies([cookie])

    page.goto(f"{page.home}/studio/{workflow(tasks=TASKS, edges=EDGES).pk}/")
    expect(page.get_by_role("button", name=STUDIO[language][0])).to_be_visible()

    execution = monitored.order()
    page.goto(f"{page.home}/admin/executions/workflowexecution/{execution.pk}/change/")
    expect(page.get_by_role("region", name=MONITOR[language][0])).to_be_visible()
    picture(page, f"monitor-switched-{language}")


def test_a_language_that_is_not_there_is_shown_in_english(in_language: Any, workflow: Any) -> None:
    page = in_language("fr-ca")
    asked = languages_asked(page)

    page.goto(f"{page.home}/studio/{workflow(tasks=TASKS).pk}/")

    expect(page.get_by_role("button", name="Publish…")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    assert asked() == []


def test_a_language_that_does_not_arrive_is_shown_in_english(
    in_language: Any, workflow: Any
) -> None:
    page = in_language("de")
    # A script that fails: the console reports nothing, unlike for a failed request.
    page.route(
        re.compile(r"/language-de-"),
        lambda route: route.fulfill(body="throw new Error();", content_type="text/javascript"),
    )

    page.goto(f"{page.home}/studio/{workflow(tasks=TASKS).pk}/")

    expect(page.get_by_role("button", name="Publish…")).to_be_visible()


def languages_asked(page: Any) -> Any:
    """Return a function that returns the languages whose chunks the page fetched."""
    found: list[str] = []

    def note(request: Any) -> None:
        match = re.search(r"/language-([a-z]+)-", request.url)
        if match:
            found.append(match[1])

    page.on("request", note)
    return lambda: found


def cut_off(page: Any) -> list[str]:
    """Return the texts of buttons, headings and labels that do not fit into their boxes."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('button, h1, h2, h3, th, dt, label, .pill, .tabs *')]
            .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1
                && getComputedStyle(one).display !== 'inline'
                && !one.closest('.unseen, .react-flow, .vm-name, .vm-axis, [hidden]'))
            .map((one) => one.textContent.trim())"""
    )
    return found
