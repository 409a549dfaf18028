"""Attempts to leave the sandbox of `python.code`, each in each sandbox.

Every attempt is made with a real target outside: a process, a server, a file with a secret.
"""

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from runners.failures.classification import Failure
from runners.states import ErrorType
from valkyr_plugins.connectors.code.confined import seccomp
from valkyr_plugins.connectors.code.sandbox import HOME

SECRET = "VALKYR_SECRET_OF_THE_WORKER"
TRY = """
import ctypes, errno, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(what, *given):
    '''The error's number, or what came of it.'''
    try:
        return what(*given)
    except OSError as error:
        return errno.errorcode[error.errno]
def called(name, *given):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*given)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else result
def main(inputs):
"""


@pytest.fixture
def attempt(run_code: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs `main` with this body, which may use `tried` and `called`."""

    def attempt(body: str, inputs: Any = None, **more: Any) -> Any:
        return run_code(TRY + body, inputs, **more)

    return attempt


@pytest.fixture
def neighbour() -> Iterator[int]:
    """Run a process of the worker's account, which must outlive every attempt."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    process = subprocess.Popen(command, env={SECRET: "1"}, start_new_session=True)
    yield process.pid
    assert process.poll() is None, "the code ended another process"
    process.kill()
    process.wait()


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    """Create a file of the worker's account with a secret."""
    path = tmp_path / "secret"
    path.write_text(SECRET)
    return path


def test_it_has_no_environment_and_no_files_but_pythons(run_code: Callable[..., Any]) -> None:
    code = """
import os
def main(inputs):
    return [sorted(os.environ), os.listdir("/tmp"), os.getcwd(), os.path.exists("/proc"),
            os.path.exists("/etc"), os.path.exists(inputs), os.getpid(), os.uname().nodename]
"""
    # LC_CTYPE is Python's own, which uses UTF-8 by default.
    assert run_code(code, HOME) == [["LC_CTYPE"], [], "/tmp", False, False, False, 1, "code"]


def test_the_view_holds_no_file_of_the_project_or_its_packages(
    attempt: Callable[..., Any], secret_file: Path
) -> None:
    top, packages = attempt(
        """
    import glob
    places = [os.path.dirname(os.__file__), "/usr/lib/python3*", "/usr/lib64/python3*"]
    return [os.listdir("/"), [f for p in places for f in glob.glob(f"{p}/*-packages/*")]]
"""
    )
    assert set(top) <= {"lib", "lib64", "tmp", "usr", "valkyr", Path(sys.base_prefix).parts[1]}
    assert packages == []

    names = ["manage.py", "valkyr_project/settings.py", "valkyr_plugins/connectors/conf.py"]
    wanted = [str(Path(HOME) / name) for name in names]
    wanted += [f"/valkyr/{name}" for name in names]
    wanted += [str(secret_file), "/etc/passwd", "/etc/shadow", str(Path.home() / ".ssh")]
    found = attempt("    return [tried(open, path) for path in inputs]\n", wanted)
    assert found == ["ENOENT"] * len(wanted)


@pytest.mark.parametrize("who", ["os.getppid()", "1", "'self'", "inputs"])
def test_the_environment_of_others_is_out_of_reach(
    fail_code: Callable[..., Failure], neighbour: int, who: str
) -> None:
    code = f"import os\ndef main(inputs):\n    open('/proc/%s/environ' % {who}).read()\n"

    assert "FileNotFoundError" in fail_code(code, inputs=neighbour).message


def test_no_proc_and_no_root_of_others_can_be_mounted(
    attempt: Callable[..., Any], neighbour: int
) -> None:
    found = attempt(
        """
    return [
        called("mount", b"proc", b"/tmp", b"proc", 0, None),
        called("mount", b"/usr", b"/tmp", None, 4096, None),
        called("mount", b"none", b"/usr", None, 32, None),
        called("umount2", b"/tmp", 2),
        called("umount2", b"/", 2),
        called("unshare", 0x10000000),
        called("unshare", 0x00020000),
        called("setns", 0, 0),
        called("syscall", 155, b"/tmp", b"/tmp"),
        called("chroot", b"/tmp"),
        called("syscall", 428, -100, b"/", 1),
        called("syscall", 430, b"proc", 0),
    ]
"""
    )
    assert found == ["EPERM"] * 12


def test_no_other_process_can_be_traced_or_read(
    attempt: Callable[..., Any], neighbour: int
) -> None:
    found = attempt(
        """
    return [
        *(called("ptrace", 16, pid, None, None) for pid in (inputs, os.getppid(), 1)),
        called("ptrace", 0, 0, None, None),
        *(called("syscall", number, inputs, 0, 0, 0, 0, 0) for number in (310, 311, 312, 434)),
        called("syscall", 438, 0, 0, 0),
    ]
""",
        neighbour,
    )
    assert found == ["EPERM"] * 9


def test_no_signal_reaches_another_process(attempt: Callable[..., Any], neighbour: int) -> None:
    found = attempt(
        """
    number = signal.SIGKILL
    return [
        *(tried(os.kill, pid, number) for pid in (inputs, inputs + 1, -1, -inputs)),
        tried(os.killpg, inputs, number),
        os.getppid(),
        called("syscall", 424, 0, number, None, 0),
    ]
""",
        neighbour,
    )
    assert found == ["ESRCH"] * 5 + [0, "EPERM"]


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("a process", "os.fork()"),
        ("a bomb", "[os.fork() for _ in iter(int, 1)]"),
        ("a spawned process", "os.posix_spawn(sys.executable, [sys.executable], {})"),
        ("a program", "__import__('subprocess').run([sys.executable])"),
        ("another program", "os.execv(sys.executable, [sys.executable])"),
        ("a thread", "__import__('threading').Thread(target=print).start()"),
        ("many open files", "[open('/tmp/x', 'w') for _ in range(100)].clear()"),
        ("many files", "[open(f'/tmp/{n}', 'w').close() for n in range(2000)]"),
        ("a mapping of 1 GiB", "__import__('mmap').mmap(-1, 2**30)"),
        ("a device", "os.mknod('/tmp/x', 0o60600, 0x0800)"),
        ("a socket with a name", "socket.socket(socket.AF_UNIX).bind('/tmp/x')"),
        ("being root", "os.setuid(0)"),
        ("root's rights", "os.seteuid(0)"),
        ("root's saved user", "os.setresuid(-1, 0, -1)"),
        ("another user", "os.setresuid(65534, 65534, 65534)"),
        ("another root", "os.chroot('/tmp')"),
        ("another name", "socket.sethostname('x')"),
        ("a higher priority", "os.nice(-5)"),
        ("another clock", "__import__('time').clock_settime(0, 0)"),
    ],
)
def test_it_cannot_have(fail_code: Callable[..., Failure], what: str, code: str) -> None:
    failure = fail_code(
        f"import os, socket, sys\ndef main(inputs):\n    kept = {code}\n", inputs=os.getpid()
    )

    assert failure.error_type is ErrorType.PERMANENT
    kinds = ("Error: [Errno", "RuntimeError: can't start new thread", "the 16 MiB that /tmp holds")
    assert any(kind in failure.message for kind in kinds), failure.message


