"""A change: one place of one file, named so that edits elsewhere do not change the name."""

import ast
import difflib
import hashlib
import json
import marshal
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tests.mutation import guards
from tests.mutation.operators import operators

PROJECT = Path(__file__).parents[2]
GROUPS = ("pipeline", "planning", "sql")
PIPELINE, PLANNING, SQL = GROUPS


@dataclass(frozen=True)
class Mutant:
    """One file with one change; `lines` are those of the changed statement."""

    group: str
    file: str
    line: int
    lines: tuple[int, ...]
    operator: str
    occurrence: int  # of the operator in the file
    was: str  # the lines that the change removes, without indentation
    becomes: str  # the replacement
    nth: int  # of those with the same text in the same file

    @cached_property
    def key(self) -> str:
        """A key that stays the same as long as the changed lines do."""
        words = f"{self.file}\0{self.was}\0{self.becomes}\0{self.nth}"
        return hashlib.sha256(words.encode()).hexdigest()[:10]

    @property
    def place(self) -> str:
        """The file and the line of the change."""
        return f"{self.file}:{self.line}"

    def diff(self) -> str:
        """Return the change as text, for readers."""
        was = "\n".join(f"    - {line}" for line in self.was.splitlines())
        becomes = "\n".join(f"    + {line}" for line in self.becomes.splitlines())
        return f"{was}\n{becomes}"

    def text(self) -> str:
        """Return the whole file, changed."""
        source = (PROJECT / self.file).read_text()
        if self.group == SQL:
            return guards.found(source)[self.occurrence].left_out(source)
        changed = mutate_code(source, operators()[self.operator], self.occurrence)
        assert changed is not None
        return str(changed)


def drawn(group: str, number: int | None, seed: int, folder: Path) -> list[Mutant]:
    """Return a number of a group's random mutants, the same for the same seed; all without a
    number.

    A change of the code changes the sample only a little, because each mutant has its own number.
    """
    found = [one for file in files(group) for one in of_file(group, file, folder)]
    if number is not None:
        found = sorted(found, key=lambda one: Random(f"{seed} {one.key}").random())[:number]
    return sorted(found, key=lambda one: (one.file, one.line, one.key))


def files(group: str) -> list[Path]:
    """Return the files of a group."""
    if group == SQL:
        return guards.files(PROJECT)
    return sorted((PROJECT / "runners" / group).glob("*.py"))


def of_file(group: str, file: Path, folder: Path) -> list[Mutant]:
    """Return all mutants of a file; cached in `folder`, since creating a thousand takes a
    minute.
    """
    source, name = file.read_text(), file.relative_to(PROJECT).as_posix()
    made_by = "".join(one.read_text() for one in sorted(Path(__file__).parent.glob("[gmo]*.py")))
    mark = hashlib.sha256(f"{made_by}\0{source}".encode()).hexdigest()[:16]
    kept = folder / f"{name.replace('/', '.')}.{mark}.json"
    if not kept.exists():
        made = of_sql(name, source) if group == SQL else of_python(group, name, source)
        kept.write_text(json.dumps([asdict(one) for one in made]))
    return [Mutant(**{**one, "lines": tuple(one["lines"])}) for one in json.loads(kept.read_text())]


def of_python(group: str, name: str, source: str) -> Iterator[Mutant]:
    """Yield every change of one file, except those that compile to the same code."""
    statements = _statements(source)
    compiled = {_code(source)}
    seen: Counter[tuple[str, str]] = Counter()
    tree = get_ast(source)
    for operator, instance in operators().items():
        places = [place for node in ast_nodes(tree) for place in instance.mutation_positions(node)]
        for occurrence, ((line, _), _) in enumerate(places):
            changed = mutate_code(source, instance, occurrence)
            if changed is None or (code := _code(changed)) in compiled:
                continue
            compiled.add(code)
            change = _difference(source, changed)
            lines = _around(statements, line)
            yield Mutant(group, name, line, lines, operator, occurrence, *change, seen[change])
            seen[change] += 1


def of_sql(name: str, source: str) -> Iterator[Mutant]:
    """Yield a mutant of one file for each guard that is left out."""
    seen: Counter[tuple[str, str]] = Counter()
    for index, guard in enumerate(guards.found(source)):
        change = _difference(source, guard.left_out(source))
        line = source.count("\n", 0, guard.start) + 1
        yield Mutant(SQL, name, line, (), guard.kind, index, *change, seen[change])
        seen[change] += 1


def _code(source: str) -> bytes:
    return hashlib.sha256(marshal.dumps(compile(source, "mutant", "exec"))).digest()


def _difference(source: str, changed: str) -> tuple[str, str]:
    both: dict[str, list[str]] = {"-": [], "+": []}
    for line in difflib.ndiff(source.splitlines(), changed.splitlines()):
        if line[0] in both:
            both[line[0]].append(line[2:].strip())
    return "\n".join(both["-"]), "\n".join(both["+"])


def _statements(source: str) -> list[tuple[int, int]]:
    """Return the first and last line of every statement; for one with a body, of its head."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno
            found.append((node.lineno, max(node.lineno, end or node.lineno)))
    return found


def _around(statements: Iterable[tuple[int, int]], line: int) -> tuple[int, ...]:
    covering = [(end - start, start, end) for start, end in statements if start <= line <= end]
    if not covering:
        return (line,)
    _, start, end = min(covering)
    return tuple(range(start, end + 1))
