"""A folder as the archive, and old executions with runs, logs and labels."""

from pathlib import Path
from typing import Any

import pytest

from executions.models import Workflow, WorkflowExecution
from tests.support import admin_rows
from tests.support.aging import aged


@pytest.fixture
def archive(settings: Any, tmp_path: Path) -> Path:
    """The folder of the archive."""
    settings.VALKYR = {
        **getattr(settings, "VALKYR", {}),
        "ARCHIVE": f"file://{tmp_path}/archive",
    }
    folder = tmp_path / "archive"
    folder.mkdir()
    return folder


@pytest.fixture
def orders(db: None) -> Workflow:
    """A workflow."""
    return admin_rows.workflow()


def old(of: Workflow, days: float = 40, **values: Any) -> WorkflowExecution:
    """An execution whose retention is over, with two runs that have logs."""
    labels = {"order": "1047"}
    return aged(of, days, **{"output": {"sum": 7}, "labels": labels, **values})


def files(folder: Path) -> list[Path]:
    """The files in the archive."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
