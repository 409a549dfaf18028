"""Workflows' code runs in real workers, which continue after any kind of code."""

from pathlib import Path

from tests.support.fleet import Fleet
from tests.support.hostile_code import require_unharmed

HOSTILE = {
    "forks": ("os.fork()", "PERMANENT"),
    "hoards": ("bytearray(10 * 2**30)", "PERMANENT"),
    "loops": ("exec('while True: pass')", "TIMEOUT"),
    "kills": ("[os.kill(pid, 9) for pid in (0, -1, os.getppid())], os._exit(1)", "PERMANENT"),
    "spies": ("open('/proc/self/environ').read()", "PERMANENT"),
}
GOOD = "def main(inputs):\n    return inputs['a'] * 2\n"


def test_a_worker_without_bubblewrap_says_so_when_it_starts(fleet: Fleet, tmp_path: Path) -> None:
    worker = fleet.worker("poor", "default", "prefork", 1, PATH=str(tmp_path))
    try:
        fleet.ensure()

        said = worker.log.read_text()
        assert said.count("code of workflows runs in the built-in sandbox") == 1
        assert "there is no program bwrap on the PATH" in said
    finally:
        fleet.remove("poor")


def test_hostile_code_fails_its_step_and_the_workers_go_on(fleet: Fleet) -> None:
    main = "import os\ndef main(inputs):\n    {}\n"
    codes = {name: (main.format(code), end) for name, (code, end) in HOSTILE.items()}

    require_unharmed(fleet, "python.code", codes, GOOD)
