"""Terminal output, the commands of a minimal installation, and the completeness of the page."""

import os
import pty
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from executions.models import Workflow
from tests.cli.conftest import Valkyr
from tests.support.stack import PROJECT
from tests.support.workflows import start
from valkyr.cli.commands import COMMANDS
from valkyr.cli.errors import Exit
from valkyr.cli.main import root
from valkyr.cli.options import Choices
from valkyr.cli.output import CommandOutput, fitted

ESCAPE = "\x1b[2J"


def on_a_terminal(*words: object) -> tuple[int, str]:
    """Return the exit code and the output on a terminal."""
    main_end, other_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "valkyr", *map(str, words)],
        cwd=PROJECT,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "120"},
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
    )
    os.close(other_end)
    said = b""
    try:
        while part := os.read(main_end, 65536):
            said += part
    except OSError:  # the other end is closed
        pass
    os.close(main_end)
    return process.wait(60), said.decode()


def bare(program: str) -> "subprocess.CompletedProcess[str]":
    """Run a program that cannot import the packages of the extra `cli`."""
    hidden = "import sys\nfor name in ('httpx', 'rich'): sys.modules[name] = None\n"
    return subprocess.run(
        [sys.executable, "-c", hidden + program],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_terminal_gets_tables_with_colours(valkyr: Valkyr, echo: Workflow) -> None:
    execution = start(echo, {"value": 1})
    watched, listed = on_a_terminal("watch", execution), on_a_terminal("list", "--limit", 1)
    ran = on_a_terminal("run", echo.slug, "--input", '{"value": {"n": 1}}')

    assert [watched[0], listed[0], ran[0]] == [0, 0, 0], watched[1] + listed[1] + ran[1]
    assert "say.main" in watched[1]
    assert "\x1b[32mSUCCESS" in watched[1]
    assert str(execution) in listed[1]
    assert "succeeded" in ran[1]


def test_a_narrow_terminal_shortens_times_and_prose_and_nothing_else() -> None:
    pk, year = "01a21228-d5c0-7b1b-91f5-544759e6683f", datetime.now(UTC).year
    row = [pk, f"{year}-02-03 04:05:06Z", "1999-02-03 04:05:06Z", "so it went " * 9]

    rows, widths = fitted(["ID", "CREATED", "EXPIRES", "REASON"], [row], 100)
    wide, _ = fitted(["ID", "CREATED", "EXPIRES", "REASON"], [row], 300)

    assert rows[0] == [pk, "02-03 04:05Z", "1999-02-03 04:05Z", row[3]]
    assert widths == [36, 12, 17, 27]
    assert wide == [row]


def test_text_of_others_cannot_steer_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    output = CommandOutput(Choices(environment={}))
    output.table([{"id": "1", "name": f"a{ESCAPE}b"}], [("ID", "id"), ("NAME", "name")])
    output.record({"id": "1", "name": f"a{ESCAPE}b\r"}, [("Name", "name")])
    output.text(f"log {ESCAPE}")
    output.note(f"note {ESCAPE}")

    said = capfd.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "\r" not in said.out


def test_without_the_extra_it_says_what_to_install() -> None:
    done = bare("from valkyr.cli import main\nsys.exit(main(['list', '--url', 'http://x']))")

    assert done.returncode == 10
    assert 'pip install "valkyr[cli]"' in done.stderr


def test_without_the_extra_the_schema_and_the_help_are_there() -> None:
    done = bare("from valkyr.cli import main\nsys.exit(main(['schema', '--local']))")
    helped = bare("from valkyr.cli import main\nsys.exit(main(['--help']))")

    assert (done.returncode, helped.returncode) == (0, 0), done.stderr + helped.stderr
    assert "redrive" in helped.stdout


def test_help_loads_neither_django_nor_a_client() -> None:
    heavy = ("django", "celery", "httpx", "rich")
    program = "from valkyr.cli import main\nmain(['run', '--help'])\n"
    program += f"print([name for name in {heavy} if sys.modules.get(name)])"

    assert bare(program).stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_shells_script(offline: Valkyr, shell: str) -> None:
    said = offline("completion", shell)

    assert said.code == 0
    assert "_VALKYR_COMPLETE" in said.out


def test_the_shell_completes_commands() -> None:
    asked = {"_VALKYR_COMPLETE": "bash_complete", "COMP_WORDS": "valkyr dea", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "valkyr"],
        cwd=PROJECT,
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.stdout.strip() == "plain,dead"


def test_the_page_lists_every_command_exit_code_and_variable() -> None:
    page = (PROJECT / "docs" / "reference" / "cli.md").read_text()
    context = click.Context(root)
    commands = {
        f"valkyr {name}" + (f" {inner}" if inner else "")
        for name in COMMANDS
        for command in [root.get_command(context, name)]
        for inner in (command.list_commands(context) if isinstance(command, click.Group) else [""])
    }
    sources = "".join(p.read_text() for p in (PROJECT / "valkyr").rglob("*.py"))
    variables = set(re.findall(r'"(VALKYR_[A-Z]+)"', sources))

    assert sorted(c for c in commands if f"`{c}" not in page) == []
    assert [c.name for c in Exit if f"| {c.value} | `{c.name}` |" not in page] == []
    assert sorted(v for v in variables if f"`{v}`" not in page) == []


def test_the_page_links_to_pages_that_exist() -> None:
    page = PROJECT / "docs" / "reference" / "cli.md"
    targets = re.findall(r"\]\(([a-z_./-]+\.md)", page.read_text())

    assert [t for t in targets if not Path(page.parent, t).is_file()] == []
