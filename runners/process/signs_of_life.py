"""Signs of life: a file that each worker and each beat renews, and the check that reads the files.

For containers: `python runners/process/signs_of_life.py worker` exits with 0 or 1 and prints the
reason, within 0.05 s, because it starts neither Django nor Celery. While connected, a worker with
free slots renews its file only after a message that it sent to itself came back through the broker.
The check detects an idle worker that runs but receives no messages. This file needs only Python.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

KINDS = ("web", "worker", "beat")
ANSWER_SECONDS = 3.0
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Sign:
    """The last sign of a process; `at` is on the machine's monotonic clock.

    `grace` is the number of additional seconds for which the process may be silent.
    """

    kind: str
    name: str
    pid: int
    queues: tuple[str, ...]
    state: str
    at: float
    grace: float = 0.0

    @property
    def age(self) -> float:
        """Return the seconds since the sign was given."""
        return time.monotonic() - self.at


def patience() -> float:
    """Return after how many seconds without a sign a process counts as unhealthy."""
    return float(os.environ.get("VALKYR_HEALTH_SECONDS", "").strip() or DEFAULT_SECONDS)


def folder() -> Path:
    """Return the folder of the signs; if it is missing, `give` creates it for this user alone."""
    chosen = os.environ.get("VALKYR_HEALTH_DIR", "").strip()
    return Path(chosen or Path(tempfile.gettempdir()) / f"valkyr-signs-{os.getuid()}")


def give(
    kind: str, name: str, state: str, queues: tuple[str, ...] = (), grace: float = 0.0
) -> None:
    """Write this process's sign of life. Raises OSError if the file cannot be written."""
    where = folder()
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    sign = Sign(kind, name, os.getpid(), queues, state, time.monotonic(), grace)
    fresh = where / f".{kind}-{sign.pid}"
    fresh.write_text(json.dumps(asdict(sign)))
    fresh.replace(where / f"{kind}-{sign.pid}.json")


def take_back(kind: str) -> None:
    """Remove this process's sign of life, because the process ends."""
    (folder() / f"{kind}-{os.getpid()}.json").unlink(missing_ok=True)


def check(kind: str, queue: str = "") -> tuple[bool, str]:
    """Return whether processes of this kind (and queue) exist and are all healthy, and why."""
    if kind == "web":
        return _answers()
    found = [sign for sign in _signs(kind) if not queue or queue in sign.queues]
    which = f"{kind} of queue {queue}" if queue else kind
    if not found:
        only = " Only the stand-alone platform's beat reports here." if kind == "beat" else ""
        sentence = f"No {which} has reported in {folder()}. Check that it runs, as this user."
        return False, sentence + only
    lost = [sign for sign in found if sign.age > patience() + sign.grace]
    if lost:
        return False, " ".join(_unwell(sign) for sign in lost)
    return True, " ".join(f"{s.name}: {s.state}, {s.age:.0f} s ago." for s in found)


def _answers() -> tuple[bool, str]:
    """Return whether the web process on `PORT` answers without a server error, and a message."""
    from http.client import HTTPConnection, HTTPException

    port = int(os.environ.get("PORT", "").strip() or 8000)
    asked = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        asked.request("GET", "/actuator/health/live")
        status = asked.getresponse().status
    except (OSError, HTTPException) as error:
        return False, f"The web process does not answer at port {port} (PORT): {error}."
    finally:
        asked.close()
    return status < 500, f"The web process answered {status} at port {port}."


def _unwell(sign: Sign) -> str:
    reason = (
        "it is blocked, or receives no messages"
        if sign.kind == "worker"
        else "it is blocked, or waits for the database"
    )
    return (
        f"{sign.name} (process {sign.pid}) last reported {sign.age:.0f} s ago ({sign.state}); "
        f"expected a report within {patience() + sign.grace:g} s: {reason}. Restart it and "
        "see its log."
    )


def _signs(kind: str) -> Iterator[Sign]:
    """Yield the signs of processes that are still running; delete the files of ended processes."""
    for path in sorted(folder().glob(f"{kind}-*.json")):
        try:
            said = json.loads(path.read_text())
            sign = Sign(**said | {"queues": tuple(said["queues"])})
        except (OSError, ValueError, TypeError, KeyError):
            continue
        if _runs(sign.pid):
            yield sign
        else:
            path.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def main(arguments: list[str] | None = None) -> int:
    """Print one line with the reason; return 0 if all processes are healthy, otherwise 1."""
    parser = argparse.ArgumentParser(description="Check the local process.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--queue", default="", help="only workers of this queue")
    options = parser.parse_args(arguments)
    well, sentence = check(options.kind, options.queue)
    print(sentence, file=sys.stdout if well else sys.stderr)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
