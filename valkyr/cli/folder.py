"""Convert a folder of definitions to a bundle, and back.

    valkyr.yaml                 the folder's mark; `workspace:` names the default workspace
    workflows/<slug>.yaml       one definition each, also in subfolders
    budgets.yaml, quotas.yaml … a list of items of this kind

A file that already describes the exported definitions is not rewritten. Its comments and layout are
kept.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valkyr.cli.errors import CliError, Exit, usage

MARK = "valkyr.yaml"
WORKFLOWS = "workflows"
SCHEMA = "valkyr-bundle/1"
HEADER = "# Definitions of a Valkyr workspace. See docs/how-to/git.md.\n"
SUFFIXES = (".yaml", ".yml", ".json")
STEP = re.compile(r'\[(\d+)\]|\["((?:[^"])*)"\]|\.?([^.\[]+)')


@dataclass
class DefinitionFile:
    """One file in a folder of definitions, with its text."""

    path: Path
    text: str


@dataclass
class DefinitionFolder:
    """The content of a folder; `files` maps each part's path in the bundle to the part's file."""

    path: Path
    workspace: str = ""
    workflows: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, list[Any]] = field(default_factory=dict)
    files: dict[str, DefinitionFile] = field(default_factory=dict)

    @property
    def bundle(self) -> dict[str, Any]:
        """Return the bundle for the API."""
        return {"workflows": self.workflows, "resources": self.resources}

    def place(self, path: str) -> str:
        """Return `file:line` for a path in the bundle, or the folder if no file has the path."""
        for known, file in self.files.items():
            if path == known or path.startswith((f"{known}.", f"{known}[")):
                line = line_of(file.text, path[len(known) :])
                return f"{file.path}:{line}"
        return str(self.path)


def is_folder(text: str) -> bool:
    """Return whether `text` names a folder, not a workflow: `./x`, `x/`, or a marked folder."""
    return text in {".", ".."} or "/" in text or (Path(text) / MARK).is_file()


def read_folder(path: Path) -> DefinitionFolder:
    """Return the content of a folder. Raises a CliError with the file and line of each mistake."""
    if not path.is_dir():
        raise usage(f"There is no folder {path}.", f"`valkyr export {path}/` creates it.")
    folder = DefinitionFolder(path)
    if not (path / MARK).is_file() and not (path / WORKFLOWS).is_dir():
        raise usage(
            f"{path} is not a folder of definitions: it has no {MARK} and no folder {WORKFLOWS}.",
            f"`valkyr export {path}/` writes one.",
        )
    problems: list[dict[str, str]] = []
    for file in sorted(path.iterdir()):
        if file.is_file() and file.suffix in SUFFIXES and not file.name.startswith("."):
            _take_list(folder, file, problems)
    for file in sorted((path / WORKFLOWS).rglob("*")):
        if file.is_file() and file.suffix in SUFFIXES:
            _take_workflow(folder, file, problems)
    if problems:
        raise invalid(problems)
    return folder


def invalid(problems: list[dict[str, str]]) -> CliError:
    """Return the error for files with these problems; each problem's path is a file and a line."""
    many = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return CliError(
        f"The definitions have {many}.",
        Exit.INVALID,
        problem={"code": "invalid_bundle", "errors": problems},
    )


def _take_list(folder: DefinitionFolder, file: Path, problems: list[dict[str, str]]) -> None:
    found = _parsed(file, problems)
    if found is None:
        return
    text, value = found
    if file.name == MARK:
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            problems.append(_problem(f"{file}:1", "schema", f"Expected `schema: {SCHEMA}`."))
        elif unknown := sorted(set(value) - {"schema", "workspace"}):
            problems.append(_problem(f"{file}:1", "unknown_field", f"Unknown: {unknown[0]}."))
        else:
            folder.workspace = str(value.get("workspace") or "")
        return
    if not isinstance(value, list):
        what = f"Expected a list of {file.stem}. Workflows belong to the folder {WORKFLOWS}."
        problems.append(_problem(f"{file}:1", "type", what))
        return
    folder.resources[file.stem] = value
    folder.files[f"resources.{file.stem}"] = DefinitionFile(file, text)


def _take_workflow(folder: DefinitionFolder, file: Path, problems: list[dict[str, str]]) -> None:
    found = _parsed(file, problems)
    if found is None:
        return
    slug = file.stem
    if slug in folder.workflows:
        other = folder.files[f"{WORKFLOWS}.{slug}"].path
        problems.append(_problem(f"{file}:1", "twice", f"{other} has the same slug, {slug!r}."))
        return
    folder.workflows[slug] = found[1]
    folder.files[f"{WORKFLOWS}.{slug}"] = DefinitionFile(file, found[0])


