"""Find words and constructions that our pages, screens and messages must not use.

`docs/contributing/writing.md` explains each. The search covers Markdown pages, string literals in
Python (not docstrings), Django templates, and the studio's sources without their comments.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
APPS = "executions|runners|dlq|valkyr|valkyr_plugins|valkyr_project"
OLD_WORDS = (
    "amongst|betwixt|hence|henceforth|hereby|heretofore|hitherto|nay|naught|oft|thence|thereof|"
    "therein|thither|thrice|till|whence|wherein|whilst|whither"
)
MOVES = "go|goes|going|gone|went|send|sends|sending|sent"

# Patterns, in which a space also matches a line break, and their replacements. A pattern belongs
# here only if its words are never right, so that authors need no exceptions.
BANNED = (
    (rf"(?:{MOVES}) (?:\w+ ){{0,3}}?home\b(?! page)", "retry, requeue or redrive"),
    (r"for ever", "forever, indefinitely, or without a timeout"),
    (r"mend(?:s|ed|ing)?", "fix, repair or resolve"),
    (r"who(?:so)?ever", "anyone who, or the name of the user, worker or process"),
    (r"anew", "again"),
    (r"bec(?:ame|omes?) of", "the result or the state"),
    (r"mind(?:s|ed) (?:it|them|this|that|the)", "handle"),
    (r"(?:are|be|been|is|nobody|was|were) told of", "is notified of"),
    (r"tells? of", "report or name"),
    (r"(?:for|from|of|to) who\b(?! is who)", "for users who, to anyone who"),
    (r"of (?:ours|theirs|yours)", "our, their, your"),
    (r"by turns", "alternately, or one after another"),
    (r"if need be", "if necessary"),
    (r"shall", "must, will or should"),
    (r"so many (?:go|are sent) first", "send this many first"),
    (r"none waits", "none"),
    (r"is it well", "health checks"),
    (r"is no more ours", "is leased by another worker"),
    (OLD_WORDS, "a modern word"),
)
_SEARCHED = tuple(
    (re.compile(r"\b(?:" + pattern.replace(" ", r"\s+") + r")\b", re.IGNORECASE), instead)
    for pattern, instead in BANNED
)
# Most files contain no banned phrase, not even one that is split between two literals, and so need
# not be parsed.
_ANY = re.compile(
    "|".join(r"\b(?:" + pattern.replace(" ", r"[\s\"'f]+") + r")\b" for pattern, _ in BANNED),
    re.IGNORECASE,
)

UNREAD = frozenset(
    {
        "docs/contributing/writing.md",  # it quotes what it bans
        # Parts of these are written by `make bench` and `make chaos`.
        "docs/explanation/performance.md",
        "docs/explanation/reliability.md",
        "docs/explanation/scaling.md",
    }
)
_CODE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$|`[^`\n]+`|\]\([^)\s]*\)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
_TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<!--.*?-->|<(?:script|style).*?</", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """A banned phrase, the line it begins on, and what to write instead."""

    line: int
    phrase: str
    instead: str


def findings(text: str, first: int = 1) -> Iterator[Finding]:
    """Find every banned phrase in a text whose first line has the number `first`."""
    for pattern, instead in _SEARCHED:
        for match in pattern.finditer(text):
            line = first + text.count("\n", 0, match.start())
            yield Finding(line, " ".join(match.group().split()), instead)


def in_markdown(text: str) -> Iterator[Finding]:
    """Search a page, except its code and its link targets."""
    yield from findings(_without(_CODE, text))


def in_python(text: str) -> Iterator[Finding]:
    """Search the string literals of a module, except docstrings.

    A finding has the line on which its literal begins.
    """
    tree = ast.parse(text)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in statements:
            continue
        if isinstance(node.value, str):
            yield from (
                Finding(node.lineno, one.phrase, one.instead) for one in findings(node.value)
            )


def in_template(text: str) -> Iterator[Finding]:
    """Search a Django template, except its tags, scripts and comments."""
    yield from findings(_without(_TAG, text))


def in_typescript(text: str) -> Iterator[Finding]:
    """Search a source of the studio, except its comments."""
    yield from findings(_without(_COMMENT, text))


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Return the text with the matches blanked, keeping the line numbers."""
    return pattern.sub(lambda match: "\n" * match.group().count("\n") or " ", text)


READERS = (
    (re.compile(r"(?!tests/|.*/static/).*\.md"), in_markdown),
    (re.compile(rf"(?:{APPS})/(?!.*migrations/).*\.py"), in_python),
    (re.compile(rf"(?:{APPS})/.*templates/.*\.(?:html|txt)"), in_template),
    (re.compile(r"executions/frontend/src/.*\.tsx?"), in_typescript),
)


def in_file(name: str, root: Path = ROOT) -> Iterator[Finding]:
    """Search a file, named by its path in the repository; files of other kinds have no findings."""
    if name in UNREAD:
        return
    for kind, read in READERS:
        if kind.fullmatch(name):
            text = (root / name).read_text()
            if _ANY.search(text):
                yield from read(text)


def files() -> Iterable[str]:
    """List the files of the repository that are not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def main() -> int:
    """Print every finding; the exit code is 1 if there are any."""
    found = [
        f"{name}:{one.line}: “{one.phrase}”: write {one.instead}"
        for name in files()
        for one in in_file(name)
    ]
    if found:
        found.append("docs/contributing/writing.md says why, with examples.")
        sys.stdout.write("\n".join(found) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
