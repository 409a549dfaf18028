"""A queue of threads is rejected at start-up if modules that compute would use it."""

import os
import secrets
import subprocess

import pytest

from executions.definition.limits import limits
from runners.checks import thread_queues
from tests.support.stack import PROJECT
from valkyr_project.processes import commands


@pytest.fixture
def served_by_threads(monkeypatch):
    """Yield a function that names queues in the environment; remove them after the test."""

    def name(queues):
        monkeypatch.setenv("VALKYR_THREAD_QUEUES", queues)
        limits.cache_clear()

    yield name
    monkeypatch.undo()
    limits.cache_clear()


def test_the_queue_of_modules_that_compute_cannot_be_one_of_threads(served_by_threads):
    served_by_threads("slow,default")

    [found] = thread_queues()

    assert found.id == "runners.E006"
    assert "VALKYR_THREAD_QUEUES names 'default'" in found.msg
    assert "data.csv_parse" in found.msg
    assert "Remove 'default' from it" in found.hint


@pytest.mark.parametrize("queues", ["", "io", "slow,partners"])
def test_other_queues_may_be(served_by_threads, queues):
    served_by_threads(queues)

    assert thread_queues() == []


def test_no_worker_starts_where_modules_that_compute_would_go_to_threads():
    started = commands.worker("control", commands.pool_of("control"), task_events=False)
    wrong = {"VALKYR_SECRET_KEY": secrets.token_urlsafe(60), "VALKYR_THREAD_QUEUES": "default"}

    ended = subprocess.run(
        started.command,
        cwd=PROJECT,
        env=os.environ | started.environment | wrong,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert "VALKYR_THREAD_QUEUES names 'default', the queue of modules that compute" in ended.stderr
    assert "(runners.E006)" in ended.stderr
