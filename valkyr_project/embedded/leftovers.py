"""Find and stop servers that an earlier supervisor left behind when it was killed.

A process is a leftover if its program has the server's name, it runs under the server's account,
and its command line names the data folder or the configuration file of the server's folder. The
caller holds the folder's lock, so a server that runs there no longer has a supervisor.
"""

import signal
from collections.abc import Sequence

import psutil

from valkyr_project.embedded.account import Account


def stop_leftovers(
    program: str,
    argument: str,
    account: Account,
    steps: Sequence[tuple[signal.Signals, float]],
) -> int:
    """Stop the account's processes of `program` that have `argument`; return their number."""
    found = _running(program, argument, account)
    for number, seconds in steps:
        alive = [process for process in found if process.is_running()]
        for process in alive:
            _send(process, number)
        psutil.wait_procs(alive, timeout=seconds)
    for process in found:
        if process.is_running():
            _send(process, signal.SIGKILL)
    psutil.wait_procs(found, timeout=5)
    return len(found)


def is_running(pid: int, program: str) -> bool:
    """Return whether `pid` is a live process that runs `program`."""
    try:
        return bool(psutil.Process(pid).name() == program)
    except psutil.Error:
        return False


def _running(program: str, argument: str, account: Account) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["name", "cmdline", "uids"]):
        info = process.info
        ours = info["uids"] is not None and info["uids"].effective == account.uid
        if info["name"] == program and ours and argument in (info["cmdline"] or ()):
            found.append(process)
    return found


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
