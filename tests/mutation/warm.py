"""A process with servers, a migrated database and the tests loaded, from which others are forked.

Starting all that takes ten seconds, a fork a hundredth of a second. Each fork gets a copy of the
database and runs pytest's remaining work; its leftovers are deleted with it.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

# pytest's plugins are imported before it could rewrite them.
PLAIN = (
    "-q", "-p", "no:randomly", "--tb=short", "-o", "cache_dir=.pytest_cache/d/mutation/pytest",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip
QUIET = (*PLAIN, "-x")
KEPT = Path(__file__).parents[2] / ".pytest_cache/d/migrated"


@dataclass
class Ran:
    """The result of a run of pytest in a fork."""

    code: int  # 0: all passed; -1: it did not end in time
    told: dict[str, Any]  # what it wrote down
    seconds: float
    output: str

    @property
    def first_failed(self) -> str:
        """The test that stopped the run; "" if none did."""
        return str(self.told.get("failed", ""))


class Verdict:
    """A pytest plugin that records the first test that failed."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the test if it is the first that failed; called for every phase of a test."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


class Warm:
    """The process itself; `run` forks it."""

    def __init__(self, files: Sequence[str]) -> None:
        """Start the servers, load the tests of these files, create the database."""
        import tests.conftest as here

        self._servers = here._servers
        self._stop = self._servers.stop
        self._servers.stop = lambda: None  # type: ignore[method-assign]
        here.LONGEST = ()  # the order is ours
        self._home = Path(tempfile.mkdtemp(prefix="valkyr-mutants-"))
        self._number = 0
        self._load(files)
        self._make_database()

    def run(
        self,
        tests: Sequence[str],
        prepare: Callable[[Path], None],
        *,
        seconds: float,
        options: Sequence[str] = QUIET,
        plugin: Any = None,
    ) -> Ran:
        """Run these tests in a fork, after `prepare`; the fork is ended after `seconds`."""
        self._number += 1
        database, folder = f"test_mutant_{self._number}", self._home / str(self._number)
        folder.mkdir()
        self._administer(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(database), sql.Identifier(self._template)
            )
        )
        began = time.monotonic()
        pid = os.fork()
        if not pid:
            _become(database, folder, lambda: _test(tests, prepare, folder, options, plugin))
        code = _await(pid, began + seconds)
        took = time.monotonic() - began
        told, output = _read(folder / "told.json"), (folder / "output").read_text(errors="replace")
        self._administer(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database))
        )
        shutil.rmtree(folder, ignore_errors=True)
        return Ran(code, told, took, output)

    def close(self) -> None:
        """End the servers."""
        self._stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def _load(self, files: Sequence[str]) -> None:
        usual, nowhere = (os.dup(1), os.dup(2)), self._home / "collected"
        _redirect(nowhere)
        try:
            code = pytest.main(["--collect-only", *QUIET, *files])
        finally:
            sys.stdout.flush()
            for at, kept in enumerate(usual, 1):
                os.dup2(kept, at)
                os.close(kept)
        if code:
            raise SystemExit(nowhere.read_text()[-3_000:])

    def _make_database(self) -> None:
        from django.conf import settings
        from django.db import connection, connections
        from django.test.utils import setup_databases

        from tests.support import migrated

        KEPT.mkdir(parents=True, exist_ok=True)
        settings.DATABASES["default"]["TEST"]["TEMPLATE"] = migrated.provide(KEPT)
        setup_databases(0, False, aliases={"default"})
        self._template = str(connection.settings_dict["NAME"])
        connections.close_all()

    def _administer(self, statement: sql.Composed) -> None:
        from tests.support import migrated

        with psycopg.connect(migrated._address("postgres"), autocommit=True) as server:
            server.execute(statement)


def _become(database: str, folder: Path, act: Callable[[], int]) -> None:
    """Run as the fork; this function never returns."""
    code = 70
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _redirect(folder / "output")
        from django.db import connection
        from django.test import utils

        connection.settings_dict["NAME"] = database
        from tests.support import migrated

        # pytest-django finds the existing database.
        migrated.provide = lambda _: database  # type: ignore[assignment]
        utils.setup_databases = lambda *_, **__: []  # type: ignore[assignment]
        utils.teardown_databases = lambda *_, **__: None  # type: ignore[assignment]
        code = act()
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _test(
    tests: Sequence[str],
    prepare: Callable[[Path], None],
    folder: Path,
    options: Sequence[str],
    plugin: Any,
) -> int:
    verdict = Verdict()
    prepare(folder)
    plugins = [verdict] if plugin is None else [verdict, plugin]
    code = int(pytest.main([*options, *tests], plugins=plugins))
    told = {"failed": verdict.failed, **(plugin.told() if plugin is not None else {})}
    (folder / "told.json").write_text(json.dumps(told))
    return code


def _redirect(file: Path) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    with file.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)


def _await(pid: int, until: float) -> int:
    """Return the fork's exit code; end it and its children in time, or with this process."""
    done = 0
    try:
        while time.monotonic() < until:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        return -1
    finally:
        if not done:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _read(file: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(file.read_text()))
    except (OSError, ValueError):
        return {}
