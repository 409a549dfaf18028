"""Check that a definition can be stored: that its JSON is bounded and its text is valid.

PostgreSQL's JSONB rejects NUL and lone surrogates. A document that is nested too deeply is not read
any further.
"""

import hashlib
import json
import math
import re
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.templating.errors import Pointer

MAX_BYTES = 1_048_576
MAX_DEPTH = 64

_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def storage_problems(document: Any) -> list[DefinitionProblem]:
    """Return the problems that prevent storing the document, such as its size; [] if none."""
    return _value_problems(document) or _size_problems(document)


def _value_problems(document: Any) -> list[DefinitionProblem]:
    found: list[DefinitionProblem] = []
    pending: list[tuple[Pointer, Any]] = [((), document)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, str):
            if _NOT_TEXT.search(value):
                found.append(_bad_text(pointer))
        elif isinstance(value, float):
            if not math.isfinite(value):
                found.append(problem(pointer, "value", f"JSON cannot hold the number {value}"))
        elif isinstance(value, (dict, list)):
            if len(pointer) >= MAX_DEPTH:
                return [
                    problem(
                        (), "too_deep", (f"values are nested more than {MAX_DEPTH} levels deep")
                    )
                ]
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in items:
                if isinstance(key, str) and _NOT_TEXT.search(key):
                    found.append(_bad_text(pointer))
                else:
                    pending.append(((*pointer, key), item))
    return found[::-1]


def _bad_text(pointer: Pointer) -> DefinitionProblem:
    return problem(
        pointer, "value", "the text contains a NUL or a lone surrogate, which cannot be stored"
    )


def _size_problems(document: Any) -> list[DefinitionProblem]:
    try:
        size = len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
    except ValueError as error:
        return [problem((), "value", f"a number cannot be written: {error}")]
    return [] if size <= MAX_BYTES else [too_large(size)]


def too_large(size: int) -> DefinitionProblem:
    """Return the problem that a definition of `size` bytes is too large."""
    return problem(
        (), "too_large", f"the definition has {size:,} bytes; at most {MAX_BYTES:,} are allowed"
    )


# Canonical JSON, so that equal values have equal hashes.


def canonical_json(value: Any) -> str:
    """Return compact ASCII JSON of `value`, keys sorted. Raises ValueError for NaN or infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256_hex(value: Any) -> str:
    """Return the SHA-256 of a JSON value's canonical form, in lower-case hex."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()
