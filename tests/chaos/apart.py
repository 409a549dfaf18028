"""A fault that needs its own servers and workers: the same program again, in a separate process."""

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.chaos import trial
from tests.chaos.fault import Fault
from tests.chaos.options import Options
from tests.chaos.outcome import Outcome, from_json
from valkyr_project.embedded.child import start_child, stop

SECONDS = 900


def run(fault: Fault, options: Options) -> Outcome:
    """Run the fault in a child, and return its result."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "outcome.json"
        command = [
            *(sys.executable, "-m", "tests.chaos", "--only", fault.slug),
            *("--seed", str(options.seed), "--broker", options.broker, "--json", str(answer)),
            *("--minutes", str(options.minutes), *(("--quick",) if options.quick else ())),
            *(("--partitions",) if options.partitions else ()),
        ]
        child = start_child(
            command,
            death_signal=signal.SIGTERM,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        )
        try:
            status = child.wait(SECONDS)
        finally:
            stop(child, ())
        if not answer.exists():
            outcome = trial.blank(fault)
            outcome.broken(f"its process ended with {status} and said nothing")
            return outcome
        return from_json(json.loads(answer.read_text())["faults"][0])
