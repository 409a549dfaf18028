"""The program that takes pictures of two commits waits for the demo's output."""

import inspect
from pathlib import Path

from tests.browser.before_after import PAGES, READY, side_by_side
from valkyr_project.demo import run


def test_the_demo_says_what_the_pictures_wait_for() -> None:
    assert READY in inspect.getsource(run)


def test_a_page_that_a_commit_lacks_leaves_its_place_empty(tmp_path: Path) -> None:
    (tmp_path / "after").mkdir()
    (tmp_path / "after" / "0-1440.png").touch()

    page = side_by_side(tmp_path, "<old>", "HEAD")

    assert 'src="after/0-1440.png"' in page
    assert "&lt;old&gt;" in page
    assert page.count("no such page") == 4 * len(PAGES) - 1
