"""Banned words are found only in texts that people read."""

from pathlib import Path

import pytest

from tools.plain_words import (
    BANNED,
    Finding,
    files,
    in_file,
    in_markdown,
    in_python,
    in_template,
    in_typescript,
)

GUIDE = Path(__file__).parents[3] / "docs" / "contributing" / "writing.md"


def phrases(found: object) -> list[tuple[int, str]]:
    assert not isinstance(found, Finding)
    return [(one.line, one.phrase) for one in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "sentence",
    [
        "Each entry goes home once.",
        "Send a thousand home.",
        "It waits for ever.",
        "Mend the problems first.",
        "taken over by whoever claims it",
        "It begins anew.",
        "what became of each",
        "Nobody is told of it.",
        "shown to who may see it",
        "a project of yours",
        "with changed inputs if need be",
        "So many go first, and are waited for.",
        "It is kept till then.",
    ],
)
def test_a_banned_phrase_is_found(sentence: str) -> None:
    assert len(list(in_markdown(sentence))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "The home page lists workflows.",
        "Go to the home page.",
        "an amendment, a recommended setting",
        "People who may see it, and those who may not.",
        "The settings are yours.",
        "The stiller the better; until then.",
        "Tell the office.",
    ],
)
def test_plain_sentences_are_let_be(sentence: str) -> None:
    assert list(in_markdown(sentence)) == []


def test_a_phrase_over_two_lines_is_found_at_its_first() -> None:
    assert phrases(in_markdown("One.\nIt waits for\never.\n")) == [(2, "for ever")]


def test_code_and_link_targets_of_a_page_are_not_read() -> None:
    page = "`mend()` and [a page](anew.md)\n\n```sh\necho for ever\n```\n\nMend it.\n"

    assert phrases(in_markdown(page)) == [(7, "Mend")]


def test_of_python_literals_are_read_and_docstrings_and_names_are_not() -> None:
    source = '''"""Begin anew."""
anew = "again"  # anew


def mend() -> str:
    """Mend it."""
    return f"mend {anew} or wait " "for ever"
'''

    assert phrases(in_python(source)) == [(7, "mend"), (7, "for ever")]


def test_of_templates_the_text_is_read() -> None:
    assert phrases(in_template("{# anew #}{{ anew }}\n<p>Mend it.</p>")) == [(2, "Mend")]


def test_of_the_studio_comments_are_not_read() -> None:
    source = '/* anew\n */\nsay("Mend it."); // anew\nfetch("https://a.example/anew");\n'

    assert phrases(in_typescript(source)) == [(3, "Mend"), (4, "anew")]


def test_migrations_tests_and_built_files_are_not_read(tmp_path: Path) -> None:
    for name in (
        "executions/migrations/0001_initial.py",
        "tests/test_any.py",
        "executions/static/executions/studio/LICENSES.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('"mend" + "it"')
        assert list(in_file(name, tmp_path)) == []


def test_a_phrase_that_a_literal_breaks_off_is_found(tmp_path: Path) -> None:
    (tmp_path / "dlq").mkdir()
    (tmp_path / "dlq" / "any.py").write_text('HELP = (\n    "It waits for "\n    "ever."\n)\n')

    assert phrases(in_file("dlq/any.py", tmp_path)) == [(2, "for ever")]


def test_a_page_that_git_does_not_know_yet_is_read_too() -> None:
    assert "tools/plain_words.py" in files()


def test_the_guide_shows_each_banned_phrase() -> None:
    guide = GUIDE.read_text().split("## Banned words")[1].split("## Banned constructions")[0]
    shown = {one.instead for one in in_markdown(guide)}
    elsewhere = {"send this many first", "health checks", "is leased by another worker"}

    assert shown >= {instead for _, instead in BANNED} - elsewhere
