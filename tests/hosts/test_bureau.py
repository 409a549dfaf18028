"""A project with its own conventions: see `bureau/bureau/settings.py`.

Its accounts have UUIDs as keys, e-mail addresses as names, and inherit from another model. One of
its own apps has the label `runners`. Its router puts its tables in one database and Valkyr's in
another. RabbitMQ with quorum queues carries its pickled tasks and Valkyr's. Its admin is a separate
site, in German, under a script name.
"""

import re
from pathlib import Path

import httpx
import pytest

from tests.hosts import errands, scenarios
from tests.hosts.admin import Admin
from tests.hosts.conftest import Host
from tests.hosts.project import PASSWORD

pytestmark = [pytest.mark.network]
INDEX = "/portal/de/backoffice/"
LETTER = (
    "from company.runners.tasks import letter; from bureau.queueing import app; "
    "print(letter.delay('hello').get(timeout=120), letter.serializer, letter.acks_late, "
    "letter.time_limit, letter.ignore_result)"
)
TABLES = """
from django.db import connections
for alias in ("default", "flows"):
    names = set(connections[alias].introspection.table_names())
    print(*("yes" if name in names else "no" for name in (
        "executions_workflow", "valkyr_runners_run", "runners_run", "company people")))
"""


@pytest.fixture(scope="module")
def admin(bureau_host: Host) -> Admin:
    return Admin(bureau_host.project.url, INDEX, "ann@example.org", PASSWORD)


@pytest.mark.parametrize("scenario", scenarios.ALL)
def test_workflows_run(scenario: str, bureau_host: Host) -> None:
    getattr(scenarios, scenario)(bureau_host.project, bureau_host.client)


def test_tasks_of_django_six_run(bureau_host: Host) -> None:
    project = bureau_host.project
    if not project.manage("--version").startswith("6."):
        pytest.skip("Django 6 needs Python 3.12 or newer")
    (project.folder / "bureau" / "errands.py").write_text(errands.TASKS)

    errands.run(project, "bureau.errands", "flows")


def test_a_dead_letter_goes_on_from_its_admin(bureau_host: Host, admin: Admin) -> None:
    project, client = bureau_host.project, bureau_host.client
    execution, letter = scenarios.dead_letter(project, client, "note-admin")
    page = f"{INDEX}dlq/deadletterentry/{letter}/change/"

    admin.post(
        admin.operation(page, "requeue-with"),
        overrides='{"path": "by-admin.txt"}', reason="A wrong path",
    )  # fmt: skip

    assert client.ended(execution, project.logs())["state"] == "SUCCESS"
    assert (project.folder / "files" / "by-admin.txt").exists()


def test_every_page_of_its_admin_opens_and_leads_to_pages_below_its_script_name(
    admin: Admin,
) -> None:
    seen = admin.walk("/portal/")

    for model in ("executions/workflow", "valkyr_runners/run", "runners/run", "people/person"):
        assert f"{INDEX}{model}/" in seen


def test_the_studio_is_below_the_prefix(bureau_host: Host) -> None:
    answer = httpx.get(f"{bureau_host.project.url}/portal/internal/flows/studio/", timeout=120)

    assert answer.headers["Location"].startswith("/portal/de/backoffice/login/")


def test_nobody_is_let_in_by_the_projects_own_permissions(bureau_host: Host) -> None:
    for _ in range(2):  # its throttle allows one a day
        answer = httpx.get(
            f"{bureau_host.project.url}/portal/internal/flows/v1/ModuleType", timeout=120
        )

        assert answer.status_code == 401
        assert answer.headers["Content-Type"].startswith("application/problem+json")


def test_its_own_tasks_go_where_it_sends_them(bureau_host: Host) -> None:
    said = bureau_host.project.manage("shell", "--verbosity", "0", "--command", LETTER)

    assert "['hello', 'letters']" in said
    assert said.split()[-4:] == ["pickle", "False", "30", "False"]


def test_each_database_has_its_own_tables_and_labels_are_told_apart(bureau_host: Host) -> None:
    said = bureau_host.project.manage("shell", "--verbosity", "0", "--command", TABLES)

    assert said.split("\n")[:2] == ["no no yes yes", "yes yes no yes"]


def test_its_migrations_and_ours_are_complete(bureau_host: Host) -> None:
    bureau_host.project.manage("makemigrations", "--check", "--dry-run")


def test_a_worker_of_our_queues_alone_has_a_limit_of_memory(bureau_host: Host) -> None:
    alone = {_limit(child) for child in _children(bureau_host.project.pid("flows"))}
    shared = _limit(bureau_host.project.pid("own"))

    assert alone
    assert "unlimited" not in alone
    assert shared == "unlimited"


def _children(pid: int) -> list[int]:
    found = (Path(f"/proc/{pid}/task") / str(pid) / "children").read_text().split()
    return [int(one) for one in found]


def _limit(pid: int) -> str:
    text = Path(f"/proc/{pid}/limits").read_text()
    found = re.search(r"Max address space +(\w+)", text)
    assert found
    return found[1]


MISTAKES = {
    "the label": ({"RUNS": "runners"}, 'label = "valkyr_runners"'),
    "times without zones": ({"TZ_OFF": "1"}, "USE_TZ is False"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_cannot_be_is_told_with_what_to_do(mistake: str, bureau_host: Host) -> None:
    given, told = MISTAKES[mistake]

    assert told in bureau_host.project.refused("check", **given)
