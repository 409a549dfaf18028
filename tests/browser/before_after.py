"""`python -m tests.browser.before_after`: take pictures of the demo's pages at two commits, side by
side.

Each commit is checked out to a temporary folder and runs `make demo` there with its own data, in
this project's .venv if it needs the same packages. If a page is missing from a commit, its cell is
empty.
"""

import argparse
import html
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.chromium import REASON, chromium_path

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

PROJECT = Path(__file__).parents[2]
READY = "; Ctrl-C stops both."
PATIENCE_SECONDS = 600.0
SIZES = {"1440": (1440, 900), "390": (390, 844)}
ROW = "#result_list tbody tr th a, #result_list tbody tr td a"


@dataclass(frozen=True)
class Page:
    """A page: its path, and whether to open the first row of its list."""

    title: str
    path: str
    first_row: bool = False
    then: str = ""  # appended to the address of the row


PAGES = (
    Page("Home", "/admin/"),
    Page("Executions", "/admin/executions/workflowexecution/"),
    Page("An execution", "/admin/executions/workflowexecution/", first_row=True),
    Page("Its monitor", "/admin/executions/workflowexecution/", first_row=True, then="../monitor/"),
    Page("Failures", "/admin/dlq/failuregroup/"),
    Page("Dead letters", "/admin/dlq/deadletterentry/"),
    Page("A dead letter", "/admin/dlq/deadletterentry/", first_row=True),
    Page("Workflows", "/admin/executions/workflow/"),
    Page("Schedules", "/admin/executions/trigger/"),
    Page("Studio", "/studio/"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures; return 0, or 1 if a commit's demo does not start."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.browser.before_after", description=__doc__
    )
    parser.add_argument("before", help="a commit, such as one of last month")
    parser.add_argument("after", nargs="?", default="HEAD", help="another (HEAD)")
    parser.add_argument("--out", type=Path, default=Path("before-after"), help="the folder")
    parser.add_argument("--dark", action="store_true", help="in the dark theme")
    given = parser.parse_args(arguments)
    program = chromium_path()
    if program is None:
        print(REASON, file=sys.stderr)
        return 1
    for name, commit in (("before", given.before), ("after", given.after)):
        folder = given.out / name
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{name}: {commit}", flush=True)
        try:
            with checked_out(commit) as checkout, demo(checkout) as (url, password):
                picture(program, url, password, folder, dark=given.dark)
        except (subprocess.CalledProcessError, TimeoutError) as error:
            print(f"{commit}: {error}", file=sys.stderr)
            return 1
    page = given.out / "index.html"
    page.write_text(side_by_side(given.out, given.before, given.after))
    print(page)
    return 0


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Yield a folder with the files of a commit."""
    home = Path(tempfile.mkdtemp(prefix="valkyr-pictures-"))
    checkout = home / "project"
    try:
        _git("clone", "--quiet", "--no-checkout", str(PROJECT), str(checkout))
        _git("-C", str(checkout), "checkout", "--quiet", "--detach", _git("rev-parse", commit))
        if _packages(checkout) == _packages(PROJECT):
            (checkout / ".venv").symlink_to((PROJECT / ".venv").resolve())
        yield checkout
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def demo(checkout: Path) -> Iterator[tuple[str, str]]:
    """Run the demo of a checkout; yield its address and the administrator's password.

    Raise TimeoutError if it is not ready in 10 minutes.
    """
    port, home, log = 18500, checkout.parent / "home", checkout.parent / "demo.log"
    settings = {"VALKYR_HOME": str(home), "PORT": str(port), "FLOWER_PORT": str(port + 1)}
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["make", "demo"],
            cwd=checkout,
            env={**os.environ, **settings},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await(process, log)
        secrets = tomllib.loads(_quoted((home / "secrets.env").read_text()))
        yield f"http://127.0.0.1:{port}", str(secrets["VALKYR_ADMIN_PASSWORD"])
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(120)


def picture(program: str, url: str, password: str, folder: Path, *, dark: bool) -> None:
    """Take a picture of each page in each size."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        for size, (width, height) in SIZES.items():
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
            )
            tab = context.new_page()
            tab.goto(f"{url}/admin/login/")
            tab.fill("#id_username", "admin")
            tab.fill("#id_password", password)
            tab.press("#id_password", "Enter")
            tab.wait_for_load_state("networkidle")
            for number, page in enumerate(PAGES):
                if _opened(tab, url, page):
                    tab.screenshot(path=folder / f"{number}-{size}.png")
        browser.close()


def side_by_side(folder: Path, before: str, after: str) -> str:
    """Return an HTML page with the pictures in `folder`."""
    rows = []
    for number, page in enumerate(PAGES):
        for size in SIZES:
            cells = [
                f'<td><img src="{name}/{number}-{size}.png" loading="lazy" alt="{name}"></td>'
                if (folder / name / f"{number}-{size}.png").exists()
                else "<td>no such page</td>"
                for name in ("before", "after")
            ]
            rows.append(
                f"<tr><th colspan=2>{html.escape(page.title)}, {size} px</th></tr>"
                f"<tr>{''.join(cells)}</tr>"
            )
    style = (
        "img{max-width:100%;border:1px solid #ccc}td{width:50%;vertical-align:top}th{padding:1em}"
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>Before and after</title><style>{style}</style>"
        f"<table><tr><td>{html.escape(before)}</td><td>{html.escape(after)}</td></tr>"
        f"{''.join(rows)}</table>"
    )


def _packages(project: Path) -> str:
    return (project / "requirements.txt").read_text()


def _opened(tab: "Tab", url: str, page: Page) -> bool:
    """Open a page; return whether it exists."""
    answer = tab.goto(url + page.path)
    if answer is None or answer.status >= 400:
        return False
    if page.first_row:
        row = tab.locator(ROW).first
        if not row.count():
            return False
        answer = tab.goto(url + str(row.get_attribute("href")))
        if page.then:
            answer = tab.goto(tab.url.split("?")[0] + page.then)
        if answer is None or answer.status >= 400:
            return False
    with suppress(Exception):  # a live page may never be idle
        tab.wait_for_load_state("networkidle", timeout=5_000)
    return True


def _await(process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while READY not in (said := log.read_text(errors="replace")):
        if process.poll() is not None or time.monotonic() > deadline:
            raise TimeoutError(f"the demo is not ready:\n{said[-2_000:]}")
        time.sleep(0.5)


def _quoted(text: str) -> str:
    """Return lines of NAME=value as TOML."""
    pairs = [line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#"]
    return "\n".join(f"{name} = '{value.strip()}'" for name, value in pairs)


def _git(*arguments: str) -> str:
    found = subprocess.run(
        ["git", *arguments], cwd=PROJECT, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
