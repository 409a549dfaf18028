"""Children end with their parent, no signal is lost during a fork, and servers get free ports."""

import socket
import sys

import psutil

from tests.support.running import output_of
from valkyr_project.embedded.child import free_port

# Python runs signal handlers in the hooks after a fork as in any code, and ignores what they raise.
TOLD_AMID_THE_FORK = """
import os, signal, sys
from valkyr_project.embedded.child import start_child

signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))
try:
    start_child(["sleep", "60"], death_signal=signal.SIGKILL)
except SystemExit as end:
    print(end.code)
else:
    print("goes on for ever")
os._exit(0)
"""

HELD_BY_THE_CHILD = """
import signal, sys
from valkyr_project.embedded.child import start_child

ask = "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
start_child([sys.executable, "-c", ask], death_signal=signal.SIGKILL).wait()
"""


def test_a_signal_amid_a_fork_is_not_lost() -> None:
    assert output_of([sys.executable, "-c", TOLD_AMID_THE_FORK]) == "told to end\n"


def test_a_child_holds_no_signals_back() -> None:
    assert output_of([sys.executable, "-c", HELD_BY_THE_CHILD]) == "set()\n"


def test_a_free_port_is_kept_for_who_names_it() -> None:
    port = free_port()

    here = [found for found in psutil.net_connections("tcp") if found.laddr.port == port]
    assert [found.status for found in here] == [psutil.CONN_TIME_WAIT]
    with socket.create_server(("127.0.0.1", port)):
        assert free_port(port) != port
