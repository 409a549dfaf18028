"""Tests of the rows of file steps' tables of bad inputs that need a folder or a closed port."""

import pytest

from runners.modules.base import Bad
from runners.segment.step_context import Context
from tests.plugins.connectors.files_with_trouble import lay_out
from tests.support.bad_inputs import check_row, rows
from valkyr_project.embedded.child import free_port

TYPES = ["file.read", "file.write", "file.list", "file.delete"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    lay_out(tmp_path / "files")
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path / "files"))


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="", types=TYPES))
def test_a_bad_input_is_told(module_type: str, bad: Bad, step_context: Context) -> None:
    check_row(module_type, bad, step_context)


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="files", types=TYPES))
def test_trouble_in_the_folder_is_told(module_type: str, bad: Bad, step_context: Context) -> None:
    check_row(module_type, bad, step_context)


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="closed_port", types=TYPES))
def test_a_server_that_is_not_there_is_told(
    module_type: str, bad: Bad, step_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    check_row(module_type, bad, step_context, f"http://127.0.0.1:{free_port()}")
