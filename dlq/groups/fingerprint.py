"""The fingerprints of failures: hashes of workflow, step, error class and normalised message.

A step's module can name the failure itself (`StepError(fingerprint=…)`); the name then replaces the
message. The code here is pure: the same input gives the same fingerprint on every machine.
"""

import hashlib
import re
from uuid import UUID

RULE = 1  # increases when the rules below change, so that old and new fingerprints never mix

LONGEST = 300
_READ = 2_000  # characters of the first line that are read
_END = r"(?=[.,:;!?)\]}>'\"]*(?:\s|$))"  # punctuation after an address does not belong to it

# The order matters: a path may contain a date, and a quote anything, so the larger pattern comes
# first.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"\b[a-zA-Z][a-zA-Z0-9+.\-]{{0,30}}://\S*?{_END}"), "<url>"),
    (re.compile(r"(?<![\w<])~?(?:/[\w.\-+@%=~]+){2,}/?"), "<path>"),
    (re.compile(r"(?<![\w.+\-])[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63})+"), "<email>"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<id>"),
    (
        re.compile(
            r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
            r"(?: ?(?:Z|UTC|[+\-]\d\d:?\d\d))?)?(?![\w\-])"
        ),
        "<time>",
    ),
    (re.compile(r"(?<![\w:.])\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?![\w:])"), "<time>"),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?::\d{1,5})?(?![\w.]\w)"), "<ip>"),
    (
        re.compile(
            r"(?<![\w:])(?:\[(?=[\da-fA-F:]+\]))?(?=[\da-fA-F:]*:[\da-fA-F:]*:)"
            r"[\da-fA-F]{0,4}(?::[\da-fA-F]{0,4}){2,7}(?:\](?::\d+)?)?(?![\w:])"
        ),
        "<ip>",
    ),
    (re.compile(r"(?<![\w\\])'(?:[^'\\]|\\.)*'(?!\w)"), "<text>"),
    (re.compile(r'(?<![\w\\])"(?:[^"\\]|\\.)*"(?!\w)'), "<text>"),
    (re.compile(r"`[^`]*`|“[^”]*”|«[^»]*»"), "<text>"),
    (re.compile(r"\b[A-Za-z]:\\[^\s:*?\"<>|)\]]+"), "<path>"),
    # A long word with digits is a key, a token or the name of a pod.
    (re.compile(r"(?<![\w<])(?=[\w\-]*\d)(?=[\w\-]*[^\W\d_])[\w\-]{12,}(?![\w>])"), "<id>"),
    (re.compile(r"\b0[xX][0-9a-fA-F]+\b"), "<id>"),
    (re.compile(r"\b(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{8,}\b"), "<id>"),
)
# The status of an HTTP response is a kind of failure, not an arbitrary number.
_NUMBER = re.compile(
    r"((?:\bHTTP(?:/[\d.]+)?|\banswered(?: with)?|\bstatus(?: code)?)[ :=]{1,2}[1-5]\d\d)(?!\d)"
    r"|(?<![\w.])[+\-]?\d+(?:[.,:]\d+)*|\d+(?:[.,:]\d+)*"
)
_LIST = re.compile(r"(<\w+>)(?:(?:, ?|; ?| and | or )\1)+")


def normalise(message: str) -> str:
    """Return the first non-empty line of a message, without the parts that vary between failures.

    Each address, ID, time, quoted text, path, token and number (except HTTP status codes) becomes a
    placeholder, as does a list of these. The result has at most 300 characters.
    """
    line = next((line for line in message.splitlines() if line.strip()), "")
    text = re.sub(r"\s+", " ", line[:_READ]).strip()
    for pattern, mark in _RULES:
        text = pattern.sub(mark, text)
    text = _NUMBER.sub(lambda found: found[1] or "<n>", text)
    return _LIST.sub(r"\1", text)[:LONGEST]


def place_of(step_path: str) -> str:
    """Return a step's path without the numbers of iterations, such as `refine[].draft`."""
    return re.sub(r"\[\d+\]", "[]", step_path)


def fingerprint(
    workflow_id: UUID, step_path: str, error: str, message: str, *, own: str = ""
) -> str:
    """Return a lower-case hex SHA-256 of the workflow, the step, the error class and the message.

    The message is normalised first. `own`, the module's name for the failure, replaces it if given.
    """
    shape = f"own\n{own}" if own else normalise(message)
    parts = f"{RULE}\n{workflow_id}\n{place_of(step_path)}\n{error}\n{shape}"
    return hashlib.sha256(parts.encode()).hexdigest()
