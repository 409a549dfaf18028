"""Code that workflows bring along: it works, and whatever it tries, it stays where it is."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from runners.failures.classification import Failure, classify
from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.bad_inputs import check_row, rows
from tests.support.waiting import wait_until, wait_until_gone
from valkyr_plugins.connectors.code.confined import seccomp
from valkyr_plugins.connectors.code.process import HOME, START

MakeContext = Callable[..., Context]
SYSTEM_PYTHON = Path("/usr/bin/python3")
UNNAMED = 54_321  # a user that no system has by name
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


@pytest.fixture
def run(step_context: Context) -> Callable[..., Any]:
    """What `main` gave back."""

    def run(code: str, inputs: Any = None, **more: Any) -> Any:
        result = registry.get("python.code").run({"code": code, "inputs": inputs, **more},
                                                 step_context)  # fmt: skip
        assert isinstance(result, Result)
        return result.outputs["result"]

    return run


@pytest.fixture
def fail(run: Callable[..., Any]) -> Callable[..., Failure]:
    """How a run failed."""

    def fail(code: str, **more: Any) -> Failure:
        with pytest.raises(StepError) as caught:
            run(code, **more)
        return classify(caught.value)

    return fail


def test_main_gets_the_inputs_and_gives_a_result_back(run: Callable[..., Any]) -> None:
    code = "import statistics\ndef main(inputs):\n    return statistics.mean(inputs['prices'])\n"

    assert run(code, {"prices": [1, 2, 6]}) == 3


def test_text_of_any_alphabet_goes_there_and_back(run: Callable[..., Any]) -> None:
    assert run("def main(i):\n    return i + 'ß'\n", "Grüße, 世界 \U0001f600 \ud800") == (
        "Grüße, 世界 \U0001f600 \ud800ß"
    )


def test_the_standard_library_is_there_with_its_compiled_parts(run: Callable[..., Any]) -> None:
    code = """
import csv, decimal, hashlib, sqlite3, zoneinfo, re, datetime
def main(inputs):
    return [str(zoneinfo.ZoneInfo("Europe/Berlin")), hashlib.sha256(b"").hexdigest()[:4]]
"""
    assert run(code) == ["Europe/Berlin", "e3b0"]


def test_what_it_prints_is_the_run_s_log(run: Callable[..., Any], step_context: Context) -> None:
    run("import sys\ndef main(i):\n    print('eins')\n    print('zwei', file=sys.stderr)\n")

    assert [entry["message"] for entry in step_context.log.entries] == ["eins", "zwei"]


def test_an_exception_is_told_with_the_lines_it_went_through(fail: Callable[..., Failure]) -> None:
    failure = fail("import json\ndef f(x):\n    return json.loads(x)\ndef main(i):\n    f('{')\n")

    assert failure.error_type is ErrorType.PERMANENT
    assert failure.message.startswith("JSONDecodeError: Expecting property name")
    assert failure.message.endswith("(line 3, in f)")
    assert [frame["line"] for frame in failure.details["frames"]] == [5, 3]
    assert failure.details["frames"][1]["code"] == "return json.loads(x)"


def test_it_has_no_environment_and_no_files_but_pythons(run: Callable[..., Any]) -> None:
    code = """
import os
def main(inputs):
    return [sorted(os.environ), os.listdir("/tmp"), os.getcwd(), os.path.exists("/proc"),
            os.path.exists("/etc"), os.path.exists(inputs), os.getpid()]
