"""The child that renders hostile expressions."""

from typing import Any

from executions.templates import TemplateError, TemplateSyntaxProblems, compile_template
from tests.fuzz.bounded import serve

SCOPE: dict[str, Any] = {
    "input": {
        "long": "aB ß<é," * 100_000,
        "rows": [{"n": n, "s": f"row {n}", "l": [n] * 10} for n in range(2_000)],
        "big": [2**61 - 1 + n * (2**61 - 1) for n in range(10_000)],
        "n": 7,
        "deep": [[[[[1]]]]],
    }
}

if __name__ == "__main__":
    serve(
        lambda given: compile_template(given).render(SCOPE),
        (TemplateError, TemplateSyntaxProblems),
    )
