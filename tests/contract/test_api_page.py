"""docs/reference/api.md lists all existing operations, no others, and the correct roles."""

import re

from executions.access import ALLOWED, Action
from tests.support.document import document
from tests.support.stack import PROJECT

PAGE = (PROJECT / "docs" / "reference" / "api.md").read_text()
ADDRESS = re.compile(r"^\| `(/\S+)` \| (.+) \|$", re.MULTILINE)
OPERATION = re.compile(r"(?:^|<br>)`([A-Z]+) (\w+)`")
ROLE = re.compile(r"^\| ([A-Z]+) \|(.*)\|$", re.MULTILINE)


def test_the_page_lists_every_operation_and_no_other() -> None:
    schema = document()
    there_are = {
        (method.upper(), path, operation["operationId"])
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }

    listed = [
        (method, path, name)
        for path, cell in ADDRESS.findall(PAGE)
        for method, name in OPERATION.findall(cell)
    ]

    assert set(listed) == there_are
    assert len(listed) == len(there_are)


def test_the_page_gives_every_role_what_the_code_gives_it() -> None:
    printed = {
        role: {
            action
            for action, cell in zip(Action, cells.split("|"), strict=True)
            if cell.strip() == "yes"
        }
        for role, cells in ROLE.findall(PAGE)
    }

    assert printed == {str(role): set(actions) for role, actions in ALLOWED.items()}