"""
    # LC_CTYPE is Python's own, which takes UTF-8 where nobody says otherwise.
    assert run(code, HOME) == [["LC_CTYPE"], [], "/tmp", False, False, False, 1]


@pytest.mark.parametrize("who", ["os.getppid()", "1", "'self'", "inputs"])
def test_the_worker_s_environment_is_out_of_reach(fail: Callable[..., Failure], who: str) -> None:
    code = f"import os\ndef main(inputs):\n    open('/proc/%s/environ' % {who}).read()\n"

    assert "FileNotFoundError" in fail(code, inputs=os.getpid()).message


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("a process", "os.fork()"),
        ("a program", "__import__('subprocess').run([sys.executable])"),
        ("a thread", "__import__('threading').Thread(target=print).start()"),
        ("a TCP connection", "socket.create_connection(('127.0.0.1', inputs))"),
        ("a datagram", "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))"),
        ("a name", "socket.create_connection(('localhost', inputs))"),
        ("a file outside /tmp", "open('/usr/lib/x', 'w')"),
        ("a file at the top", "open('/x', 'w')"),
        ("a device", "os.mknod('/tmp/x', 0o60600, 0x0800)"),
        ("a signal to others", "os.kill(inputs, 9)"),
        ("being root", "os.setuid(0)"),
        ("another root", "os.chroot('/tmp')"),
        ("many open files", "[open('/tmp/x', 'w') for _ in range(100)].clear()"),
    ],
)
def test_it_cannot_have(fail: Callable[..., Failure], what: str, code: str) -> None:
    failure = fail(
        f"import os, socket, sys\ndef main(inputs):\n    kept = {code}\n", inputs=os.getpid()
    )

    assert failure.error_type is ErrorType.PERMANENT
    kinds = ("Error: [Errno", "RuntimeError: can't start new thread", "gaierror")
    assert any(kind in failure.message for kind in kinds), failure.message


@pytest.mark.parametrize(
    "family",
    ["AF_INET", "AF_INET6", "AF_VSOCK", "AF_NETLINK", "AF_PACKET", "AF_ALG", "AF_CAN", "AF_TIPC"],
)
def test_it_opens_no_socket_but_those_of_one_machine(
    fail: Callable[..., Failure], family: str
) -> None:
    code = f"import socket\ndef main(i):\n    socket.socket(socket.{family}, socket.SOCK_DGRAM)\n"

    assert f"OSError: [Errno {errno.EAFNOSUPPORT}]" in fail(code).message


def test_a_pair_of_connected_sockets_can_be_had(run: Callable[..., Any]) -> None:
    code = """
import socket
def main(inputs):
    one, other = socket.socketpair()
    one.sendall(b"hello")
    return other.recv(9).decode()
"""
    assert run(code) == "hello"


@pytest.mark.skipif(os.uname().machine not in seccomp.ARCHITECTURES, reason="no filter for it")
def test_every_refused_system_call_fails_as_the_filter_says(run: Callable[..., Any]) -> None:
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def main(numbers):
    found = {}
    for name, number in numbers.items():
        ctypes.set_errno(0)
        # No argument is valid, so a call that were let through would do nothing.
        libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
        found[name] = ctypes.get_errno()
    return found
"""
    _, numbers = seccomp.ARCHITECTURES[os.uname().machine]
    expected = {name: seccomp.ERRORS.get(name, errno.EPERM) for name in numbers}
    expected |= dict.fromkeys(seccomp.SOCKETS, errno.EAFNOSUPPORT)
    expected |= {"newer than known": errno.ENOSYS, "of x32": errno.ENOSYS}
    asked = {**numbers, "newer than known": seccomp.NEWEST + 1, "of x32": 0x4000_0000 | 41}

    assert run(code, asked) == expected


def test_a_processor_without_a_known_filter_is_refused() -> None:
    with pytest.raises(OSError, match="no filter of system calls is known for riscv64"):
        seccomp.program("riscv64")


def test_no_system_call_gives_back_what_was_taken(run: Callable[..., Any]) -> None:
    code = """
import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
def main(inputs):
    taken = [libc.mount(b"proc", b"/tmp", b"proc", 0, None), libc.umount2(b"/", 2)]
    taken.append(libc.ptrace(16, inputs, None, None))
    for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
        try:
            resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)
            taken.append(0)
        except (OSError, ValueError):
            taken.append(-1)
    return taken
"""
    assert run(code, os.getpid()) == [-1] * 6


