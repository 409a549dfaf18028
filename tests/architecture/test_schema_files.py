"""The schemas in docs/reference equal the code; one command writes them."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from tests.support.document import document

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_the_files_are_what_the_command_writes() -> None:
    call_command("write_schemas", "--check")

    Draft202012Validator.check_schema(json.loads((REFERENCE / "workflow.schema.json").read_text()))
    validate(json.loads((REFERENCE / "openapi.json").read_text()))


def test_the_files_do_not_depend_on_whose_installation_wrote_them() -> None:
    written = json.loads((REFERENCE / "openapi.json").read_text())
    served = document()

    assert written.pop("servers") == [
        {"url": "http://127.0.0.1:8000", "description": "Under `make up`."}
    ]
    del served["servers"]
    assert written == served


def test_a_file_that_is_behind_is_named_and_written_anew(tmp_path: Path) -> None:
    call_command("write_schemas", "--into", str(tmp_path))
    (tmp_path / "workflow.schema.json").write_text("{}")

    with pytest.raises(CommandError, match=r"^workflow\.schema\.json in .* run `make schemas`"):
        call_command("write_schemas", "--check", "--into", str(tmp_path))
    call_command("write_schemas", "--into", str(tmp_path))
    call_command("write_schemas", "--check", "--into", str(tmp_path))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "schemas"

    with pytest.raises(CommandError, match=rf"^there is no folder {missing}; .* --into$"):
        call_command("write_schemas", "--into", str(missing))
