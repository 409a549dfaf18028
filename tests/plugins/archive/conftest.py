"""Fixtures: a folder as the archive, and old executions with runs, logs and labels."""

from pathlib import Path
from typing import Any

import pytest

from executions.models import Workflow, WorkflowExecution
from tests.support import admin_rows
from tests.support.aging import aged


@pytest.fixture
def archive(settings: Any, tmp_path: Path) -> Path:
    """Configure the archive; return its folder."""
    settings.VALKYR = {
        **getattr(settings, "VALKYR", {}),
        "ARCHIVE": f"file://{tmp_path}/archive",
    }
    folder = tmp_path / "archive"
    folder.mkdir()
    return folder


@pytest.fixture
def orders(db: None) -> Workflow:
    """Create a workflow."""
    return admin_rows.workflow()


def old(of: Workflow, days: float = 40, **values: Any) -> WorkflowExecution:
    """Create an execution whose retention period has ended, with two runs that have logs."""
    labels = {"order": "1047"}
    return aged(of, days, **{"output": {"sum": 7}, "labels": labels, **values})


def files(folder: Path) -> list[Path]:
    """Return the files in the archive."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def damage(file: Path, where: float = 0.5) -> None:
    """Overwrite some bytes of a file, at this share of its length."""
    content = bytearray(file.read_bytes())
    start = int(len(content) * where)
    content[start : start + 64] = b"\xff" * len(content[start : start + 64])
    file.write_bytes(content)
