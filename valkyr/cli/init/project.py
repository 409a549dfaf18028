"""The parts of a Django project, found by reading its files without running them."""

import ast
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from valkyr.cli.errors import usage
from valkyr.cli.init.source import SourceFile, UnclearSource
from valkyr.cli.project_settings import SETTINGS, named_by

# Folders with third-party code.
FOREIGN = frozenset(
    {"node_modules", "site-packages", "venv", "env", "__pycache__", "build", "dist"}
)


@dataclass(frozen=True)
class ByHand:
    """A manual task for the owner: what is missing, why it is manual, and the lines to add."""

    what: str
    why: str
    add: str


@dataclass(frozen=True)
class CeleryApp:
    """A Celery app: its file, its name, and the statement that creates it or returns it."""

    source: SourceFile
    made: ast.stmt
    name: str


class DjangoProject:
    """A Django project: the files in a folder with a manage.py."""

    def __init__(self, root: Path, settings: str) -> None:
        """Read a project; `settings` is the name of its settings module."""
        self.root, self.settings_name = root, settings
        self._sources: dict[Path, SourceFile] = {}
        file = self.file_of(settings)
        if file is None:
            raise usage(
                f"The settings module {settings} is not a file below {root}.",
                "Give --settings MODULE, as manage.py names it.",
            )
        self.settings = list(self._with_starred(self.source(file)))

    @property
    def package(self) -> str:
        """Return the top package of the settings; "" if the settings are a single file."""
        return self.settings_name.rpartition(".")[0].partition(".")[0]

    def source(self, path: Path) -> SourceFile:
        """Return a file of the project; the same path gives the same object."""
        if path not in self._sources:
            self._sources[path] = SourceFile(path)
        return self._sources[path]

    @property
    def sources(self) -> list[SourceFile]:
        """Return the files of the project that have been read so far."""
        return list(self._sources.values())

    def file_of(self, module: str) -> Path | None:
        """Return the file of a module; None if the module is not in the project."""
        place = self.root.joinpath(*module.split("."))
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
        return None

    def setting(self, name: str) -> tuple[SourceFile, ast.stmt] | None:
        """Return the file and the statement that last assigns a setting, or None."""
        for source in self.settings:
            if found := source.assignments(name):
                return source, found[-1]
        return None

    def celery_apps(self) -> list[CeleryApp]:
        """Return the Celery apps that the project creates at module level."""
        return [CeleryApp(source, *one) for source in self._with("Celery") for one in _apps(source)]

    def celery_factories(self) -> list[CeleryApp]:
        """Return the Celery apps that the project's functions create and return at their end."""
        return [
            CeleryApp(source, *one) for source in self._with("Celery") for one in _returned(source)
        ]

    @property
    def main(self) -> SourceFile:
        """Return the file for new settings: the one with INSTALLED_APPS, or else the first file."""
        place = self.setting("INSTALLED_APPS")
        return place[0] if place is not None else self.settings[0]

    def name_of(self, source: SourceFile) -> str:
        """Return a file's path relative to the project's folder."""
        return source.path.relative_to(self.root).as_posix()

    def calls(self, name: str) -> bool:
        """Return whether any file of the project calls a function with this name."""
        return any(any(source.calls(name)) for source in self._with(name))

    def imports(self, module: str) -> bool:
        """Return whether any file imports from a module whose dotted name ends with `.module`."""
        return any(
            isinstance(node, ast.ImportFrom)
            and (node.level or "." in str(node.module))
            and str(node.module).rpartition(".")[2] == module
            for source in self._with(module)
            for node in ast.walk(source.tree)
        )

    def _with(self, name: str) -> Iterator[SourceFile]:
        """Yield the files, including new ones, that contain a word; skip unparsable files."""
        made = [source for source in self.sources if not source.exists]
        yield from (source for source in made if name.encode() in source.new)
        for path in self._python_files():
            if name.encode() in path.read_bytes():
                with suppress(UnclearSource):
                    yield self.source(path)

    def _python_files(self) -> Iterator[Path]:
        for folder, below, files in os.walk(self.root):
            inside = Path(folder)
            below[:] = sorted(
                name
                for name in below
                if name not in FOREIGN
                and not name.startswith(".")
                and not (inside / name / "pyvenv.cfg").exists()
            )
            yield from (inside / name for name in sorted(files) if name.endswith(".py"))

    def _with_starred(self, source: SourceFile) -> Iterator[SourceFile]:
        """Yield the settings file and, recursively, the files imported with `from … import *`."""
        yield source
        for node in source.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                file = self.file_of(self._absolute(source, node))
                if file is not None and file not in self._sources:
                    yield from self._with_starred(self.source(file))

    def _absolute(self, source: SourceFile, node: ast.ImportFrom) -> str:
        parts = source.path.relative_to(self.root).with_suffix("").parts
        kept = list(parts[: len(parts) - node.level]) if node.level else []
        return ".".join([*kept, *([node.module] if node.module else [])])


def project_in(root: Path, settings: str | None, environment: str | None) -> DjangoProject:
    """Return the project in a folder. Raises CliError if it is missing or cannot be understood."""
    if not (root / "manage.py").is_file():
        raise usage(
            f"There is no manage.py in {root}.",
            "Change to the folder of a Django project, or create one: django-admin "
            "startproject NAME",
        )
    name = settings or environment or named_by(root / "manage.py")
    if not name:
        raise usage(
            "manage.py does not name the settings.",
            f"Give --settings MODULE, or set {SETTINGS}.",
        )
    try:
        return DjangoProject(root, name)
    except UnclearSource as error:
        raise usage(f"The settings {name} cannot be understood: {error}.") from error


def _apps(source: SourceFile) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the module's statements that create a Celery app, each with the app's name."""
    yield from ((node, name) for node in source.tree.body if (name := _made(node)))


def _returned(source: SourceFile) -> Iterator[tuple[ast.stmt, str]]:
    """Yield (return statement, app name) for each function that creates and returns an app."""
    for function in ast.walk(source.tree):
        if isinstance(function, ast.FunctionDef):
            names = {name for node in function.body if (name := _made(node))}
            last = function.body[-1]
            if isinstance(last, ast.Return) and getattr(last.value, "id", None) in names:
                yield last, last.value.id  # type: ignore[union-attr]


def _made(node: ast.stmt) -> str:
    """Return the name to which a statement assigns a new Celery app; "" for other statements."""
    if not (isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call)):
        return ""
    made = node.value.func
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    is_celery = getattr(made, "id", getattr(made, "attr", "")) == "Celery"
    return target.id if is_celery and isinstance(target, ast.Name) else ""
