"""The release workflow runs pinned actions, and only jobs that sign may sign."""

import re
from typing import Any

import pytest
import yaml

from tests.support.stack import PROJECT

FILE = PROJECT / ".github/workflows/release.yml"
TEXT = FILE.read_text()
WORKFLOW: dict[Any, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, Any] = WORKFLOW["jobs"]
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
WRITES = {
    "build": set(),
    "image": {"packages", "id-token", "attestations"},
    "publish": {"contents", "id-token", "attestations"},
}


def test_every_action_is_pinned_by_commit_and_names_its_version() -> None:
    lines = [line.strip().removeprefix("- ") for line in TEXT.splitlines() if "uses:" in line]

    assert len(lines) > 10
    assert [line for line in lines if not PINNED.fullmatch(line)] == []


def test_a_version_has_one_commit() -> None:
    pairs = set(re.findall(r"uses: (\S+)@(\w{40}) # (\S+)", TEXT))

    assert len({name for name, _, _ in pairs}) == len(pairs)


def test_the_job_that_runs_the_projects_code_may_only_read() -> None:
    assert WORKFLOW["permissions"] == {}
    for name, job in JOBS.items():
        writes = {what for what, how in job["permissions"].items() if how != "read"}
        assert writes == WRITES[name]


def test_no_text_from_outside_becomes_part_of_a_script() -> None:
    scripts = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]

    assert scripts
    assert [script for script in scripts if "${{" in script] == []


def test_no_credential_stays_in_a_checkout() -> None:
    steps = [step for job in JOBS.values() for step in job["steps"]]
    checkouts = [step for step in steps if "checkout@" in step.get("uses", "")]

    assert [step["with"]["persist-credentials"] for step in checkouts] == [False, False]


@pytest.mark.parametrize("job", JOBS)
def test_every_job_ends(job: str) -> None:
    assert JOBS[job]["timeout-minutes"] <= 60


def test_it_builds_as_the_page_says() -> None:
    page = (PROJECT / "docs/how-to/verify-a-release.md").read_text()

    assert "make release ARGS=" in TEXT
    assert "make release ARGS=" in page
    assert re.search(r"^release: ", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert "SOURCE_DATE_EPOCH" in (PROJECT / "deploy/Dockerfile").read_text()
