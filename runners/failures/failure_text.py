"""Tracebacks for users who repair steps; failures' texts and JSON in a form PostgreSQL can store.

A traceback contains file names, line numbers, functions and source code, but no values and no
messages, which may contain secrets. Consecutive library frames are folded into one line.
"""

import json
import math
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

# Convert the texts and JSON of any failure into a form that PostgreSQL can store.
#
# These functions raise no exceptions, because a failure that cannot be recorded would be lost.


MAX_DETAILS_CHARACTERS = 16_000
MAX_DEPTH = 20
LONGEST_TARGET = 300  # maximum characters of the target of a circuit or a failed step


def storable_text(text: str, limit: int) -> str:
    """Replace NUL and lone surrogates in a string, and cut it at `limit`, with a final `…`."""
    clean = text[: limit + 1].replace("\x00", "\N{REPLACEMENT CHARACTER}")
    clean = clean.encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def readable(value: object) -> str | None:
    """Return `str(value)`, or None if that raises an exception."""
    try:
        return str(value)
    # Third-party code in __str__ may raise anything.
    except Exception:
        return None


def storable_details(details: Any, scrub: Callable[[Any], Any] | None = None) -> Any:
    """Return details as JSON that PostgreSQL can store, after applying `scrub`.

    If the JSON is too large, return an object with its beginning under the key `truncated`. If the
    details cannot be written as JSON, such as a number of more than 4,300 digits, return a text
    that says so.
    """
    if details is None:
        return None
    try:
        clean = _json(details if scrub is None else scrub(details), MAX_DEPTH)
        text = json.dumps(clean, ensure_ascii=False)
    # Third-party mappings, and keys with their own __str__, may raise anything.
    except Exception as error:
        return (
            f"The details were omitted: they could not be written as JSON ({type(error).__name__})."
        )
    if len(text) <= MAX_DETAILS_CHARACTERS:
        return clean
    return {"truncated": storable_text(text, MAX_DETAILS_CHARACTERS)}


def _json(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return storable_text(value, MAX_DETAILS_CHARACTERS)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth > 0 and isinstance(value, Mapping):
        return {storable_text(str(k), 200): _json(v, depth - 1) for k, v in value.items()}
    if depth > 0 and isinstance(value, list | tuple | set | frozenset):
        return [_json(item, depth - 1) for item in value]
    return f"<{type(value).__name__}>"


MAX_CHARACTERS = 8_000
MAX_CHAIN = 5
ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib"))


def own_frames(error: BaseException) -> str:
    """Return the frames of an error and of the errors that led to it, the newest error first.

    The text has at most 8,000 characters; the beginning of a longer text is cut off.
    """
    lines = [line for cause in _chain(error) for line in _lines(cause)]
    text = "\n".join(lines)
    if len(text) > MAX_CHARACTERS:
        # Cut from the start: the innermost frames come last in each error and are the most useful.
        text = f"…{text[-(MAX_CHARACTERS - 1) :]}"
    return storable_text(text, MAX_CHARACTERS)


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    for _ in range(MAX_CHAIN):
        if current is None:
            return
        yield current
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)


def _lines(error: BaseException) -> Iterator[str]:
    yield f"{type(error).__name__}:"
    frames = traceback.extract_tb(error.__traceback__, limit=-200)
    for library, group in groupby(frames, key=lambda frame: _is_library(frame.filename)):
        found = list(group)
        if library:
            last = found[-1]
            yield f"  … {len(found)} in libraries, last {_place(last)}"
        else:
            for frame in found:
                yield f"  {_place(frame)}"
                if frame.line:
                    yield f"    {frame.line[:200]}"


def _is_library(filename: str) -> bool:
    return filename.startswith(LIBRARIES) or filename.startswith("<frozen")


def _place(frame: traceback.FrameSummary) -> str:
    return f"{_short(frame.filename)}:{frame.lineno} in {frame.name}"


def _short(filename: str) -> str:
    """Return the path, relative to the project or the libraries if it is inside them."""
    # Try the libraries first, because they may be inside the project's folder (.venv).
    for root in (*LIBRARIES, str(ROOT)):
        if filename.startswith(f"{root}/"):
            return filename[len(root) + 1 :]
    return filename