def _parsed(file: Path, problems: list[dict[str, str]]) -> tuple[str, Any] | None:
    """Return a file's text and value; for an invalid file, record the problem and return None."""
    from executions.definition.graph.document import read_json
    from executions.definition.graph.problem import TextError
    from executions.definition.graph.yaml_text import read_yaml

    try:
        text = file.read_text(encoding="utf-8")
        return text, read_json(text) if file.suffix == ".json" else read_yaml(text)
    except TextError as error:
        at = re.search(r"\(line (\d+)", str(error))
        line = at[1] if at else "1"
        problems.append(_problem(f"{file}:{line}", error.code, str(error)))
    except (OSError, UnicodeDecodeError) as error:
        problems.append(_problem(f"{file}:1", "unreadable", f"cannot be read: {error}"))
    return None


def _problem(path: str, code: str, message: str) -> dict[str, str]:
    return {"path": path, "code": code, "message": message}


def line_of(text: str, path: str) -> int:
    """Return the line of a path in YAML or JSON, or of its nearest parent if it is missing."""
    import yaml

    try:
        node: Any = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return 1
    if node is None:
        return 1
    line = node.start_mark.line
    for index, quoted, plain in STEP.findall(path):
        found = _below(node, index, quoted or plain)
        if found is None:
            break
        at, node = found
        line = at.start_mark.line
    return int(line) + 1


def _below(node: Any, index: str, key: str) -> tuple[Any, Any] | None:
    """Return the node whose line is reported and the node to search next; None if none matches."""
    if index:
        items = node.value if isinstance(node.value, list) else []
        at = int(index)
        return (items[at], items[at]) if at < len(items) else None
    pairs = node.value if isinstance(node.value, list) else []
    for pair in pairs:
        if isinstance(pair, tuple) and pair[0].value == key:
            return pair[0], pair[1]
    return None


def write_folder(
    path: Path, exported: dict[str, Any], *, prune: bool
) -> tuple[list[Path], list[Path]]:
    """Write an exported workspace; return the paths of the written and of the removed files.

    `prune` removes files of workflows that were not exported.
    """
    old = read_folder(path) if path.is_dir() and _is_marked(path) else DefinitionFolder(path)
    (path / WORKFLOWS).mkdir(parents=True, exist_ok=True)
    written = []
    if not (path / MARK).exists():
        mark = {"schema": SCHEMA, "workspace": exported["workspace"]}
        written.append(_write(path / MARK, HEADER + _yaml(mark)))
    for slug, document in exported["workflows"].items():
        if old.workflows.get(slug) == document:
            continue
        known = old.files.get(f"{WORKFLOWS}.{slug}")
        file = known.path if known else path / WORKFLOWS / f"{slug}.yaml"
        text = document if file.suffix == ".json" else _definition(document)
        written.append(_write(file, text))
    for kind, items in exported["resources"].items():
        merged = with_credentials(items, old.resources.get(kind, []))
        known = old.files.get(f"resources.{kind}")
        if merged != old.resources.get(kind) and (merged or known):
            written.append(_write(known.path if known else path / f"{kind}.yaml", merged))
    gone = [
        old.files[f"{WORKFLOWS}.{slug}"].path
        for slug in old.workflows
        if prune and slug not in exported["workflows"]
    ]
    for file in gone:
        file.unlink()
    return written, gone


def _is_marked(path: Path) -> bool:
    return (path / MARK).is_file() or (path / WORKFLOWS).is_dir()


def with_credentials(items: list[Any], old: list[Any]) -> list[Any]:
    """Return the exported items with the credentials that are named in the old file.

    Exports do not contain credentials.
    """
    named = {
        one["name"]: one["credential"]
        for one in old
        if isinstance(one, dict) and one.get("credential") and one.get("name")
    }
    return [
        {**one, "credential": named[one["name"]]} if one.get("name") in named else one
        for one in items
    ]


def _write(path: Path, content: Any) -> Path:
    if isinstance(content, str):
        text = content
    elif path.suffix == ".json":
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _yaml(content)
    path.write_text(text, encoding="utf-8")
    return path


def _definition(document: Any) -> str:
    from executions.definition.graph.yaml_document import definition_yaml

    return definition_yaml(document)


def _yaml(value: Any) -> str:
    from executions.definition.graph.yaml_text import dump_yaml

    return dump_yaml(value)
