"""Replace secrets in a step's results with references.

Each value is searched for as it is and in the usual encodings: percent-encoded, Base64 (also inside
longer encoded data), hexadecimal, and escaped for JSON, Python and HTML. Values shorter than six
characters, and values that a module encrypts, hashes or splits itself, are not recognised.
"""

import base64
import html
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, AnyStr
from urllib.parse import quote, quote_plus, unquote, urlsplit

from executions.errors import PayloadError
from executions.payloads import StoredReference

SHORTEST = 6  # minimum characters of a secret that is searched for; shorter texts occur by chance
LONGEST_PIECE = 16
MIN_LINE = 12
MAX_DEPTH = 200
DETAILS_DEPTH = 20
# Maximum bits of numbers that are checked; Python does not write longer ones as text.
MAX_BITS = 14_000
Span = tuple[int, int, str]  # start, end, replacement

_BASE64_URL = str.maketrans("+/", "-_")
_PERCENT = re.compile(r"%[0-9A-F]{2}")


class Scrubber:
    """The secrets that a step uses; `names` maps each value to the reference that replaces it."""

    __slots__ = ("_forms", "_pieces")

    def __init__(self, names: Mapping[str, str]) -> None:
        forms: dict[str, str] = {}
        for value, name in names.items():
            for form in _forms(value):
                forms.setdefault(form, name)
        self._forms = tuple(forms.items())
        self._pieces = tuple((form, _piece(form), name) for form, name in self._forms)

    def text(self, text: str) -> str:
        """Return the text with every secret replaced by its reference."""
        spans = self._whole(text)
        return _without(text, spans) if spans else text

    def message(self, text: str) -> str:
        """Return the text as `text` does, but replace truncated secrets as well.

        Error messages can quote prefixes of values.
        """
        spans = self._whole(text)
        for form, piece, name in self._pieces:
            start = text.find(piece)
            while start >= 0:
                end = start + _agreeing(text, start, form)
                spans.append((start, end, name))
                start = text.find(piece, end)
        return _without(text, spans) if spans else text

    def value(self, value: Any, what: str = "value") -> Any:
        """Return a JSON value with every secret replaced, including in keys and numbers.

        Values that are not JSON are left for the storage to reject. Raises PayloadError, which
        names `what`, if the value nests deeper than 200 levels.
        """

        def too_deep(_: Any) -> Any:
            raise PayloadError(
                f"The {what} is nested more than {MAX_DEPTH} levels deep, so it cannot be "
                "searched for secrets."
            )

        return _walk(value, self.text, MAX_DEPTH, too_deep)

    def details(self, value: Any) -> Any:
        """Return a value for display, with every secret replaced as in `value`.

        Truncated secrets are replaced too, and deep nesting is omitted.
        """
        return _walk(value, self.message, DETAILS_DEPTH, lambda found: f"<{type(found).__name__}>")

    def parts(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """Yield bytes with every secret in UTF-8 replaced, including secrets split across parts."""
        forms = [(form.encode("utf-8", "surrogatepass"), name) for form, name in self._forms]
        longest = max((len(form) for form, _ in forms), default=1)
        left = b""
        for part in parts:
            left += part
            # A secret that begins later than this may end in the next part.
            most = max(0, len(left) - longest + 1)
            found, taken = _replaced(left, forms, most)
            left = left[taken:]
            if found:
                yield found
        found, _ = _replaced(left, forms, len(left))
        if found:
            yield found

    def _whole(self, text: str) -> list[Span]:
        return [
            (start, start + len(form), name)
            for form, name in self._forms
            if form in text
            for start in _places(text, form)
        ]


def _replaced(data: bytes, forms: list[tuple[bytes, str]], most: int) -> tuple[bytes, int]:
    """Return about the first `most` bytes, with secrets replaced, and their original length."""
    spans = sorted(
        (start, -len(form), name) for form, name in forms for start in _places(data, form)
    )
    done = 0
    parts: list[bytes] = []
    for start, length, name in spans:
        if start >= most:
            break
        if start >= done:
            parts += (data[done:start], name.encode())
        done = max(done, start - length)
    parts.append(data[done:most])
    return b"".join(parts), max(done, most)


def _walk(
    value: Any, scrub: Callable[[str], str], depth: int, too_deep: Callable[[Any], Any]
) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, scrub)
    # The content of a reference was scrubbed when it was stored, so it is not searched.
    nested = isinstance(value, Mapping | list | tuple | set | frozenset)
    if not nested or isinstance(value, StoredReference):
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
    """Return a number; if its text contains a secret, return the text with the secret replaced."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return value
    text = str(value)
    scrubbed = scrub(text)
    return value if scrubbed == text else scrubbed


def _forms(value: str) -> Iterator[str]:
    """Yield every form to search for: with and without escapes, each also in several encodings."""
    for text in (value, *_lines(value), *_inside(value)):
        if len(text) >= SHORTEST:
            for escaped in dict.fromkeys(_escaped(text)):
                yield from _encoded(escaped)


def _escaped(text: str) -> Iterator[str]:
    yield text
    as_json = json.dumps(text)[1:-1]
    yield from (as_json, json.dumps(text, ensure_ascii=False)[1:-1])
    yield json.dumps(as_json)[1:-1]
    # `repr` chooses its quotes by the text. With both quotes appended, it writes the form that a
    # longer text around the value may have.
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
    """Return the long lines of a multi-line value, because messages often quote single lines."""
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) < 2:
        return []
    return [line for line in lines if len(line) >= MIN_LINE and not line.startswith("-----")]


def _inside(value: str) -> list[str]:
    """Return the passwords in an address or in a list of addresses, both encoded and decoded."""
    found: list[str] = []
    for address in dict.fromkeys((value, *value.split(";"))):
        try:
            password = urlsplit(address).password or ""
        except ValueError:
            continue
        found += [password, unquote(password)]
    return found


def _base64_forms(data: bytes) -> Iterator[str]:
    """Yield the Base64 forms of a value, alone and inside longer data.

    Three bytes become four characters, so inside longer data the value has one of three alignments.
    Each of these forms omits the characters at its ends that can contain bits of neighbouring data.
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
    """Return the prefix that identifies a truncated form: half of the form, 6 to 16 characters."""
    return form[: min(LONGEST_PIECE, max(SHORTEST, len(form) // 2))]


def _places(text: AnyStr, part: AnyStr) -> Iterator[int]:
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + len(part))


def _agreeing(text: str, start: int, form: str) -> int:
    """Return how many characters of the text at `start` equal the beginning of the form."""
    length = 0
    for found, expected in zip(text[start : start + len(form)], form, strict=False):
        if found != expected:
            break
        length += 1
    return length


def _without(text: str, spans: list[Span]) -> str:
    """Return the text with each span replaced by the span's name.

    Overlapping spans are replaced by the name of the first one.
    """
    parts: list[str] = []
    done = 0
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            parts += (text[done:start], name)
        done = max(done, end)
    return "".join((*parts, text[done:]))


# Scrub the process's log lines while a step uses secrets, because libraries log URLs, headers and
# errors.
#
# This is a log record factory, so that it acts before all handlers and in all threads: a module may
# start threads. It is installed when a process first uses a secret.


_lock = Lock()
_in_use: tuple[Scrubber, ...] = ()
_formatter = logging.Formatter()


@contextmanager
def scrubbed_logs(scrub: Scrubber) -> Iterator[None]:
    """Remove the secrets of `scrub` from log lines while the block runs."""
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
    """Format the message and the traceback, and remove secrets."""
    try:
        text = record.getMessage()
    # Without this, arguments that do not match the format would be printed unchanged.
    except Exception:
        text = "(a log message that could not be formatted)"
    if record.exc_info:
        record.exc_text = _without_secrets(_formatter.formatException(record.exc_info), scrubbers)
        record.exc_info = None
    record.msg, record.args = _without_secrets(text, scrubbers), None


def _without_secrets(text: str, scrubbers: tuple[Scrubber, ...]) -> str:
    for scrub in scrubbers:
        text = scrub.message(text)
    return text