def test_memory_is_bounded_however_it_is_asked_for(fail_code: Callable[..., Failure]) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
def main(inputs):
    size, kept = 2**24, 0
    while pointer := libc.malloc(ctypes.c_size_t(size)):
        ctypes.memset(pointer, 1, size)
        kept += size
    assert kept < 256 * 2**20, kept
    raise MemoryError
"""
    assert "needed more memory than its memoryMb" in fail_code(code).message


@pytest.mark.parametrize("folder", ["/", "/usr", "/usr/lib", "/valkyr", "library", "outside"])
def test_no_file_is_written_outside_of_tmp(
    attempt: Callable[..., Any], secret_file: Path, folder: str
) -> None:
    body = """
    folder = os.path.dirname(os.__file__) if inputs == "library" else inputs
    flags = os.O_CREAT | os.O_WRONLY
    names = os.listdir(folder) if os.path.isdir(folder) else []
    there = [f"{folder}/{n}" for n in names if os.path.isfile(f"{folder}/{n}")]
    return [
        tried(os.open, f"{folder}/made", flags),
        tried(os.mkdir, f"{folder}/folder"),
        tried(os.symlink, "/tmp", f"{folder}/link"),
        *(tried(os.open, path, os.O_WRONLY) for path in there[:3]),
        *(tried(os.unlink, path) for path in there[:3]),
        *(tried(os.chmod, path, 0o777) for path in there[:3]),
    ]
