"""The tests' own servers and settings, set before anything imports Django's settings."""

import argparse
import atexit
import base64
import gc
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
import hypothesis
import pytest
from django.apps import apps
from django.conf import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from executions import configuration
from tests.support import left_out, long_tests, static_files
from tests.support.servers import TestServers

# The duration of an example shows how busy the machine is, and nothing about the code.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# Tests that start and kill their own stacks and workers, and wait for them: a machine that is busy
# with computing tests would disturb their timing. `.ci/test` runs them after the others.
STARTING = (
    "tests/browser/studio/journeys/",
    "tests/browser/test_desk.py",
    "tests/browser/test_thousand_failures.py",
    "tests/cli/",
    "tests/faults/",
    "tests/hosts/",
    "tests/integration/test_benchmarks.py",
    "tests/integration/test_embedded_servers.py",
    "tests/integration/test_flower_events.py",
    "tests/integration/test_secret_canary.py",
    "tests/integration/test_up.py",
    "tests/integration/test_walkthrough.py",
    "tests/plugins/canvas/workers/",
    "tests/plugins/mcp/workers/",
    "tests/plugins/python_workflows/workers/",
    "tests/plugins/task_backend/workers/",
    "tests/plugins/telemetry/traces/",
    "tests/projects/",
    "tests/servers/",
)

# Files that share an expensive fixture, such as a whole stack, belong to one worker. So do those
# that expect a step to be blamed, and the one that runs the OOM killer: for some time after it
# ended anything on this machine, the engine blames no step.
TOGETHER = (
    (
        "tests/faults/test_blame.py", "tests/faults/test_isolated_steps.py",
        "tests/faults/test_killed_processes.py", "tests/faults/test_out_of_memory.py",
        "tests/faults/test_stalls.py",
    ),
    ("tests/browser/test_desk.py", "tests/browser/studio/journeys/"),
    (
        "tests/cli/test_connecting.py", "tests/cli/test_dead_letters.py",
        "tests/cli/test_definitions.py", "tests/cli/test_local.py", "tests/cli/test_output.py",
        "tests/cli/test_running.py",
    ),
    ("tests/projects/test_own_accounts.py", "tests/projects/test_plain_admin.py"),
    (
        "tests/hosts/test_bureau.py", "tests/hosts/test_minimal.py",
        "tests/hosts/test_what_beat_starts.py",
    ),
)  # fmt: skip

