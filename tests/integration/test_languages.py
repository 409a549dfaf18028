"""Pages in the reader's language: German and Spanish; the API stays English."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import translation

from executions.models import Workflow
from tests.support import admin_rows as rows
from tools import messages, untranslated

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]

EXECUTIONS = "/admin/executions/workflowexecution/"
LETTERS = "/admin/dlq/deadletterentry/"
IN = pytest.mark.parametrize("language", ["de", "es"])
SAID = {
    "home": {"de": "Offene Dead Letters", "es": "Dead letters abiertas"},
    "list": {"de": "Ausführung", "es": "Ejecuciones"},
    "page": {"de": "Schritte", "es": "Pasos"},
    "letters": {"de": "Diese Ansicht speichern", "es": "Guardar esta vista"},
    "letter": {"de": "Wieder einreihen…", "es": "Reencolar…"},
    "state": {"de": "fehlgeschlagen", "es": "fallido"},
    "error": {"de": "Kein gültiges JSON", "es": "No es JSON"},
    "done": {"de": "1 abgebrochen.", "es": "1 cancelado."},
    "nothing": {"de": "Seite nicht gefunden", "es": "Página no encontrada"},
}


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def op(django_user_model: Any) -> Client:
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def text(client: Client, path: str, language: str, status: int = 200) -> str:
    answer = client.get(path, headers={"accept-language": language})
    assert answer.status_code == status
    assert answer.headers["Content-Language"] == language
    return answer.content.decode()


@IN
def test_pages_speak_the_browsers_language(workflow: Workflow, op: Client, language: str) -> None:
    letter = rows.failed_order(workflow)
    asked = {
        "home": "/admin/",
        "list": EXECUTIONS,
        "page": f"{EXECUTIONS}{letter.execution_id}/change/",
        "letters": LETTERS,
        "letter": f"{LETTERS}{letter.pk}/change/",
        "state": f"{EXECUTIONS}{letter.execution_id}/change/",
    }
    found = {name: text(op, path, language) for name, path in asked.items()}
    assert [name for name, page in found.items() if SAID[name][language] not in page] == []
    assert f'lang="{language}"' in found["home"]


@IN
def test_a_forms_error_is_in_the_readers_language(
    workflow: Workflow, op: Client, language: str
) -> None:
    letter = rows.failed_order(workflow)
    answer = op.post(
        f"{LETTERS}{letter.pk}/requeue-with/",
        {"overrides": "{broken", "_form_submitted": "True"},
        headers={"accept-language": language},
    )
    assert SAID["error"][language] in answer.content.decode()


@IN
def test_an_actions_message_is_in_the_readers_language(
    workflow: Workflow, op: Client, language: str
) -> None:
    running = rows.execution(workflow, "RUNNING")
    op.post(
        f"{EXECUTIONS}{running.pk}/cancel/",
        {"reason": "", "_form_submitted": "True"},
        headers={"accept-language": language},
    )
    assert SAID["done"][language] in text(op, EXECUTIONS, language)


@IN
def test_the_switch_outlasts_the_browsers_language(op: Client, language: str) -> None:
    op.post("/i18n/setlang/", {"language": language, "next": "/admin/"})
    answer = op.get("/admin/", headers={"accept-language": "en"})
    assert SAID["home"][language] in answer.content.decode()


@IN
def test_an_address_with_nothing_says_so_in_the_readers_language(op: Client, language: str) -> None:
    assert SAID["nothing"][language] in text(op, "/admin/nothing/here/", language, status=404)


def test_another_language_is_answered_in_english(workflow: Workflow, op: Client) -> None:
    answer = op.get(EXECUTIONS, headers={"accept-language": "fr"})
    assert answer.headers["Content-Language"] == settings.LANGUAGE_CODE == "en"
    assert "No executions yet" in answer.content.decode()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "/v1/WorkflowExecution/list", {}),
        ("get", "/v1/nothing", {}),
        ("post", "/v1/Workflow/create", {"name": 7}),
        ("post", "/v1/auth/token", {"username": ""}),
    ],
)
def test_the_api_answers_the_same_in_every_language(
    op: Client, method: str, path: str, body: dict[str, Any]
) -> None:
    def asked(language: str) -> tuple[int, bytes, str | None]:
        answer = op.generic(
            method.upper(), path, b"" if method == "get" else str(body).replace("'", '"'),
            content_type="application/json", headers={"accept-language": language},
        )  # fmt: skip
        bare = re.sub(rb'"(requestId|instance)": ?"[^"]*"', b"", answer.content)
        return answer.status_code, bare, answer.headers.get("Content-Language")

    english = asked("en")
    assert english[2] == "en"
    assert asked("de") == asked("es") == english


@IN
def test_no_language_changes_a_migration(language: str) -> None:
    with translation.override(language):
        call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_a_project_without_translation_has_english_pages(
    workflow: Workflow, op: Client, settings: Any
) -> None:
    rows.failed_order(workflow)
    settings.USE_I18N = False
    translation.trans_real  # noqa: B018 - the catalogues may be loaded; none is asked
    for name in ("gettext", "ngettext"):
        vars(translation._trans).pop(name, None)
    try:
        answer = op.get(EXECUTIONS, headers={"accept-language": "de"})
        assert "failed" in answer.content.decode()
        assert SAID["state"]["de"] not in answer.content.decode()
    finally:
        for name in ("gettext", "ngettext"):
            vars(translation._trans).pop(name, None)


def test_a_text_without_translation_is_found() -> None:
    catalogue = messages.Catalog(locale="de")
    catalogue.add("Open", "Offen")
    catalogue.add("{count} dead", "{number} tot")
    catalogue.add("Closed", "")

    assert messages.wrong(catalogue) == [
        "other values than the English text: '{count} dead'",
        "not translated: 'Closed'",
    ]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>{% translate 'Open it' %}</p>", []),
        ("{% blocktranslate %}Open {{ name }}{% endblocktranslate %}", []),
        ('<span class="material-symbols-outlined">close</span>', []),
        ("<p>Open it</p>", ["Open it"]),
        ('<a aria-label="Open it"></a>', ["Open it"]),
    ],
)
def test_words_of_a_template_that_stay_english_are_found(source: str, found: list[str]) -> None:
    assert list(untranslated.in_template(source)) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('Operation(title=lazy("Open it…"))', []),
        ('log.error("x", "Open it")', []),
        ('Operation(title="Open it…")', [(1, "Open it…")]),
        ('empty_text = "Nothing here."', [(1, "Nothing here.")]),
        ('messages.success(request, f"Saved the view {name}.")', [(1, "Saved the view .")]),
    ],
)
def test_words_in_code_that_stay_english_are_found(
    source: str, found: list[tuple[int, str]]
) -> None:
    assert list(untranslated.in_python(source)) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("// Open it.\nclose.textContent = words.hide;", []),
        ('if (event.key === "Escape") go("https://example.org");', []),
        ('icon.textContent = "sync";\nanswer.headers.get("Accept");', []),
        ('\nclose.textContent = "Hide";', [(2, "Hide")]),
        ('const said = ["A process is failing:", part];', [(1, "A process is failing:")]),
        ("say(`Saved the view ${name}.`);", [(1, "Saved the view ${name}.")]),
        ('button.setAttribute("aria-label", words?.copied ?? "Copied");', [(1, "Copied")]),
    ],
)
def test_words_of_a_script_that_stay_english_are_found(
    source: str, found: list[tuple[int, str]]
) -> None:
    assert list(untranslated.in_script(source)) == found


def test_each_catalogue_is_compiled() -> None:
    for path in Path(messages.ROOT).glob("*/locale/*/LC_MESSAGES/django.po"):
        assert path.with_suffix(".mo").read_bytes() == messages.compiled(path.read_bytes())
