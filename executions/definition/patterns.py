"""Regular expressions that tenants write, matched by RE2 in time linear in the text.

Python's own engine backtracks while it holds the interpreter lock: a harmless-looking pattern and a
few dozen letters can stop a process. RE2 has no lookaround, no backreferences and no possessive
quantifiers; publishing rejects patterns with these.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from executions.definition.json_schema.budget import timed

MAX_CHARACTERS = 1_000
# Maximum memory of a pattern's automaton, in bytes; if it is full, RE2 continues more slowly
# without it.
MAX_MEMORY = 512 * 1024
# Maximum product of a pattern's instructions and a text's bytes, which is the worst case of a match
# at 2 ns each.
MAX_WORK = 20_000_000
KEPT = 256
# ECMAScript's \uXXXX, which RE2 writes as \x{XXXX}; after another backslash, it is plain text.
_UNICODE = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9a-fA-F]{4})")

_HINTS = (
    ("(?=", "lookahead is not supported: use two patterns, joined by `allOf` in a schema"),
    ("(?!", "lookahead is not supported: in a schema, use `not` with a second pattern"),
    ("(?<=", "lookbehind is not supported: match what precedes as a part of the pattern"),
    ("(?<!", "lookbehind is not supported: match what precedes as a part of the pattern"),
    ("invalid escape sequence: \\Z", "write \\z for the end of the text, or $"),
    ("invalid escape sequence", "this escape, or a backreference, is not supported"),
    ("invalid repetition size", "an expression may be repeated at most 1,000 times"),
    ("bad repetition operator", "possessive quantifiers are not supported: remove the second +"),
    ("pattern too large", "repeat less: nested counts multiply"),
)


class BadPattern(ValueError):
    """The text cannot be used as a regular expression; the message explains the problem."""


class TooMuchWork(ValueError):
    """The pattern and the text together are too large for a match in bounded time."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern; `size` is its number of instructions."""

    text: str
    size: int
    _compiled: Any

    def found_in(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in `text`. Raises TooMuchWork."""
        encoded = text.encode("utf-8", "replace")
        if self.work(len(encoded)) > MAX_WORK:
            raise TooMuchWork(
                f"The pattern {shown(self.text)} is too large for a text of "
                f"{len(encoded):,} bytes. Make the pattern simpler, or bound the text with "
                "maxLength first."
            )
        return self._compiled.search(encoded) is not None

    def work(self, length: int) -> int:
        """Return the worst-case number of instructions for a string of `length` bytes."""
        return self.size * (length + 1)


@lru_cache(maxsize=KEPT)
def pattern(text: str) -> Pattern:
    """Compile a pattern that can match anywhere in a string, as in JSON Schema.

    Raises BadPattern for more than MAX_CHARACTERS characters, a lone surrogate, and a pattern that
    RE2 rejects: bad syntax, or too large. Raises BudgetExceeded as `timed` does.
    """
    import re2

    if len(text) > MAX_CHARACTERS:
        raise BadPattern(
            f"the pattern has {len(text):,} characters; at most {MAX_CHARACTERS:,} are allowed"
        )
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        # Bytes, so that a text is encoded once, and errors of RE2 are not logged.
        with timed():  # some ms if character classes multiply
            compiled = re2.compile(_for_re2(text).encode(), options)
    except UnicodeEncodeError:
        raise BadPattern("the pattern contains a lone surrogate") from None
    except re2.error as error:
        raise BadPattern(_explained(error)) from None
    return Pattern(text, compiled.programsize, compiled)


def shown(text: str) -> str:
    """Return a pattern for messages: quoted and shortened."""
    return f'"{text}"' if len(text) <= 60 else f'"{text[:60]}…"'


def _for_re2(text: str) -> str:
    return _UNICODE.sub(lambda found: f"{found[1]}\\x{{{found[2]}}}", text)


def _explained(error: Exception) -> str:
    reason = error.args[0] if error.args else "it cannot be read"
    if isinstance(reason, bytes):
        reason = reason.decode("utf-8", "replace")
    hint = next((hint for mark, hint in _HINTS if mark in reason), "")
    return f"{reason[:200]}; {hint}" if hint else str(reason)[:200]
