"""Tests of code in workflows, in each sandbox; `test_code_escapes` tests attempts to leave it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from executions.publishing import versioning
from runners.failures.classification import Failure
from runners.modules import registry
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.bad_inputs import check_row, rows
from tests.support.code_fixtures import SANDBOXES
from tests.support.waiting import wait_until, wait_until_gone
from valkyr_plugins.connectors.code import bubblewrap
from valkyr_plugins.connectors.code.bubblewrap import python
from valkyr_plugins.connectors.code.confined import seccomp
from valkyr_plugins.connectors.code.sandbox import HOME

MakeContext = Callable[..., Context]
SYSTEM_PYTHON = Path("/usr/bin/python3")
UNNAMED = 54_321  # a user without a name on any system
ENDLESS = """
import signal
def main(inputs):
    for number in range(1, 32):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        pass
"""


def test_main_gets_the_inputs_and_gives_a_result_back(run_code: Callable[..., Any]) -> None:
    code = "import statistics\ndef main(inputs):\n    return statistics.mean(inputs['prices'])\n"

    assert run_code(code, {"prices": [1, 2, 6]}) == 3


def test_text_of_any_alphabet_goes_there_and_back(run_code: Callable[..., Any]) -> None:
    assert run_code("def main(i):\n    return i + 'ß'\n", "Grüße, 世界 \U0001f600 \ud800") == (
        "Grüße, 世界 \U0001f600 \ud800ß"
    )


def test_the_standard_library_is_there_with_its_compiled_parts(
    run_code: Callable[..., Any],
) -> None:
    code = """
import csv, decimal, hashlib, sqlite3, zoneinfo, re, datetime
def main(inputs):
    return [str(zoneinfo.ZoneInfo("Europe/Berlin")), hashlib.sha256(b"").hexdigest()[:4]]
"""
    assert run_code(code) == ["Europe/Berlin", "e3b0"]


def test_what_it_prints_is_the_run_s_log(
    run_code: Callable[..., Any], step_context: Context
) -> None:
    run_code("import sys\ndef main(i):\n    print('eins')\n    print('zwei', file=sys.stderr)\n")

    assert [entry["message"] for entry in step_context.log.entries] == ["eins", "zwei"]


def test_an_exception_is_told_with_the_lines_it_went_through(
    fail_code: Callable[..., Failure],
) -> None:
    failure = fail_code(
        "import json\ndef f(x):\n    return json.loads(x)\ndef main(i):\n    f('{')\n"
    )

    assert failure.error_type is ErrorType.PERMANENT
    assert failure.message.startswith("JSONDecodeError: Expecting property name")
    assert failure.message.endswith("(line 3, in f)")
    assert [frame["line"] for frame in failure.details["frames"]] == [5, 3]
    assert failure.details["frames"][1]["code"] == "return json.loads(x)"


def test_a_pair_of_connected_sockets_can_be_had(run_code: Callable[..., Any]) -> None:
    code = """
import socket
def main(inputs):
    one, other = socket.socketpair()
    one.sendall(b"hello")
    return other.recv(9).decode()
"""
    assert run_code(code) == "hello"


def test_a_processor_without_a_known_filter_is_refused() -> None:
    with pytest.raises(OSError, match="no filter of system calls is known for riscv64"):
        seccomp.program("riscv64")


@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        ("prints without end", "while True: print('x' * 9999)", "more than 8 MiB"),
        ("fills a file", "open('/tmp/x', 'wb').write(b'x' * 2**24)", "more than 8 MiB"),
        ("fills /tmp", "[open(f'/tmp/{n}', 'wb').write(b'x' * 2**22) for n in range(9)]", "16 MiB"),
        ("hoards", "x = []\n    while True: x.append(bytearray(2**20))", "needed more memory"),
        ("recurses", "main(inputs)", "RecursionError"),
        ("recurses past Python's limit", "sys.setrecursionlimit(2**30); repr(deep())", "SIGSEGV"),
        ("leaves", "sys.exit(3)", "called sys.exit"),
        ("closes everything", "os.closerange(0, 99)", "before main returned"),
        ("closes and dies", "os.closerange(0, 99); os._exit(0)", "exit code 0"),
        ("raises what it likes", "raise BaseException('x')", "BaseException: x"),
        ("cannot be told", "raise Untold", "its message could not be read"),
        ("returns itself", "x = []; x.append(x); return x", "cannot be written as JSON"),
        ("returns a set", "return {1}", "cannot be written as JSON"),
    ],
)
def test_code_that(fail_code: Callable[..., Failure], what: str, code: str, says: str) -> None:
    before = """
import os, sys
class Untold(Exception):
    def __str__(self): return 1
def deep():
    x = None
    for _ in range(3 * 10**5): x = [x]
    return x
