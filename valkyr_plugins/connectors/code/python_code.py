"""`python.code`: run a workflow's function in a separate process."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from executions.public.definitions import ConfigProblem
from runners.public.modules import (
    Bad,
    ErrorType,
    Module,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.code.code_step import (
    MAX_CODE,
    CodeInputs,
    code_problems,
    off,
    run_code,
)
from valkyr_plugins.connectors.conf import settings

PYTHON_CODE = "VALKYR_PYTHON_CODE"
OFF = off("Python", PYTHON_CODE)


def is_on() -> bool:
    """Return whether `python.code` is enabled."""
    return settings().python_code


class PythonCodeInputs(CodeInputs):
    """The code, its inputs and its resource limits."""

    code: str = Field(
        min_length=1,
        max_length=MAX_CODE,
        description=(
            "Python that defines `main(inputs)`; its return value is the result. The standard "
            "library is available; installed packages are not. Do not use templates in the "
            "code, because a value could become code: pass values as `inputs`."
        ),
        examples=["def main(inputs):\n    return sum(inputs['prices'])\n"],
    )
    memory_mb: int = Field(256, ge=64, le=2_048, description="Maximum memory, in MiB.")


class PythonCodeOutputs(ModuleOutputs):
    """The function's result."""

    result: Any = Field(None, description="The value that `main` returned.")


class PythonCode(Module[PythonCodeInputs]):
    """Runs a Python function from the workflow, isolated from the system.

    The function runs in its own process, with an empty environment and no network. Its file system
    contains only Python, system libraries, time-zone data, and an empty `/tmp` of 16 MiB in memory.
    The function cannot read the worker's files or keys, and cannot start processes or threads. Its
    time, memory, open files, printed output and result are limited. Printed output is written to
    the run's log. An exception in the code fails the step permanently; the error names the line.

    The module is disabled unless an administrator sets `VALKYR_PYTHON_CODE`. It accepts no secrets,
    because code could return them in a form that Valkyr does not recognise.
    """

    type = "python.code"
    title = "Python code"
    category = "code"
    effect = "none"
    timeout_seconds = 330.0
    takes_secrets = False
    Inputs = PythonCodeInputs
    Outputs: ClassVar[Any] = PythonCodeOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "code": "def main(inputs):\n    return sorted(inputs['words'], key=len)\n",
        "inputs": {"words": "{{ input.words }}"},
    }
    bad_inputs = (
        Bad("invalid code", {"code": "def main(:"}, "SyntaxError: invalid syntax (line 1)"),
        Bad("no function main", {"code": "x = 1"}, "the code defines no function main"),
        Bad("a NUL", {"code": "def main(i): pass\x00"}, "null bytes"),
        Bad(
            "an exception",
            {"code": "def main(inputs):\n    return inputs['n'] / 0\n", "inputs": {"n": 1}},
            "ZeroDivisionError: division by zero (line 2, in main)",
        ),
        Bad(
            "an infinite loop",
            {"code": "def main(inputs):\n    while True: pass\n", "seconds": 0.5},
            "did not finish within 0.5 s",
            ErrorType.TIMEOUT,
        ),
        Bad(
            "10 GiB of memory",
            {"code": "def main(inputs):\n    return len(bytearray(10 * 2**30))\n"},
            "needed more memory than its memoryMb",
        ),
        Bad(
            "a result that is not JSON",
            {"code": "def main(inputs):\n    return float('nan')\n"},
            "cannot be written as JSON",
        ),
        Bad(
            "a result of 10 MiB",
            {"code": "def main(inputs):\n    return 'x' * 10 * 2**20\n"},
            "larger than 5 MiB",
        ),
        Bad("code that is too long", {"code": "#" * 200_000}, "code: String should have at most"),
        Bad(
            "code that ends its process",
            {"code": "import os\ndef main(inputs):\n    os._exit(3)\n"},
            "ended its process (exit code 3)",
        ),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return code_problems(config, "python_code", is_on, OFF)

    def execute(self, inputs: PythonCodeInputs, ctx: StepContext) -> Result:
        if not is_on():
            raise StepError(OFF)
        return run_code(inputs.model_dump(by_alias=True), ctx)
