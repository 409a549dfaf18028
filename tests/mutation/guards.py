"""The guards of statements that write states: conditions, locks, and tokens that grow."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("runners/sql", "runners/sql/parts", "executions/sql")
CHANGES = re.compile(
    r"\b(UPDATE (runners_run|executions_w)|DELETE FROM runners_|FOR (SHARE|UPDATE|NO KEY))"
)
GUARDS = re.compile(
    r"\b(state|execution_state|token|lease_token|leased_by|lease_until|(?<!extract\()epoch|place|compensation"
    r"|superseded|retry_after|attempt|secret_places|finished_at|published_at|due_at|waits_for"
    r"|deadline_at|parent_run_id)\b"
)
# Of a CASE only the conditions that read another row's state: the others choose what is shown.
READS_EXECUTION = re.compile(r"\bexecution_state\b")
LOCK = re.compile(r"\bFOR (?:NO KEY UPDATE|KEY SHARE|UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?")
GROWS = re.compile(r"(?<=lease_token) \+ (?:1|%\(leap\)s)")
COMMENT, TEXT = re.compile(r"--[^\n]*"), re.compile(r"'[^']*'")
TOKEN = re.compile(r"[()]|\b[A-Za-z_]+\b")
ENDS = {"RETURNING", "ORDER", "LIMIT", "FOR", "GROUP", "UNION", "OFFSET", "HAVING", "ON", "WINDOW"}


@dataclass(frozen=True)
class Guard:
    """A piece of a statement's text, and the text without it."""

    start: int
    end: int
    instead: str
    kind: str

    def left_out(self, source: str) -> str:
        """Return the text without the guard."""
        return source[: self.start] + self.instead + source[self.end :]


def files(project: Path) -> list[Path]:
    """Return the files of statements that write states of runs or executions, or lock them."""
    return [
        file
        for folder in FOLDERS
        for file in sorted((project / folder).glob("*.sql"))
        if CHANGES.search(COMMENT.sub("", file.read_text()))
    ]


def found(source: str) -> list[Guard]:
    """Return all guards of one file, in their order."""
    text = _blank(source)
    guards = [*_conditions(text), *_locks(text)]
    return sorted(set(guards), key=lambda guard: (guard.start, guard.end))


def _blank(source: str) -> str:
    """Return a text of the same length, without comments; strings keep their quotes, and lose their
    brackets.
    """
    text = COMMENT.sub(lambda found: " " * len(found[0]), source)
    return TEXT.sub(lambda found: re.sub(r"[()]", "_", found[0]), text)


def _locks(text: str) -> Iterator[Guard]:
    for lock in LOCK.finditer(text):
        yield Guard(lock.start(), lock.end(), "", "leave out lock")
        if lock[0].endswith(" SKIP LOCKED"):
            yield Guard(lock.end() - len(" SKIP LOCKED"), lock.end(), "", "wait for lock")
    for sum_ in GROWS.finditer(text):
        yield Guard(sum_.start(), sum_.end(), "", "keep token")


def _conditions(text: str) -> Iterator[Guard]:
    tokens = list(TOKEN.finditer(text))
    for at, token in enumerate(tokens):
        word = token[0].upper()
        filters = at > 1 and tokens[at - 1][0] == "(" and tokens[at - 2][0].upper() == "FILTER"
        if word == "WHERE" and not filters:
            yield from _parts(text, token.end(), _end(text, tokens[at + 1 :], ENDS), GUARDS)
        elif word == "WHEN":
            end = _end(text, tokens[at + 1 :], {"THEN"})
            yield from _parts(text, token.end(), end, READS_EXECUTION)


def _end(text: str, tokens: list[re.Match[str]], ends: set[str]) -> int:
    """Return the end of a condition: at one of these words, or at the bracket around it."""
    depth = 0
    for token in tokens:
        word = token[0].upper()
        if word in {"(", "CASE"}:
            depth += 1
        elif word in {")", "END"}:
            depth -= 1
            if depth < 0:
                return token.start()
        elif depth == 0 and word in ends:
            return token.start()
    return len(text)


def _parts(text: str, start: int, end: int, wanted: re.Pattern[str]) -> Iterator[Guard]:
    """Yield each part of a condition: a part joined by AND becomes TRUE, one joined by OR becomes
    FALSE.
    """
    for word, instead in (("OR", "FALSE"), ("AND", "TRUE")):
        pieces = _split(text, start, end, word)
        if len(pieces) > 1 or word == "AND":
            for first, last in pieces:
                if wanted.search(text[first:last]):
                    yield Guard(first, last, instead, f"{instead.lower()} for a condition")
                    yield from _within(text, first, last, wanted)
            return


def _within(text: str, first: int, last: int, wanted: re.Pattern[str]) -> Iterator[Guard]:
    """Return the parts of a condition in brackets."""
    part = text[first:last]
    begins = 5 if part.startswith("NOT (") else 1 if part.startswith("(") else 0
    if not begins or not part.endswith(")") or part[begins:].lstrip().startswith("SELECT"):
        return
    inner = (first + begins, last - 1)
    if any(len(_split(text, *inner, word)) > 1 for word in ("OR", "AND")):
        yield from _parts(text, *inner, wanted)


def _split(text: str, start: int, end: int, word: str) -> list[tuple[int, int]]:
    """Return the pieces between the keywords outside brackets, without spaces."""
    depth, pieces, begin = 0, [], start
    for token in TOKEN.finditer(text, start, end):
        found = token[0].upper()
        if found in {"(", "CASE"}:
            depth += 1
        elif found in {")", "END"}:
            depth -= 1
        elif found == word and depth == 0:
            pieces.append((begin, token.start()))
            begin = token.end()
    pieces.append((begin, end))
    return [_stripped(text, *piece) for piece in pieces]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
