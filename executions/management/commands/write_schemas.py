"""Write the schemas into docs/reference, where they can be read without an installation."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rest_framework.utils.encoders import JSONEncoder

from executions.api.openapi import document
from executions.definition.graph.schema import WORKFLOW_SCHEMA

# Exists only in a checkout; an installed package has no such folder.
REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
# Replaces the address of the machine that writes the file.
SERVER = {"url": "http://127.0.0.1:8000", "description": "Under `make up`."}


class Command(BaseCommand):
    """Write the schemas into files."""

    help = "Write the workflow's JSON Schema and the API's OpenAPI document as files."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options `--into` (the folder) and `--check` (only compare)."""
        parser.add_argument("--into", type=Path, default=REFERENCE, metavar="FOLDER")
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if a file is not current"
        )

    def handle(self, *args: Any, **options: Any) -> str:
        """Write the files that differ; with `check`, only raise CommandError if any differ."""
        into: Path = options["into"]
        if not into.is_dir():
            raise CommandError(f"there is no folder {into}; name an existing folder with --into")
        behind = {name: text for name, text in files().items() if _there(into / name) != text}
        if options["check"] and behind:
            raise CommandError(
                f"{', '.join(behind)} in {into} do not match the code; run `make schemas` and "
                "commit the result"
            )
        for name, text in behind.items():
            (into / name).write_text(text, encoding="utf-8")
        return f"{len(behind)} schemas written" if behind else "every schema is current"


def files() -> dict[str, str]:
    """Return the texts of the files, by file name."""
    described = document() | {"servers": [SERVER]}
    return {"workflow.schema.json": _text(WORKFLOW_SCHEMA), "openapi.json": _text(described)}


def _text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False, cls=JSONEncoder) + "\n"


def _there(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
