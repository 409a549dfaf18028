"""The studio's own tests use the form of every module, and their list of modules is current.

Write the list again with `VALKYR_WRITE=1 .venv/bin/python -m pytest -q` and this file.
"""

import json
import os
from pathlib import Path

from executions.definition.catalog import catalog

LIST = Path(__file__).parents[2] / "executions/frontend/tests/module-forms.jsonl"


def written() -> str:
    """Return one line per module: its type, its schema and a valid `with`."""
    specs = sorted(catalog().values(), key=lambda spec: spec.type)
    known = [
        {"type": spec.type, "example": spec.example, "inputsSchema": spec.inputs_schema}
        for spec in specs
        if not spec.type.startswith("test.")
    ]
    lines = [json.dumps(one, sort_keys=True, ensure_ascii=False) for one in known]
    return "".join(f"{line}\n" for line in lines)


def test_the_forms_are_tried_with_the_modules_as_they_are() -> None:
    if os.environ.get("VALKYR_WRITE"):
        LIST.write_text(written())

    assert LIST.read_text() == written(), "modules changed: write the list anew, see above"


def test_titles_of_modules_are_words_not_class_names() -> None:
    titles = [spec.title for spec in catalog().values() if not spec.type.startswith("test.")]

    assert [title for title in titles if title.endswith("Module") or "_" in title] == []
