"""The changes of `make mutate` in a running process."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.mutation import applied, guards, judging, mutants, session
from tests.mutation.mutants import Mutant, of_python
from tests.mutation.reach import Reached

STATEMENT = """
-- Comments (WHERE state) are no guards.
WITH found AS (
    SELECT id FROM runners_run WHERE state = 'A (b)' AND id = %(id)s FOR UPDATE SKIP LOCKED
)
UPDATE runners_run r
   SET lease_token = r.lease_token + 1
 WHERE r.id = %(run)s
   AND (r.state = 'PENDING' OR (r.state = 'RUNNING' AND r.lease_until < now()))
RETURNING count(*) FILTER (WHERE state = 'A')
"""


def test_each_guard_of_a_statement_is_left_out_once() -> None:
    taken = [
        (STATEMENT[guard.start : guard.end], guard.instead) for guard in guards.found(STATEMENT)
    ]
    either = "(r.state = 'PENDING' OR (r.state = 'RUNNING' AND r.lease_until < now()))"
    assert taken == [
        ("state = 'A (b)'", "TRUE"),
        ("FOR UPDATE SKIP LOCKED", ""),
        (" SKIP LOCKED", ""),
        (" + 1", ""),
        (either, "TRUE"),
        ("r.state = 'PENDING'", "FALSE"),
        ("(r.state = 'RUNNING' AND r.lease_until < now())", "FALSE"),
        ("r.state = 'RUNNING'", "TRUE"),
        ("r.lease_until < now()", "TRUE"),
    ]


def test_a_line_is_changed_in_each_way_that_compiles_to_something_else() -> None:
    source = "def f(a, b):\n    if a and not b:\n        g(a)\n    return a is None\n"
    found = {(one.line, one.becomes) for one in of_python("room", "file.py", source)}
    assert found == {
        (2, "if not a and not b:"),
        (2, "if a or not b:"),
        (2, "if a and  b:"),
        (3, "pass"),
        (4, "return a is not None"),
    }


def test_a_product_is_changed_and_a_signature_is_not() -> None:
    source = "def f(a, *, b):\n    return a * b\n"
    found = {(one.line, one.becomes) for one in of_python("room", "file.py", source)}
    assert found == {(2, "return a / b")}


def test_what_decides_nothing_is_left_alone() -> None:
    source = "log.info('so')\nmetrics.SEEN.inc()\n"
    assert not list(of_python("room", "file.py", source))


def test_a_mutant_keeps_its_name_when_lines_are_added_above() -> None:
    source = "def f(a):\n    return a is None\n"
    before = {one.key for one in of_python("room", "file.py", source)}
    assert before == {one.key for one in of_python("room", "file.py", f"X = None\n\n{source}")}


BEFORE = """
from contextlib import contextmanager
MOST = 3

@contextmanager
def doubled(number, times=2):
    yield number * times

class Counter:
    def most(self):
        return [one for one in range(MOST)]
"""
AFTER = (
    BEFORE.replace("MOST = 3", "MOST = 4")
    .replace("times=2", "times=5")
    .replace("[one for", "[-one for")
)


def test_code_defaults_and_constants_are_exchanged_in_place() -> None:
    module, fresh = ModuleType("before"), {"__name__": "before"}
    exec(compile(BEFORE, "before", "exec"), module.__dict__)
    exec(compile(AFTER, "before", "exec"), fresh)
    names: Any = module
    kept = names.Counter(), names.doubled

    assert applied._exchange_functions(module, fresh) == 2
    assert applied._exchange_constants(module, fresh) == 1
    assert kept[0].most() == [0, -1, -2, -3]
    with kept[1](2) as doubled:
        assert doubled == 10


def test_a_part_is_of_all_statements_that_have_it() -> None:
    found = applied.statements_of("runners/sql/parts/claim_run.sql")
    assert found == {"runners/sql/claim", "runners/sql/claim_without_waiting"}


def test_equivalents_are_not_counted(tmp_path: Path) -> None:
    one = Mutant("planning", "file.py", 3, (3,), "AddNot", 0, "if a:", "if not a:", 0)
    other = Mutant("planning", "file.py", 5, (5,), "AddNot", 1, "if b:", "if not b:", 0)
    kept = session.Session(tmp_path / "results")
    kept.add(session.Result(one.key, session.SURVIVED))
    kept.add(session.Result(other.key, session.KILLED))
    listed = tmp_path / "equivalent.toml"
    listed.write_text(
        '[[equivalent]]\nfile = "file.py"\nwas = "if a:"\nbecomes = "if not a:"\nwhy = "same"\n'
    )
    told = session.report([one, other], session.Session(tmp_path / "results"), _listed(listed))
    assert told.splitlines()[-1] == "| together | 2 | 1 | 0 | 0 | 0 | 0 | 1 | 100.0 % |"
    assert _listed(listed).unknown([other]) == ["file.py: if a:"]


def _listed(file: Path) -> session.Equivalents:
    return session.Equivalents(file)


def test_a_change_of_one_line_leaves_the_rest_of_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "runners/planning/decides.py"
    file.parent.mkdir(parents=True)
    monkeypatch.setattr(mutants, "PROJECT", tmp_path)
    lines = [f"def f{n}(a, b):\n    return a is None and b\n" for n in range(40)]
    file.write_text("".join(lines))
    before = {one.key for one in mutants.drawn("planning", 20, 1, tmp_path)}
    file.write_text("".join(lines[1:]))
    after = {one.key for one in mutants.drawn("planning", 20, 1, tmp_path)}
    assert len(after) == len(before) == 20
    assert len(after & before) >= 16


def test_lines_of_a_file_that_changed_are_not_told_apart() -> None:
    known = Reached(1.0, {"a.py": [3], "b.py": [3]}, [], frozenset({"b.py"}))
    assert [known.executes(file, {4}) for file in ("a.py", "b.py", "c.py")] == [False, True, False]
    assert known.executes("a.py", {3, 4})


def test_each_file_of_tests_has_its_turn() -> None:
    assert judging._turns(["a::1", "a::2", "b::1", "a::3"]) == {
        "a::1": 0, "a::2": 1, "b::1": 0, "a::3": 2,
    }  # fmt: skip
