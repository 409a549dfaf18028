"""The cost of a hundred installed modules at a worker's start: finding, importing and warming
up.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.benchmarks.talk import say

MODULES, A_FILE = 100, 10
REPETITIONS = 9
MOST_MS = 50.0
ROOT = Path(__file__).parents[2]

HEAD = """\
from typing import Annotated, Any

from pydantic import Field

from runners.modules.base import Module, ModuleInputs, ModuleOutputs
from runners.modules.registry import step
"""
STEP = """

@step("bench{file}.step{number}", effect="none")
def step{number}(
    total: Annotated[int, Field(description="In cents.", ge=0)], percent: int = 10
) -> dict[str, int]:
    \"\"\"What is left to pay.\"\"\"
    return {{"total": total * (100 - percent) // 100}}
"""
CLASS = """

class Inputs{number}(ModuleInputs):
    total: int = Field(description="In cents.", ge=0)
    percent: int = Field(10, description="What is taken off.", ge=0, le=100)


class Outputs{number}(ModuleOutputs):
    total: int = Field(description="In cents.")


class Discount{number}(Module[Inputs{number}]):
    \"\"\"What is left to pay.\"\"\"

    type = "bench{file}.class{number}"
    title = "Discount"
    category = "bench"
    Inputs = Inputs{number}
    Outputs = Outputs{number}

    def execute(self, inputs: Any, ctx: Any) -> Outputs{number}:
        return Outputs{number}(total=inputs.total * (100 - inputs.percent) // 100)
"""
PROGRAM = """\
import time
from runners.modules.registry import Registry
Registry().warm_up()  # what the worker loads in any case, and every file of Python's own
import os, sys
sys.path.insert(0, sys.argv[1])
began = time.perf_counter()
registry = Registry()
registry.warm_up()
print(1000 * (time.perf_counter() - began), len(registry.specs()._names))
"""


@dataclass(frozen=True, slots=True)
class Start:
    """Milliseconds of finding and loading modules, without and with a hundred more."""

    bare: float
    full: float

    @property
    def added(self) -> float:
        """The cost of the hundred, half of them functions and half classes."""
        return self.full - self.bare


def measure() -> Start:
    """Return medians over processes that start alternately; compiled files exist, as on a host."""
    with TemporaryDirectory(prefix="valkyr-modules-") as name:
        full, bare = Path(name, "full"), Path(name, "bare")
        write(full)
        bare.mkdir()
        _took(full)  # compiles
        pairs = [(_took(bare), _took(full)) for _ in range(REPETITIONS)]
    start = Start(median(one for one, _ in pairs), median(other for _, other in pairs))
    say(f"{MODULES} modules of packages: {start.added:.1f} ms of a worker's start")
    return start


def write(folder: Path) -> None:
    """Write an installed distribution with one entry point per module."""
    package, facts = folder / "bench_modules", folder / "bench_modules-1.dist-info"
    package.mkdir(parents=True)
    facts.mkdir()
    (package / "__init__.py").write_text("")
    names = []
    for file in range(MODULES // A_FILE):
        parts = [HEAD]
        for number in range(A_FILE):
            shape, kind = (STEP, "step") if number % 2 else (CLASS, "class")
            parts.append(shape.format(file=file, number=number))
            attribute = f"step{number}" if number % 2 else f"Discount{number}"
            names.append(f"bench{file}.{kind}{number} = bench_modules.file{file}:{attribute}")
        (package / f"file{file}.py").write_text("".join(parts))
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-modules\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("\n".join(["[valkyr.modules]", *names, ""]))


def _took(folder: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return float(done.stdout.split()[0])