@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        ("prints without end", "while True: print('x' * 9999)", "more than 8 MiB"),
        ("fills a file", "open('/tmp/x', 'wb').write(b'x' * 2**24)", "more than 8 MiB"),
        ("fills /tmp", "[open(f'/tmp/{n}', 'wb').write(b'x' * 2**22) for n in range(9)]", "16 MiB"),
        ("hoards", "x = []\n    while True: x.append(bytearray(2**20))", "asked for more memory"),
        ("recurses", "main(inputs)", "RecursionError"),
        ("recurses past Python's limit", "sys.setrecursionlimit(2**30); repr(deep())", "SIGSEGV"),
        ("leaves", "sys.exit(3)", "ended itself by sys.exit"),
        ("closes everything", "os.closerange(0, 99)", "before main gave anything back"),
        ("closes and dies", "os.closerange(0, 99); os._exit(0)", "exit code 0"),
        ("raises what it likes", "raise BaseException('x')", "BaseException: x"),
        ("cannot be told", "raise Untold", "its message could not be read"),
        ("returns itself", "x = []; x.append(x); return x", "cannot be written as JSON"),
        ("returns a set", "return {1}", "cannot be written as JSON"),
    ],
)
def test_code_that(fail: Callable[..., Failure], what: str, code: str, says: str) -> None:
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
    failure = fail(f"{before}    {code}\n")

    assert says in failure.message
    assert failure.error_type is ErrorType.PERMANENT


def test_a_report_that_the_code_forged_is_but_its_result(fail: Callable[..., Failure]) -> None:
    forged = "import os\ndef main(i):\n    os.write(3, b'[' * 10**6)\n    os._exit(0)\n"

    assert "before main gave anything back" in fail(forged).message


def test_a_loop_that_ignores_every_signal_ends_on_time(fail: Callable[..., Failure]) -> None:
    failure = fail(ENDLESS, seconds=0.5)

    assert failure.error_type is ErrorType.TIMEOUT
    assert "not done after 0.5 s" in failure.message
    assert [p for p in psutil.Process().children(recursive=True) if START in cmd(p)] == []


def cmd(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:
        return []


def test_a_cancelled_execution_ends_its_code(
    make_context: MakeContext, fail: Callable[..., Failure], step_context: Context
) -> None:
    step_context.mind(cancelled=lambda: True, details=lambda told: None)

    assert "was cancelled" in fail(ENDLESS, seconds=60).message


WORKER = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "valkyr_project.settings"
from uuid import UUID
import django
django.setup()
from runners.segment.step_context import Context
from valkyr_plugins.connectors.code.process import run
context = Context(execution_id=UUID(int=1), step_path="a", attempt=1, idempotency_key="k",
                  seconds=60, variables={})
run({"code": "def main(i):\\n    while True: pass", "inputs": 0, "seconds": 60, "memoryMb": 64},
    context)
"""


def test_the_end_of_its_worker_ends_the_code() -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=HOME)
    here = psutil.Process(worker.pid)
    try:
        wait_until(lambda: len(here.children(recursive=True)) == 2, 60, "the code's process")
        started = [process.pid for process in here.children(recursive=True)]
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    wait_until_gone(started)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as no root already")
@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="needs a Python that everybody can read")
def test_a_worker_that_is_not_root_confines_it_as_well() -> None:
    code = """
import os
def main(inputs):
    def tried(what):
        try:
            return what()
        except OSError as error:
            return error.errno
    return [tried(os.fork), os.getpid(), os.listdir("/tmp"), tried(lambda: open("/x", "w"))]
"""
    request = {"code": code, "inputs": 0, "seconds": 10, "memoryMb": 256, "home": HOME}

    done = subprocess.run(
        [SYSTEM_PYTHON, "-I", "-S", "-c", START],
        input=json.dumps(request).encode(),
        capture_output=True,
        check=False,
        env={},
        user=UNNAMED,
        group=UNNAMED,
        extra_groups=[],
        timeout=60,
    )

    assert json.loads(done.stdout) == {"result": [11, 1, [], 13]}, done


def test_it_is_off_unless_somebody_turned_it_on(
    fail: Callable[..., Failure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_PYTHON_CODE")
    (problem,) = registry.specs()["python.code"].check({"code": "def main(i): ..."})

    assert "VALKYR_PYTHON_CODE=1" in problem.message
    assert fail("def main(i): ...").message == problem.message


def test_no_value_is_rendered_into_code() -> None:
    config = {"code": "def main(i):\n    return {{ input.formula }}\n"}
    (problem,) = registry.specs()["python.code"].check(config)

    assert problem.pointer == ("code",)
    assert "can become code" in problem.message


@pytest.mark.parametrize(("module_type", "bad"), rows(types=["python.code"]))
def test_a_bad_input_is_refused(module_type: str, bad: Any, step_context: Context) -> None:
    check_row(module_type, bad, step_context)
