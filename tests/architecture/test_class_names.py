"""A class name has one meaning: no two classes of different subjects share a name."""

import ast
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).parents[2]
APPS = ("executions", "runners", "dlq", "valkyr_project", "valkyr_plugins", "valkyr")
# Equal names in parallel places: Django's own, filters of admin lists, request handlers.
PARALLEL = {
    "Command", "EntryFilters", "Handler", "LinesRenderer", "Meta", "Migration", "ResolutionFilter",
    "StateFilter", "StatusFilter",
}  # fmt: skip
# Names that still have two meanings. Rename one of the classes and remove the name; add none.
SHARED = {
    "Bar", "Grant", "Reason", "Step", "Tally", "Window", "WorkspaceUsage",
}  # fmt: skip


def test_no_two_classes_share_a_name() -> None:
    names = Counter(
        node.name
        for app in APPS
        for file in (PROJECT / app).rglob("*.py")
        if "node_modules" not in file.parts
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    shared = {name for name, number in names.items() if number > 1} - PARALLEL

    assert shared <= SHARED, f"{sorted(shared - SHARED)}: give each class a name of its own"
    assert shared >= SHARED, f"{sorted(SHARED - shared)} have one meaning now: take them out"
