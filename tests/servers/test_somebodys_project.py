"""Valkyr in a project with its own Celery app, whose worker and beat run executions."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as tests_settings

from tests.support.somebodys_project import SomebodysProject, somebodys_project
from tests.support.waiting import wait_until

SCHEDULER = "CELERY_BEAT_SCHEDULER = 'django_celery_beat.schedulers:DatabaseScheduler'"
SCHEDULE = """
from django_celery_beat.models import PeriodicTask
from executions.models import CronTick, Trigger
from tests.support.workflows import publish, task
from tests.support.waiting import wait_until

if {publish}:
    publish({{"tasks": [task("a")], "triggers": [{{"type": "CRON", "schedule": "* * * * *"}}]}})
trigger = Trigger.objects.get(type="CRON")
entry = PeriodicTask.objects.filter(task="executions.fire_cron")
{action}
trigger.refresh_from_db()
print(json.dumps([trigger.enabled, CronTick.objects.count()]))
"""
OWN = """
from executions.public.configuration import own_addresses
from valkyr_plugins.connectors.messaging.broker import _is_our_own, _parsed
from valkyr_plugins.connectors.sql.database import _is_own

given = {database!r}
print(json.dumps([
    _is_own([given["HOST"]], int(given["PORT"])), _is_own(["127.0.0.1"], 1),
    _is_our_own(_parsed({broker!r})), _is_our_own(_parsed("redis://127.0.0.1:1/0")),
]))
"""
RUN = """
from tests.support.workflows import publish, start, task, wait_for_end, describe
from runners.models import Run

tasks = [
    task("begin"),
    *(task(f"part{n}", "data.set", "begin", **{"with": {"values": {"n": n}}}) for n in range(3)),
    task("join", after=["part0", "part1", "part2"], join="all"),
    task("io", "event.publish", "join", **{"with": {"event": "told", "payload": {"a": 1}}}),
    task("nap", "flow.delay", "io", **{"with": {"seconds": 1}}),
]
ids = [start(publish({"tasks": tasks})) for _ in range(3)]
found = wait_for_end(ids, 60)
print(json.dumps([sorted(found.values()), describe(ids)]))
"""
TASKS = """
from celery import current_app
from executions import messaging

app = messaging.celery_app()
app.loader.import_default_modules()
names = ("serializer", "acks_late", "reject_on_worker_lost", "time_limit", "soft_time_limit",
         "rate_limit", "ignore_result", "max_retries", "track_started")
