"""Takes secrets out of what comes back from a step that used some: their references stand instead.

A value is looked for as it is and in the forms in which it usually comes back: percent-encoded,
Base64 (also inside a longer encoded text), hexadecimal, and escaped for JSON, Python and HTML.
What a module encrypts, hashes or cuts into pieces of its own is not recognised.
"""

import base64
import html
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from executions.errors import PayloadError

SHORTEST = 6  # characters; anything shorter occurs by chance
LONGEST_PIECE = 16
MIN_LINE = 12
MAX_DEPTH = 200
DETAILS_DEPTH = 20
MAX_BITS = 14_000  # of numbers that are looked at; Python writes no longer ones
Span = tuple[int, int, str]  # start, end, what stands there instead

_BASE64_URL = str.maketrans("+/", "-_")
_PERCENT = re.compile(r"%[0-9A-F]{2}")


class Scrubber:
    """Knows the secrets a step uses; `names` gives each value the reference that replaces it."""

    __slots__ = ("_forms", "_pieces")

    def __init__(self, names: Mapping[str, str]) -> None:
        forms: dict[str, str] = {}
        for value, name in names.items():
            for form in _forms(value):
                forms.setdefault(form, name)
        self._forms = tuple(forms.items())
        self._pieces = tuple((form, _piece(form), name) for form, name in self._forms)

    def text(self, text: str) -> str:
        """The text with every secret replaced."""
        spans = self._whole(text)
        return _without(text, spans) if spans else text

    def message(self, text: str) -> str:
        """As `text`, and secrets that were cut off too: messages quote the beginning of values."""
        spans = self._whole(text)
        for form, piece, name in self._pieces:
            start = text.find(piece)
            while start >= 0:
                end = start + _agreeing(text, start, form)
                spans.append((start, end, name))
                start = text.find(piece, end)
        return _without(text, spans) if spans else text

    def value(self, value: Any, what: str = "value") -> Any:
        """A JSON value with every secret replaced, in keys and in numbers too.

        What is no JSON is left for whoever stores it to refuse. Raises PayloadError, which names
        `what`, when it nests deeper than 200.
        """

        def too_deep(_: Any) -> Any:
            raise PayloadError(
                f"The {what} nests deeper than {MAX_DEPTH}, too deep to look for secrets in it."
            )

        return _walk(value, self.text, MAX_DEPTH, too_deep)

    def details(self, value: Any) -> Any:
        """As `value`, of what only people read: cut values are known too, depths left out."""
        return _walk(value, self.message, DETAILS_DEPTH, lambda found: f"<{type(found).__name__}>")

    def _whole(self, text: str) -> list[Span]:
        return [
            (start, start + len(form), name)
            for form, name in self._forms
            if form in text
            for start in _places(text, form)
        ]


def _walk(
    value: Any, scrub: Callable[[str], str], depth: int, too_deep: Callable[[Any], Any]
) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, scrub)
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return value
    if depth == 0:
        return too_deep(value)
    if isinstance(value, Mapping):
        return {
            _walk(key, scrub, depth - 1, too_deep): _walk(item, scrub, depth - 1, too_deep)
            for key, item in value.items()
        }
    return [_walk(item, scrub, depth - 1, too_deep) for item in value]


