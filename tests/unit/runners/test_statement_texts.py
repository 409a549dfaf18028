import re
from pathlib import Path

import pytest

from runners import statements

NAMES = sorted(path.stem for path in statements.FOLDER.glob("*.sql"))
PARTS = sorted(path.stem for path in (statements.FOLDER / "parts").glob("*.sql"))
PACKAGE = Path(statements.__file__).parent


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_is_short_enough_for_psycopg_to_keep_its_reading_of_it(name: str) -> None:
    assert len(statements.statement(name)) <= 4096


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_says_at_its_head_what_it_is_for(name: str) -> None:
    assert source(name).startswith("-- ")


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_is_used(name: str) -> None:
    sources = "".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    assert f'"{name}"' in sources


@pytest.mark.parametrize("part", PARTS)
def test_a_part_says_what_it_is_for_and_is_shared(part: str) -> None:
    assert source(f"parts/{part}").startswith("-- ")
    assert len([name for name in NAMES if f"--+ {part}\n" in source(name)]) > 1


def source(name: str) -> str:
    """Return a statement without the marks before it, such as `--! plan each time`."""
    text = (statements.FOLDER / f"{name}.sql").read_text()
    return re.sub(r"\A(?:--! .*\n)+", "", text)