"""
    found = attempt(body, str(secret_file.parent) if folder == "outside" else folder)

    assert set(found) <= {"ENOENT", "EACCES", "EROFS", "EPERM"}
    assert [one.name for one in secret_file.parent.iterdir()] == ["secret"]


def test_links_lead_nowhere(attempt: Callable[..., Any], secret_file: Path) -> None:
    found = attempt(
        """
    os.symlink(inputs, "/tmp/link")
    os.symlink("/proc/self/root", "/tmp/root")
    os.symlink("/" + "../" * 20 + inputs, "/tmp/up")
    os.mkdir("/tmp/folder")
    os.rename("/tmp/folder", "/tmp/moved")
    library = os.__file__
    return [
        tried(open, "/tmp/link"),
        tried(os.listdir, "/tmp/root"),
        tried(open, "/tmp/up"),
        tried(os.link, library, "/tmp/hard"),
        tried(os.rename, library, "/tmp/taken"),
        tried(os.open, "../" * 20 + inputs[1:], os.O_RDONLY),
    ]
""",
        str(secret_file),
    )
    assert found[:3] == ["ENOENT"] * 3
    assert set(found[3:5]) <= {"EXDEV", "EACCES", "EPERM", "EROFS"}
    assert found[5] == "ENOENT"


@pytest.mark.parametrize(
    "family",
    ["AF_INET", "AF_INET6", "AF_VSOCK", "AF_NETLINK", "AF_PACKET", "AF_ALG", "AF_CAN", "AF_TIPC"],
)
def test_it_opens_no_socket_but_those_of_one_machine(
    fail_code: Callable[..., Failure], family: str
) -> None:
    code = f"import socket\ndef main(i):\n    socket.socket(socket.{family}, socket.SOCK_DGRAM)\n"

    assert f"OSError: [Errno {errno.EAFNOSUPPORT}]" in fail_code(code).message


def test_no_server_of_the_machine_can_be_reached(
    attempt: Callable[..., Any], secret_file: Path
) -> None:
    name, path = f"\0valkyr-{uuid4()}", str(secret_file.with_name("socket"))
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind(name)
        named.bind(path)
        abstract.listen()
        named.listen()
        found = attempt(
            """
    port, path, name = inputs
    def connect(family, address):
        with socket.socket(family) as client:
            client.connect(address)
    return [
        tried(connect, socket.AF_INET, ("127.0.0.1", port)),
        tried(connect, socket.AF_UNIX, path),
        tried(connect, socket.AF_UNIX, "\\0" + name),
    ]
""",
            [tcp.getsockname()[1], path, name[1:]],
        )
    assert found[:2] == ["EAFNOSUPPORT", "ENOENT"]
    assert found[2] in ("ECONNREFUSED", "EPERM")


@pytest.mark.skipif(os.uname().machine not in seccomp.ARCHITECTURES, reason="no filter for it")
def test_every_refused_system_call_fails_as_the_filter_says(run_code: Callable[..., Any]) -> None:
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
    assert {"io_uring_setup", "io_uring_enter", "io_uring_register"} < asked.keys()

    assert run_code(code, asked) == expected


def test_nothing_gives_back_what_was_taken(run_code: Callable[..., Any]) -> None:
    code = """
import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
def main(inputs):
    head, powers = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    taken = [libc.capget(head, powers), *powers]
    powers[:] = [0xFFFFFFFF] * 6
    taken.append(libc.capset(head, powers))
    for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
        try:
            resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)
            taken.append(0)
        except (OSError, ValueError):
            taken.append(-1)
    return taken
"""
    assert run_code(code) == [0] * 7 + [-1] * 4
