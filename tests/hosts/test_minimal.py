"""The output of `django-admin startproject`, with the lines that the docs add.

It runs with the oldest allowed releases.
"""

import pytest

from tests.hosts import errands, scenarios, workflows
from tests.hosts.conftest import Host

pytestmark = [pytest.mark.network]


def test_its_checks_find_no_error(minimal_host: Host) -> None:
    minimal_host.project.manage("check", "--fail-level", "ERROR")


@pytest.mark.parametrize("scenario", scenarios.ALL)
def test_workflows_run(scenario: str, minimal_host: Host) -> None:
    getattr(scenarios, scenario)(minimal_host.project, minimal_host.client)


def test_tasks_of_django_tasks_run(minimal_host: Host) -> None:
    errands.run(minimal_host.project, "shop.tasks")


def test_a_module_whose_extra_is_missing_is_refused_with_what_to_install(
    minimal_host: Host,
) -> None:
    made = minimal_host.client.post("v1/Workflow/import", workflows.REQUEST)

    said = minimal_host.client.refused(f"v1/Workflow/{made['id']}/publish", {})

    assert "pip install 'valkyr[http]'" in said


def test_its_own_tasks_keep_celerys_defaults(minimal_host: Host) -> None:
    said = minimal_host.project.manage(
        "shell", "--verbosity", "0", "--command",
        "from shop.celery import app, own; "
        "print(own.acks_late, own.ignore_result, own.time_limit, app.conf.task_acks_late)",
    )  # fmt: skip

    assert said.split() == ["False", "False", "None", "False"]


def test_a_canvas_of_its_own_tasks_is_durable(minimal_host: Host) -> None:
    said = minimal_host.project.manage(
        "shell", "--verbosity", "0", "--command",
        "from celery import chain, group; from shop.celery import own; from valkyr import durable; "
        "canvas = chain(own.s(), group(own.si(), own.si())); "
        "print(durable(canvas).start().get(timeout=120))",
    )  # fmt: skip

    assert said.splitlines() == ["[1, 1]"], minimal_host.project.logs()
