"""A test file that runs a step's module with the step's recorded inputs, without likely secrets.

This module is pure.
"""

import keyword
import re
from pprint import pformat
from typing import Any

from dlq.copying.requests import redacted, references

HEAD = '''"""A dead letter, replayed: the step's module is run on its recorded inputs, by itself.

    pytest -p valkyr_project.pytest_plugin {file}

Texts such as [secret:shop.password] stand for secrets: give values that are good for a test. What
the module does outside, it does. Once the step is fixed, expect its outputs instead.
"""

from runners.testing import failing_module

'''


def pytest_file(
    module: str,
    step_path: str,
    inputs: Any,
    *,
    error_type: str,
    exception: str,
    fields: tuple[str, ...] = (),
) -> str:
    """Return the text of the test file; `fields` are the fields of the step's credential.

    Recorded values are written as Python literals, so no input can become code.
    """
    given = redacted(inputs if isinstance(inputs, dict) else {})
    name = _name(step_path)
    lines = [
        HEAD.format(file=f"test_{name}.py"),
        f"STEP = {step_path!r}",
        f"MODULE = {module!r}",
        f"ERROR_TYPE = {error_type!r}",
        f"EXCEPTION = {exception!r}  # as it was recorded",
        f"GIVEN = {pformat(given, width=96, sort_dicts=False)}",
    ]
    if fields:
        values = {field: "test" for field in fields}  # noqa: C420 - one value a field
        lines.append(f"CREDENTIAL = {values!r}")
    lines += [f"# a secret: {reference}" for reference in references(repr(given))]
    more = ", credential=CREDENTIAL" if fields else ""
    lines += [
        "",
        "",
        f"def test_{name}_fails_as_it_did() -> None:",
        f"    failure = failing_module(MODULE, GIVEN{more})",
        "",
        "    assert failure.error_type == ERROR_TYPE, failure.message",
        "",
    ]
    return "\n".join(lines)


def _name(step_path: str) -> str:
    """Return a step's path in a form that can be part of a Python name."""
    name = re.sub(r"[^a-z0-9]+", "_", step_path.lower()).strip("_")[:80] or "step"
    return f"{name}_" if keyword.iskeyword(name) else name