def main(inputs):
"""
    failure = fail_code(f"{before}    {code}\n")

    assert says in failure.message
    assert failure.error_type is ErrorType.PERMANENT


def test_a_report_that_the_code_forged_is_but_its_result(fail_code: Callable[..., Failure]) -> None:
    forged = "import os\ndef main(i):\n    os.write(3, b'[' * 10**6)\n    os._exit(0)\n"

    assert "before main returned" in fail_code(forged).message


def test_a_loop_that_ignores_every_signal_ends_on_time(fail_code: Callable[..., Failure]) -> None:
    with ThreadPoolExecutor(1) as pool:
        failing = pool.submit(fail_code, ENDLESS, seconds=2)
        # A process that lost its parent would be a child of none of ours later.
        wait_until(lambda: len(confined_processes()) == 2, 30, "the code's process")
        started = confined_processes()
        failure = failing.result()

    assert failure.error_type is ErrorType.TIMEOUT
    assert "did not finish within 2 s" in failure.message
    wait_until_gone(started, 10)


def confined_processes() -> list[int]:
    """Return the supervisor and the code process that run now."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if any("confined.main" in word for word in process.cmdline()):
                found.append(process.pid)
    return found


def test_a_cancelled_execution_ends_its_code(
    make_context: MakeContext, fail_code: Callable[..., Failure], step_context: Context
) -> None:
    step_context.mind(cancelled=lambda: True, details=lambda told: None)

    assert "was cancelled" in fail_code(ENDLESS, seconds=60).message


WORKER = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "valkyr_project.settings"
from uuid import UUID
import django
django.setup()
from runners.segment.step_context import Context
from valkyr_plugins.connectors.code.process import run
from valkyr_plugins.connectors.code.sandbox import chosen
chosen()  # try what has to be tried
print("ready", flush=True)
context = Context(execution_id=UUID(int=1), step_path="a", attempt=1, idempotency_key="k",
                  seconds=60, variables={})
run({"code": "def main(i):\\n    while True: pass", "inputs": 0, "seconds": 60, "memoryMb": 64},
    context)
"""


def test_the_end_of_its_worker_ends_the_code(code_sandbox: str) -> None:
    command = [sys.executable, "-c", WORKER]
    with subprocess.Popen(command, cwd=HOME, stdout=subprocess.PIPE) as worker:
        here = psutil.Process(worker.pid)
        try:
            assert worker.stdout
            assert worker.stdout.readline() == b"ready\n"
            wait_until(lambda: len(here.children(recursive=True)) == 2, 60, "the code's process")
            started = [process.pid for process in here.children(recursive=True)]
        finally:
            worker.send_signal(signal.SIGKILL)

    wait_until_gone(started)


OTHER = f"""
import json, sys
sys.path.insert(0, {HOME!r})
from valkyr_plugins.connectors.code import bubblewrap
print(json.dumps([bubblewrap.failure(), bubblewrap.command()]))
"""


def as_unnamed(*command: str, given: bytes = b"") -> Any:
    """Run a program as an unprivileged user; return its JSON output."""
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
        user=UNNAMED,
        group=UNNAMED,
        extra_groups=[],
        timeout=60,
    )
    assert done.stdout, done
    return json.loads(done.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as no root already")
@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="needs a Python that everybody can read")
@pytest.mark.parametrize("name", SANDBOXES)
def test_a_worker_that_is_not_root_confines_it_as_well(name: str) -> None:
    command, home = python(str(SYSTEM_PYTHON), HOME, "main"), HOME
    if name == "bubblewrap":
        failure, command = as_unnamed(str(SYSTEM_PYTHON), "-I", "-S", "-c", OTHER)
        home = bubblewrap.HOME
        if failure:
            pytest.skip(f"bubblewrap does not work for a user without rights: {failure}")
    code = """
import os
def main(inputs):
    def tried(what):
        try:
            return what()
        except OSError as error:
            return error.errno
    return [tried(os.fork), os.getpid(), os.getuid(), os.listdir("/tmp"),
            tried(lambda: open("/x", "w")) in (13, 30)]
"""
    request = {"code": code, "inputs": 0, "seconds": 10, "memoryMb": 256, "home": home}

    done = as_unnamed(*command, given=json.dumps(request).encode())

    assert done == {"result": [11, 1, 65_534, [], True]}


def test_it_is_off_unless_somebody_turned_it_on(
    fail_code: Callable[..., Failure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_PYTHON_CODE")
    (problem,) = registry.specs()["python.code"].check({"code": "def main(i): ..."})

    assert "VALKYR_PYTHON_CODE=1" in problem.message
    assert fail_code("def main(i): ...").message == problem.message


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_an_invalid_setting_is_a_problem_of_the_definition(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"VALKYR_{language.upper()}_CODE"
    monkeypatch.setenv(name, "perhaps")
    task = {"id": "compute", "use": f"{language}.code", "with": {"code": "main"}}

    (problem,) = versioning.check({"schema": "valkyr/1", "name": "sum", "tasks": [task]})

    assert problem.code == f"{language}_code_off"
    assert f"{name} is 'perhaps'" in problem.message
    assert "An administrator must correct it" in problem.message


def test_no_value_is_rendered_into_code() -> None:
    config = {"code": "def main(i):\n    return {{ input.formula }}\n"}
    (problem,) = registry.specs()["python.code"].check(config)

    assert problem.pointer == ("code",)
    assert "can become code" in problem.message


@pytest.mark.parametrize(("module_type", "bad"), rows(types=["python.code"]))
def test_a_bad_input_is_refused(module_type: str, bad: Any, step_context: Context) -> None:
    check_row(module_type, bad, step_context)