print(json.dumps({
    "same app": app is current_app._get_current_object(),
    "ours": {n: getattr(app.tasks["runners.run_segment"], n) for n in names},
    "theirs": {n: getattr(app.tasks["shop.tasks.count"], n) for n in names},
    "settings": {
        name: app.conf[name]
        for name in ("task_acks_late", "task_serializer", "task_default_queue", "task_queues",
                     "task_annotations", "task_time_limit", "worker_prefetch_multiplier")
    },
    "routes": str(app.conf.task_routes),
    "entries": sorted(app.conf.beat_schedule),
}))
"""


@pytest.fixture(scope="module", params=["prefork, no results", "threads, results in Redis"])
def project(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SomebodysProject]:
    pool, _, results = str(request.param).partition(", ")
    broker = os.environ["REDIS_URL"].rpartition("/")[0] + "/6"
    more = f"CELERY_RESULT_BACKEND = {broker!r}\n{SCHEDULER}" if "Redis" in results else ""
    name = f"somebodys_{pool}"
    with somebodys_project(tmp_path_factory.mktemp("somebodys"), name, broker, more) as made:
        made.celery("worker", "--pool", pool, "--concurrency", "3", "--loglevel", "INFO")
        made.celery("beat", "--loglevel", "WARNING")
        yield made


def test_executions_end_by_the_projects_own_worker_and_beat(project: SomebodysProject) -> None:
    states, told = project.run(RUN)

    assert states == ["SUCCESS"] * 3, told + project.log[-3000:]


def test_the_projects_own_tasks_go_on(project: SomebodysProject) -> None:
    counted = project.folder / "counted"

    wait_until(lambda: counted.exists() and len(counted.read_text()) > 1, 30)


def test_nothing_of_the_project_is_changed(project: SomebodysProject) -> None:
    with_us = project.run(TASKS)

    celery = project.folder / "shop" / "celery.py"
    text = celery.read_text()
    celery.write_text(text.replace("valkyr.configure_celery(app)", ""))
    without_us = project.run(TASKS)
    celery.write_text(text)

    assert with_us["same app"]
    for what in ("theirs", "settings", "routes"):
        assert with_us[what] == without_us[what]
    assert set(without_us["entries"]) == {"shop: count"}
    assert {"shop: count", "valkyr: sweep", "valkyr: schedules"} <= set(with_us["entries"])


def test_the_checks_find_nothing_to_say(project: SomebodysProject) -> None:
    project.run(RUN)  # the worker and beat run

    done = project.manage("check", "--database", "default", "--tag", "valkyr")

    assert done.returncode == 0, done.stderr
    assert "valkyr.W03" not in done.stderr


def test_our_tasks_have_the_options_that_they_need(project: SomebodysProject) -> None:
    ours = project.run(TASKS)["ours"]

    assert ours["serializer"] == "json"
    assert ours["acks_late"]
    assert ours["reject_on_worker_lost"]
    assert (ours["time_limit"], ours["soft_time_limit"], ours["rate_limit"]) == (800, 0, 0)


def test_a_schedule_is_driven_by_the_projects_own_beat(project: SomebodysProject) -> None:
    if "DatabaseScheduler" not in (project.folder / "shop" / "settings.py").read_text():
        pytest.skip("this project's beat has another scheduler")
    due = "wait_until(CronTick.objects.exists, 90)"
    disabled = "entry.update(enabled=False)\nfrom django_celery_beat.models import PeriodicTasks"
    disabled += "\nPeriodicTasks.update_changed()"
    disabled += "\nwait_until(lambda: not Trigger.objects.filter(enabled=True).exists(), 30)"

    enabled, ticks = project.run(SCHEDULE.format(publish=True, action=due))
    wait_until(lambda: "executions.fire_cron" in project.whole_log, 30)
    off, _ = project.run(SCHEDULE.format(publish=False, action=disabled))

    assert enabled
    assert ticks == 1  # once, although beat sent messages and the rows were checked
    assert not off


def test_steps_reach_neither_the_projects_database_nor_its_broker(
    project: SomebodysProject,
) -> None:
    text = OWN.format(database=tests_settings.DATABASES["default"], broker=project.broker)

    assert project.run(text) == [True, False, True, False]


LATE = """
@app.on_after_finalize.connect
def add_periodic_tasks(sender, **_):
    sender.conf.beat_schedule = {}
"""
MISTAKES = {
    "valkyr.E001": ("settings", "VALKYR = {'LEASE_SECONDS': 'soon', 'QUEUE_PREFIXX': 'a.'}"),
    "valkyr.E010": ("celery", None),
    "valkyr.E011": ("settings", "CELERY_TASK_ALWAYS_EAGER = True"),
    "valkyr.E012": ("settings", "CELERY_ACCEPT_CONTENT = ['pickle']"),
    "valkyr.E013": ("settings", "CELERY_WORKER_POOL = 'gevent'"),
    "valkyr.E014": ("celery", LATE),
    "valkyr.W015": ("settings", ""),
    "runners.E002": ("settings", "CELERY_BROKER_TRANSPORT_OPTIONS = {'visibility_timeout': 60}"),
}


@pytest.fixture(scope="module")
def idle(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SomebodysProject]:
    """Create a project without running processes."""
    broker = "redis://127.0.0.1:1/0"
    folder = tmp_path_factory.mktemp("idle")
    with somebodys_project(folder, "somebodys_idle", broker) as made:
        yield made


@pytest.mark.parametrize("code", MISTAKES)
def test_a_check_names_each_mistake(idle: SomebodysProject, code: str) -> None:
    name, mistake = MISTAKES[code]
    file = idle.folder / "shop" / f"{name}.py"
    text = file.read_text()
    if mistake is None:
        file.write_text(text.replace("valkyr.configure_celery(app)", ""))
    else:
        file.write_text(f"{text}\n{mistake}\n")

    done = idle.manage("check", "--fail-level", "WARNING")

    file.write_text(text)
    assert done.returncode == 1
    assert code in done.stderr, done.stderr[-2000:]
    assert "HINT" in done.stderr


def test_what_does_not_run_is_named_with_what_to_start(idle: SomebodysProject) -> None:
    done = idle.manage(
        "check", "--database", "default", "--tag", "valkyr", "--fail-level", "WARNING"
    )

    assert done.returncode == 1
    assert "valkyr.W030" in done.stderr
    assert "No worker consumes the queue 'valkyr.io'" in done.stderr
    assert "celery -A shop worker" in done.stderr
    assert "Beat has not run yet" in done.stderr
    assert "celery -A shop beat" in done.stderr


def test_plain_checks_need_no_network(idle: SomebodysProject) -> None:
    done = idle.manage("check", "--tag", "valkyr")

    assert done.returncode == 0, done.stderr
