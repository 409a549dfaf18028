"""`javascript.code`: run a workflow's JavaScript function in a separate process."""

from collections.abc import Mapping
from importlib.util import find_spec
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

JAVASCRIPT_CODE = "VALKYR_JAVASCRIPT_CODE"
OFF = off("JavaScript", JAVASCRIPT_CODE)
ENGINE = "_quickjs"
NO_ENGINE = "QuickJS is not installed on this worker: install valkyr[javascript]"
MIB = 1024 * 1024
# Memory, in MiB, for Python, QuickJS's own code, and the copies of inputs and result.
PROCESS_MB = 192


def is_on() -> bool:
    """Return whether `javascript.code` is enabled."""
    return settings().javascript_code


def engine() -> str:
    """Return the path of QuickJS's library. Raises StepError if it is not installed."""
    found = find_spec(ENGINE)
    if found is None or not found.origin:
        raise StepError(NO_ENGINE)
    return found.origin


class JavascriptCodeInputs(CodeInputs):
    """The code, its inputs and its resource limits."""

    code: str = Field(
        min_length=1,
        max_length=MAX_CODE,
        description=(
            "JavaScript (ES2023) that defines `function main(inputs)`, which can be `async`; its "
            "return value is the result. There is no `require`, `fetch`, `process`, `setTimeout` "
            "or `Intl`. Do not use templates in the code, because a value could become code: pass "
            "values as `inputs`."
        ),
        examples=["function main(inputs) {\n  return inputs.prices.reduce((a, b) => a + b, 0);\n}"],
    )
    memory_mb: int = Field(
        64, ge=8, le=1_024, description="Maximum memory of the JavaScript values, in MiB."
    )


class JavascriptCodeOutputs(ModuleOutputs):
    """The function's result."""

    result: Any = Field(
        None, description="The return value, as `JSON.stringify` writes it; null for undefined."
    )


class JavascriptCode(Module[JavascriptCodeInputs]):
    """Runs a JavaScript function from the workflow, isolated from the system.

    The function can use JavaScript's built-in objects, and `console` to write to the run's log. It
    has no access to files, the network or modules. QuickJS runs the function in a separate process,
    in the same kind of sandbox as `python.code`. The function's time, memory, recursion, `console`
    output and result are limited. No objects are kept from one run to the next. The time zone is
    UTC. An exception fails the step permanently; for an `Error`, the message names the line.

    The module is disabled unless an administrator sets `VALKYR_JAVASCRIPT_CODE`. It accepts no
    secrets, because code could return them in a form that Valkyr does not recognise.
    """

    type = "javascript.code"
    title = "JavaScript code"
    category = "code"
    effect = "none"
    timeout_seconds = 330.0
    takes_secrets = False
    Inputs = JavascriptCodeInputs
    Outputs: ClassVar[Any] = JavascriptCodeOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "code": "function main({ words }) {\n  return words.map((word) => word.length);\n}\n",
        "inputs": {"words": "{{ input.words }}"},
    }
    bad_inputs = (
        Bad("invalid code", {"code": "function main( {"}, "SyntaxError: "),
        Bad("no function main", {"code": "let x = 1"}, "the code defines no function main"),
        Bad(
            "an exception",
            {"code": "function main(inputs) {\n  return inputs.a.b;\n}", "inputs": {}},
            "TypeError: cannot read property 'b' of undefined (line 2, in main)",
        ),
        Bad(
            "a module",
            {"code": "const fs = require('fs');\nfunction main() {}"},
            "ReferenceError: require is not defined (line 1",
        ),
        Bad(
            "an infinite loop",
            {"code": "function main() { for (;;) {} }", "seconds": 0.5},
            "did not finish within 0.5 s",
            ErrorType.TIMEOUT,
        ),
        Bad(
            "endless memory",
            {"code": "function main() { const a = []; for (;;) a.push(new Array(1e4).fill(0)) }"},
            "needed more memory than its memoryMb",
        ),
        Bad(
            "endless recursion",
            {"code": "function main() { return main() + 1 }"},
            "RangeError: it recursed too deeply",
        ),
        Bad(
            "a result that is not JSON",
            {"code": "function main() { return 1n }"},
            "TypeError: BigInt are forbidden in JSON.stringify",
        ),
        Bad(
            "a result of 10 MiB",
            {"code": "function main() { return 'x'.repeat(10 * 2 ** 20) }"},
            "larger than 5 MiB",
        ),
        Bad(
            "a promise that never settles",
            {"code": "async function main() { await new Promise(() => {}) }"},
            "never settles",
        ),
        Bad(
            "a locale",
            {"code": "function main() { return (1234.5).toLocaleString('de-DE') }"},
            "toLocaleString knows no languages",
        ),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return code_problems(config, "javascript_code", is_on, OFF)

    def execute(self, inputs: JavascriptCodeInputs, ctx: StepContext) -> Result:
        if not is_on():
            raise StepError(OFF)
        request = {
            "code": inputs.code,
            "inputs": inputs.inputs,
            "seconds": inputs.seconds,
            "memoryMb": inputs.memory_mb + PROCESS_MB,
            "engineBytes": inputs.memory_mb * MIB,
        }
        return run_code(request, ctx, engine())