# A random UUID; those in tests begin with zeros.
RANDOM = re.compile("(?!0{8})[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

# One file is one worker's: what takes longest begins first, in this order, or all wait for it in
# the end. Of those that start processes, a folder's files stand together: each of pytest's workers
# that comes to a folder makes its database, servers and workers, and again if it comes back. Most
# of tests/faults are short, so they fill up the end.
LONGEST = (
    "tests/browser/test_admin_pages.py",
    "tests/fuzz/",
    "tests/property/test_engine.py",
    "tests/live/test_many.py",
    "tests/browser/test_monitor.py",
    "tests/browser/test_admin_operations.py",
    "tests/faults/test_blame.py",
    "tests/hosts/",
    "tests/integration/test_walkthrough.py",
    "tests/browser/studio/journeys/",
    "tests/browser/test_desk.py",
    "tests/browser/test_thousand_failures.py",
    "tests/integration/test_up.py",
    "tests/integration/test_benchmarks.py",
    "tests/cli/",
    "tests/projects/",
    "tests/servers/test_somebodys_project.py",
    "tests/servers/test_upgrade.py",
    "tests/servers/test_drain.py",
    "tests/servers/test_rabbitmq.py",
    "tests/servers/",
    "tests/plugins/telemetry/traces/",
    "tests/integration/test_embedded_servers.py",
    "tests/integration/test_flower_events.py",
    "tests/integration/test_secret_canary.py",
    "tests/faults/test_random_kills.py",
    "tests/faults/test_redis_lost.py",
    "tests/faults/test_real_graphs_of_items.py",
    "tests/faults/test_real_graphs.py",
    "tests/faults/test_restore.py",
    "tests/faults/test_remote_runners.py",
    "tests/faults/test_deployed_tree.py",
    "tests/faults/test_alerts.py",
    "tests/faults/test_stuck_steps.py",
    "tests/faults/test_signs_of_life.py",
    "tests/faults/test_connections_cut.py",
    "tests/faults/test_replica.py",
)


def _shares_out() -> bool:
    """Return whether this process only distributes tests to others (`-n`), which have their own
    servers.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-n", "--numprocesses", default="0")
    asked, _ = parser.parse_known_args(sys.argv[1:])
    return asked.numprocesses != "0" and "PYTEST_XDIST_WORKER" not in os.environ


def _prepare() -> TestServers:
    """Set every setting on which tests depend, without the caller's environment."""
    for name in [name for name in os.environ if name.startswith(("CELERY_", "VALKYR_KEY_"))]:
        del os.environ[name]
    servers = TestServers()
    atexit.register(servers.stop)
    if _shares_out():
        os.environ["DATABASE_URL"] = "postgres://nobody@127.0.0.1:1/none"
        os.environ["REDIS_URL"] = "redis://127.0.0.1:1/0"
    else:
        # Half of the time of collecting was spent on garbage collection of objects that stay.
        gc.disable()
        servers.start()
    if left_out.ASKED:
        left_out.forbid()
    os.environ["DJANGO_SETTINGS_MODULE"] = "valkyr_project.settings"
    os.environ["VALKYR_SECRET_KEY"] = "tests-" + "0123456789abcdef" * 4
    os.environ["VALKYR_KEY_PREFIX"] = "valkyr-tests:"
    if not left_out.ASKED:
        os.environ["VALKYR_REMOTE_QUEUES"] = "remote,gpu"
    os.environ["VALKYR_PYTHON_CODE"] = "1"
    os.environ["VALKYR_JAVASCRIPT_CODE"] = "1"
    os.environ["VALKYR_KEY"] = base64.b64encode(b"k" * 32).decode()
    static_files.choose_root()
    django.setup()
    _be_patient()
    settings.PASSWORD_HASHERS = ["tests.support.passwords.QuickHasher"]
    from tests.support import emptying, rendered

    emptying.install()
    rendered.install()
    if _shares_out():
        # Those who run the tests inherit the environment, and must not find Django set up by it.
        del os.environ["DJANGO_SETTINGS_MODULE"]
    return servers


def _be_patient() -> None:
    """Let transactions of this process be idle for 50 s, and wait 30 s for a lock.

    A test is one transaction, even if it computes for long, and fifty threads that race for one row
    wait for all the others. The engine's limits are for frozen clients and locked rows; processes
    that tests start use the engine's limits.
    """
    options = settings.DATABASES["default"]["OPTIONS"]
    for limit in ("idle_in_transaction_session_timeout=5000", "lock_timeout=3000"):
        assert limit in options["options"]
        options["options"] = options["options"].replace(limit, f"{limit}0")


# At import, not in a hook: conftest files further down import models at their top.
_servers = _prepare()


class EnvironmentPatch(pytest.MonkeyPatch):
    """Settings are read once; a variable that a test sets in the environment is read again."""

    def setenv(self, name: str, value: str, prepend: str | None = None) -> None:
        super().setenv(name, value, prepend)
        configuration.forget()

    def delenv(self, name: str, raising: bool = True) -> None:
        super().delenv(name, raising)
        configuration.forget()

    def undo(self) -> None:
        super().undo()
        configuration.forget()


@pytest.fixture
def monkeypatch() -> Iterator[pytest.MonkeyPatch]:
    """Replace pytest's fixture for tests that set variables too."""
    patch = EnvironmentPatch()
    yield patch
    patch.undo()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option that runs one half of the tests; the others are not even imported."""
    parser.addoption(
        "--which",
        choices=("computing", "starting"),
        help="Only those that compute, or only those that start processes of their own.",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of the other half, and of excluded plugins."""
    which = config.getoption("--which")
    if not collection_path.is_file():
        return None
    if left_out.ASKED and left_out.needed_by(collection_path):
        return True
    if which is None:
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    return True if name.startswith(STARTING) == (which == "computing") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; reject test names that change from run to run."""
    long_tests.mark(items)
    if changing := next((item.nodeid for item in items if RANDOM.search(item.nodeid)), None):
        raise pytest.UsageError(
            f"{changing}: the name of a test holds a random UUID. Workers that share the tests "
            "compare their names: parametrize with constants."
        )
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """Return the position of a test's file among the longest ones, or after all of them."""
    turns = (turn for turn, name in enumerate(LONGEST) if item.nodeid.startswith(name))
    return next(turns, len(LONGEST))


def pytest_collection_finish() -> None:
    """Collect garbage from now on, without the tests themselves.

    Collect seldom: with Python's own thresholds it takes a twelfth of the time of a request.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a long test whose time is over, before its fixtures are set up."""
    long_tests.skip_late(item)


class OneWorkersFiles(LoadFileScheduling):
    """Each file belongs to one worker, and so do all files of one entry of `TOGETHER`."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the key of tests that must stay together."""
        together = (files[0] for files in TOGETHER if nodeid.startswith(files))
        return next(together, super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Keep tests that share a stack together, in the process that distributes tests by file."""
    return OneWorkersFiles(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_configure(config: pytest.Config) -> None:
    """Keep the pages' static files for later sessions, next to pytest's cache."""
    if config.cache is not None:
        static_files.keep_in(config.cache.mkdir("static"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers when the last test is done."""
    _servers.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_blocker: Any, pytestconfig: pytest.Config
) -> None:
    """Make the test database a copy of a migrated one, if the tests use their own server."""
    if not _servers.own_database or pytestconfig.cache is None:
        return
    from tests.support import migrated

    with django_db_blocker.unblock():
        template = migrated.provide(pytestconfig.cache.mkdir("migrated"))
    settings.DATABASES["default"]["TEST"]["TEMPLATE"] = template


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Provide the test database; end sessions that outlive the tests, so that it can be dropped.

    Threads that live as long as their process, such as the heartbeat's, keep their own connections:
    whether one was opened depends on how long a step took.
    """
    yield
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="module", name="kept_world")
def _kept_world(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """Open a transaction with the rows that a module's tests share; see
    `tests/support/kept_world.py`.
    """
    from tests.support import kept_world

    kept_world.refuse_commits([i for i in request.session.items if request.node in i.listchain()])
    with django_db_blocker.unblock(), kept_world.rolled_back():
        yield


@pytest.fixture(scope="module", name="row_level_security")
def _row_level_security(kept_world: None) -> Iterator[None]:
    """Apply the setting, its policies, and this thread's connection, within shared rows."""
    from tests.support import limited_rows

    with limited_rows.enabled():
        yield


@pytest.fixture(scope="session", name="static_files")
def _static_files() -> None:
    """Collect the pages' static files as in production; pages need them."""
    static_files.collect()
    static_files.list_once()
    static_files.read_again()


@pytest.fixture(scope="session", autouse=True)
def steps_of_tests_are_no_modules() -> Iterator[None]:
    """Keep the steps that tests declare out of the workflows of other tests.

    Publishing from code registers the steps that the process has declared, and a test may run
    `migrate`.
    """
    if not apps.is_installed("valkyr_plugins.python_workflows"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("valkyr_plugins.python_workflows.discovery.DECORATED", [])
        yield
