"""Counters of a prefork worker's processes are in one file per pool slot, not per process."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions.observability.metrics_access import access
from tests.support.stack import PROJECT
from valkyr_project.metrics.serving import application

COUNT = """
import os
from executions.observability import metric_values as values
from prometheus_client import generate_latest
made = values.Counter("valkyr_tried", "Tries.", ["by"])
values.share_with_children()
made.labels("parent").inc()
for _ in range(3):
    child = os.fork()
    if not child:
        values._slot = "child0"
        made.labels("child").inc(2)
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
print(len(list(values._folder.iterdir())), values._folder)
print(generate_latest(values.registry()).decode())
"""


def counted(tmp_path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_children_that_follow_each_other_count_on_in_one_file_and_leave_none(
    tmp_path: Path,
) -> None:
    said = counted(tmp_path)

    first, _, text = said.partition("\n")
    files, _, folder = first.partition(" ")
    assert int(files) == 2
    assert 'valkyr_tried_total{by="parent"} 1.0' in text
    assert 'valkyr_tried_total{by="child"} 6.0' in text
    assert not Path(folder).exists()


def test_the_folder_of_a_process_that_is_gone_is_removed_by_the_next(tmp_path: Path) -> None:
    left = Path(counted(tmp_path).partition("\n")[0].partition(" ")[2])
    gone = left.with_name("4194305")  # larger than any process id
    gone.mkdir()

    counted(tmp_path)

    assert not gone.exists()


@pytest.fixture(autouse=True)
def _read_anew() -> None:
    access.cache_clear()


def test_a_token_that_could_be_guessed_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_METRICS_TOKEN", "short")

    with pytest.raises(ImproperlyConfigured, match=r"VALKYR_METRICS_TOKEN .* expected 16"):
        access(local=True)


def test_a_network_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_METRICS_NETWORKS", "everywhere")

    with pytest.raises(ImproperlyConfigured, match="VALKYR_METRICS_NETWORKS is 'everywhere'"):
        access(local=True)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_let_in_however_its_address_is_written(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    for name in ("VALKYR_METRICS_TOKEN", "VALKYR_METRICS_NETWORKS"):
        monkeypatch.delenv(name, raising=False)

    assert access(local=True).allows("", address)
    assert not access(local=True).allows("", "198.51.100.7")
    assert not access(local=True).allows("", "")


@pytest.mark.parametrize(
    ("served_at", "status"),
    [("127.0.0.1", "200 OK"), ("localhost", "200 OK"), ("0.0.0.0", "401 Unauthorized")],
)
def test_a_worker_that_other_machines_reach_does_not_allow_its_own_machine(
    monkeypatch: pytest.MonkeyPatch, served_at: str, status: str
) -> None:
    for name in ("VALKYR_METRICS_TOKEN", "VALKYR_METRICS_NETWORKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VALKYR_METRICS_ADDRESS", served_at)
    environ = {"PATH_INFO": "/metrics", "REQUEST_METHOD": "GET", "REMOTE_ADDR": "127.0.0.1"}
    answered: list[str] = []

    application(environ, lambda told, _headers: answered.append(told))

    assert answered == [status]