def _number(value: float, scrub: Callable[[str], str]) -> Any:
    """A secret of digits may come back as a number."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return value
    text = str(value)
    scrubbed = scrub(text)
    return value if scrubbed == text else scrubbed


def _forms(value: str) -> Iterator[str]:
    """The value in every form that is looked for: escaped or not, then encoded or not."""
    for text in (value, *_lines(value), *_inside(value)):
        if len(text) >= SHORTEST:
            for escaped in dict.fromkeys(_escaped(text)):
                yield from _encoded(escaped)


def _escaped(text: str) -> Iterator[str]:
    yield text
    as_json = json.dumps(text)[1:-1]
    yield from (as_json, json.dumps(text, ensure_ascii=False)[1:-1])
    yield json.dumps(as_json)[1:-1]
    # The second has both quotes in it, as a longer text around the value may have.
    yield from (repr(text)[1:-1], repr(f"{text}\"'")[1:-4])
    yield repr(text.encode("utf-8", "surrogatepass"))[2:-1]
    yield from (html.escape(text), html.escape(text, quote=False))


def _encoded(text: str) -> Iterator[str]:
    yield text
    data = text.encode("utf-8", "surrogatepass")
    for quoted in (quote(data, safe=""), quote(data), quote_plus(data)):
        yield quoted
        yield _PERCENT.sub(lambda found: found.group().lower(), quoted)
    yield from (data.hex(), data.hex().upper())
    yield from _base64_forms(data)


def _lines(value: str) -> list[str]:
    """The lines of a key of several lines, which are often shown one by one."""
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) < 2:
        return []
    return [line for line in lines if len(line) >= MIN_LINE and not line.startswith("-----")]


def _inside(value: str) -> list[str]:
    """The passwords in an address or a list of some, as they are written and as they are meant."""
    found: list[str] = []
    for address in dict.fromkeys((value, *value.split(";"))):
        try:
            password = urlsplit(address).password or ""
        except ValueError:
            continue
        found += [password, unquote(password)]
    return found


def _base64_forms(data: bytes) -> Iterator[str]:
    """What is the same in every Base64 text over something that holds the value.

    Three bytes make four characters, so there are three ways for the value to lie in them; the
    first and last characters may hold bits of what stands beside it.
    """
    alone = base64.b64encode(data).decode()
    for encoded in (alone, alone.rstrip("=")):
        yield from (encoded, encoded.translate(_BASE64_URL))
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        first = (8 * before + 5) // 6
        last = (8 * (before + len(data))) // 6
        form = encoded[first:last]
        if len(form) >= SHORTEST:
            yield form
            yield form.translate(_BASE64_URL)


def _piece(form: str) -> str:
    """The beginning by which a form is recognised that was cut off: half of it, at least 6."""
    return form[: min(LONGEST_PIECE, max(SHORTEST, len(form) // 2))]


def _places(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + len(part))


def _agreeing(text: str, start: int, form: str) -> int:
    """How many characters of the form stand at `start`."""
    length = 0
    for found, expected in zip(text[start : start + len(form)], form, strict=False):
        if found != expected:
            break
        length += 1
    return length


def _without(text: str, spans: list[Span]) -> str:
    """The text with each span replaced by its name; spans that overlap are one, the first's."""
    parts: list[str] = []
    done = 0
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            parts += (text[done:start], name)
        done = max(done, end)
    return "".join((*parts, text[done:]))


# Scrubs the process's log lines while a step uses secrets: libraries log URLs, headers and errors.
#
# By a log record factory, so before any handler, and for every thread, since a module may start
# some. It is in place from a process's first use of a secret on.


_lock = Lock()
_in_use: tuple[Scrubber, ...] = ()
_formatter = logging.Formatter()


@contextmanager
def scrubbed_logs(scrub: Scrubber) -> Iterator[None]:
    """The block in which log lines may hold the secrets that `scrub` knows."""
    global _in_use  # noqa: PLW0603 - replaced whole, so that who reads it needs no lock
    _install()
    with _lock:
        _in_use = (*_in_use, scrub)
    try:
        yield
    finally:
        with _lock:
            others = list(_in_use)
            others.remove(scrub)
            _in_use = tuple(others)


@lru_cache(maxsize=1)
def _install() -> None:
    make = logging.getLogRecordFactory()

    def scrubbed(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record: logging.LogRecord = make(*args, **kwargs)
        if _in_use:
            _scrub(record, _in_use)
        return record

    logging.setLogRecordFactory(scrubbed)


def _scrub(record: logging.LogRecord, scrubbers: tuple[Scrubber, ...]) -> None:
    """Bring message and traceback into their final form, without secrets."""
    try:
        text = record.getMessage()
    # Arguments that do not fit would be printed as they are.
    except Exception:
        text = "(a log message that could not be put together)"
    if record.exc_info:
        record.exc_text = _without_secrets(_formatter.formatException(record.exc_info), scrubbers)
        record.exc_info = None
    record.msg, record.args = _without_secrets(text, scrubbers), None


def _without_secrets(text: str, scrubbers: tuple[Scrubber, ...]) -> str:
    for scrub in scrubbers:
        text = scrub.message(text)
    return text
