"""A network far from the servers: processes in a namespace whose only connection is a bad line.

Many machines lack the kernel's `netem` module. This module needs only network namespaces and TUN
devices: packets between two namespaces pass `tests/support/far_line.py`, which delays and drops
them. TCP at both ends is the kernel's, with its retransmissions and time-outs. Needs root.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support import far_line
from tests.support.nursery import from_nothing
from valkyr_project.embedded.child import start_child

FAR_ADDRESS, NEAR_ADDRESS, MASK = "10.99.0.2", "10.99.0.1", "30"
RESOLVER = f"nameserver {NEAR_ADDRESS}\noptions timeout:5 attempts:2\n"


def missing() -> str | None:
    """Return why there can be no such network here; None if there can."""
    if sys.platform != "linux":
        return "network namespaces are a part of Linux"
    if os.geteuid():
        return "network namespaces take root: run as root, e.g. in a container with CAP_SYS_ADMIN"
    if lacking := [name for name in ("ip", "nsenter", "unshare") if not shutil.which(name)]:
        return f"{', '.join(lacking)} not found: apt-get install iproute2 util-linux"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun is not there: the kernel lacks TUN devices, or the container hides it"
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "true"], capture_output=True, text=True, check=False
    )
    return None if tried.returncode == 0 else f"unshare: {tried.stderr.strip()}"


class FarNetwork:
    """The line to a namespace; `change` sets its effect on packets and lookups."""

    def __init__(self, ports: Sequence[int], direct: Sequence[int], folder: Path) -> None:
        """Prepare a network in which `ports` of 127.0.0.1 are reached over the line, and `direct`
        without it.
        """
        self._names = {side: f"valkyr-{side}-{os.getpid()}" for side in ("far", "near")}
        self._resolver = folder / "far-resolv.conf"
        self._resolver.write_text(RESOLVER)
        told = {**self._names, "ports": [*ports], "direct": [*direct], "seed": 7}
        told["address"] = NEAR_ADDRESS
        self._line: subprocess.Popen[str] | None = None
        try:
            for name in self._names.values():
                _ip("netns", "add", name)
                _ip("-n", name, "link", "set", "lo", "up")
            self._line = start_child(
                [sys.executable, far_line.__file__, json.dumps(told)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                death_signal=signal.SIGKILL,
            )
            self._hears("devices")
            for side, address in (("far", FAR_ADDRESS), ("near", NEAR_ADDRESS)):
                _ip("-n", self._names[side], "addr", "add", f"{address}/{MASK}", "dev", "line0")
                _ip("-n", self._names[side], "link", "set", "line0", "up")
            self._tell("")
            self._hears("ready")
        except BaseException:
            self.close()
            raise

    def change(self, **wanted: Any) -> dict[str, int]:
        """Change `delay` (seconds in each direction), `loss` (`there` and `back`, 0 to 1) and
        `names`; `reset` aborts the links.

        Return the counts of packets, losses, lookups and connections so far.
        """
        self._tell(json.dumps(wanted))
        assert self._line is not None
        assert self._line.stdout is not None
        return dict(json.loads(self._line.stdout.readline()))

    def mend(self) -> dict[str, int]:
        """Restore a good network; return the counts so far."""
        return self.change(
            delay=0.0, loss={"there": 0.0, "back": 0.0}, names={"mode": "answers", "delay": 0.0}
        )

    def begin(
        self, command: Sequence[str], *, output: int, environment: Mapping[str, str], folder: Path
    ) -> subprocess.Popen[bytes]:
        """Start a process in the far namespace, with the resolver of this network."""
        there = (
            *("nsenter", f"--net=/run/netns/{self._names['far']}", "unshare", "--mount"),
            *("sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', str(self._resolver)),
        )
        return from_nothing(
            [*there, *command], output=output, environment=environment, folder=folder
        )

    def close(self) -> None:
        """End the line and its namespaces."""
        if self._line is not None:
            self._line.kill()
            self._line.wait()
            for end in (self._line.stdin, self._line.stdout):
                with suppress(OSError):
                    if end is not None:
                        end.close()
        for name in self._names.values():
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def _tell(self, text: str) -> None:
        assert self._line is not None
        assert self._line.stdin is not None
        self._line.stdin.write(f"{text}\n")
        self._line.stdin.flush()

    def _hears(self, word: str) -> None:
        assert self._line is not None
        assert self._line.stdout is not None
        heard = self._line.stdout.readline().strip()
        assert heard == word, f"the line said {heard!r} in place of {word!r}"


def at(url: str, host: str = NEAR_ADDRESS) -> str:
    """Return the URL of the same server in the far network, with an address or a name as its
    host.
    """
    parts = urlsplit(url)
    account, sign, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{account}{sign}{host}:{parts.port}").geturl()


@contextmanager
def far_network(ports: Sequence[int], direct: Sequence[int], folder: Path) -> Iterator[FarNetwork]:
    """Set up a far network for the block."""
    made = FarNetwork(ports, direct, folder)
    try:
        yield made
    finally:
        made.close()


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr.strip()}"
