"""What a project lacks to run workflows, as edits of its files or as work for its owner."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valkyr.cli.init.project import CeleryApp, DjangoProject
from valkyr.cli.init.source import SourceFile, UnclearSource

APPS = {
    "rest_framework": '"rest_framework"',
    "django_celery_beat": '"django_celery_beat"',
    "valkyr.APPS": "*valkyr.APPS",
    "valkyr.PLUGINS": "*valkyr.PLUGINS",
}
ENGINE = ("executions", "runners", "dlq")
SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
POSTGRESQL = 'DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "…"}}'
CELERY = '''\
"""The project's Celery app."""

import os

import valkyr
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "{settings}")
app = Celery("{package}")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
valkyr.configure_celery(app)
'''
HELLO = """\
schema: valkyr/1
name: hello
input:
  type: object
  required: [name]
  properties: {name: {type: string, minLength: 1}}
tasks:
  - id: rest
    use: flow.delay
    with: {seconds: 1}
  - id: greet
    use: data.template
    with: {text: "Hello {{ input.name }}"}
    after: rest
output: "{{ tasks.greet.output.text }}"
"""


@dataclass(frozen=True)
class ByHand:
    """What the owner has to do: what is missing, why it is left, and the lines to add."""

    what: str
    why: str
    add: str


@dataclass
class ProjectChanges:
    """The edits of Python files, other new files, and what is left to the owner."""

    edited: list[SourceFile] = field(default_factory=list)
    created: dict[Path, str] = field(default_factory=dict)
    by_hand: list[ByHand] = field(default_factory=list)


def plan(project: DjangoProject, prefix: str, broker: str) -> ProjectChanges:
    """What is missing; nothing is written."""
    found = ProjectChanges()
    steps: list[Callable[[], ByHand | None]] = [
        lambda: _apps(project),
        lambda: _database(project),
        lambda: _celery(project, broker),
        lambda: _imported(project),
        lambda: _settings(project),
        lambda: _routes(project, prefix),
    ]
    found.by_hand = [left for step in steps if (left := step()) is not None]
    found.edited = [source for source in project.sources if source.changed]
    folder = project.root / "workflows"
    if not any(folder.glob("*.y*ml")):
        found.created[folder / "hello.yaml"] = HELLO
    return found


def _apps(project: DjangoProject) -> ByHand | None:
    """INSTALLED_APPS has Valkyr's apps and what they build on."""
    missing = [text for name, text in APPS.items() if not _is_listed(project, name)]
    if not missing:
        return None
    place = project.setting("INSTALLED_APPS")
    by_hand = f"import valkyr\n\nINSTALLED_APPS = [*INSTALLED_APPS, {', '.join(missing)}]"
    what = f"INSTALLED_APPS of {project.settings_name} lacks {', '.join(missing)}"
    if place is None:
        return ByHand(what, "No statement of the settings assigns INSTALLED_APPS.", by_hand)
    source, node = place
    kept = source.new
    try:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.List | ast.Tuple):
            source.extend(value, missing)
        else:  # a sum, or what something returns
            source.insert_after(node, f"INSTALLED_APPS = [*INSTALLED_APPS, {', '.join(missing)}]")
        source.import_module("valkyr", source.assignments("INSTALLED_APPS")[0])
    except UnclearSource as error:
        source.restore(kept)
        return ByHand(what, f"In {_name(project, source)} {error}.", by_hand)
    return None


def _is_listed(project: DjangoProject, name: str) -> bool:
    """Whether the settings name an app, or all that `valkyr.APPS` or `PLUGINS` stands for."""
    for source in project.settings:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == name:
                return True
    texts = {
        node.value
        for source in project.settings
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    if name == "valkyr.APPS":
        return all(_is_named(texts, one) for one in ENGINE)
    if name == "valkyr.PLUGINS":
        return any(text.startswith("valkyr_plugins.") for text in texts)
    return _is_named(texts, name)


def _is_named(texts: set[str], app: str) -> bool:
    return any(text == app or text.startswith(f"{app}.apps.") for text in texts)


def _database(project: DjangoProject) -> ByHand | None:
    """A database is PostgreSQL, as far as the settings say which they are."""
    place = project.setting("DATABASES")
    if place is None:
        return None
    engines = _engines(getattr(place[1], "value", None))
    if not engines or any("postg" in engine for engine in engines):
        return None
    return ByHand(
        f"DATABASES of {project.settings_name} has no PostgreSQL",
        f"Valkyr needs PostgreSQL 15 or newer; found {', '.join(engines)}.",
        f"{POSTGRESQL}\n# or a second database for Valkyr alone: "
        'VALKYR = {"DATABASE": "its alias"}',
    )


def _engines(value: Any) -> list[str]:
    """The engines of a literal; none where something else computes one."""
    try:
        pairs = [
            entry for given in value.values for entry in zip(given.keys, given.values, strict=True)
        ]
    except AttributeError:
        return []
    return [
        found.value
        for key, found in pairs
        if isinstance(key, ast.Constant)
        and key.value == "ENGINE"
        and isinstance(found, ast.Constant)
        and isinstance(found.value, str)
    ]


def _celery(project: DjangoProject, broker: str) -> ByHand | None:
    """A Celery app carries Valkyr's tasks, and each process of the project imports it."""
    if project.calls("configure_celery"):
        return None
    apps = project.celery_apps()
    what = "No Celery app carries Valkyr's tasks"
    add = "import valkyr\n\nvalkyr.configure_celery(app)  # after the app is made"
    if len(apps) > 1:
        files = ", ".join(_name(project, app.source) for app in apps)
        return ByHand(what, f"The project has several Celery apps: {files}.", add)
    if apps:
        return _configured(project, apps[0], what, add)
    if project.calls("Celery"):
        return ByHand(what, "The project makes its Celery app inside of a function.", add)
    return _new_app(project, broker, what)


def _configured(project: DjangoProject, app: CeleryApp, what: str, add: str) -> ByHand | None:
    source = app.source
    kept = source.new
    try:
        source.insert_after(_last_use(app), f"valkyr.configure_celery({app.name})")
        made = source.assignments(app.name)[0]
        source.import_module("valkyr", made)
    except UnclearSource as error:
        source.restore(kept)
        return ByHand(what, f"In {_name(project, source)} {error}.", add)
    return None


def _last_use(app: CeleryApp) -> ast.stmt:
    """The last statement that configures the app: `app.autodiscover_tasks()`, `app.conf.x = 1`."""
    last = app.made
    for node in app.source.tree.body:
        if isinstance(node, ast.Expr | ast.Assign):
            part: ast.AST = node.value if isinstance(node, ast.Expr) else node.targets[0]
            while isinstance(part, ast.Attribute | ast.Call | ast.Subscript):
                part = part.func if isinstance(part, ast.Call) else part.value
            if isinstance(part, ast.Name) and part.id == app.name and node.lineno > last.lineno:
                last = node
    return last


def _new_app(project: DjangoProject, broker: str, what: str) -> ByHand | None:
    package = project.package
    place = project.root / package / "celery.py"
    begin = project.root / package / "__init__.py"
    text = CELERY.format(settings=project.settings_name, package=package)
    if not package or place.exists() or not begin.is_file():
        why = (
            f"{place.relative_to(project.root)} makes no Celery app at its top."
            if place.exists()
            else "The settings are in no package, which could hold a celery.py."
        )
        return ByHand(what, why, text)
    project.source(place).append(text.removesuffix("\n"))
    settings = _main(project)
    if project.setting("CELERY_BROKER_URL") is None:
        settings.append(f'\nCELERY_BROKER_URL = "{broker}"')
    if project.setting("CELERY_BEAT_SCHEDULER") is None:
        settings.append(f'CELERY_BEAT_SCHEDULER = "{SCHEDULER}"')
    return None


def _imported(project: DjangoProject) -> ByHand | None:
    """Each process of the project imports the Celery app: web processes send by it, too."""
    apps = [app for app in project.celery_apps() if any(app.source.calls("configure_celery"))]
    if len(apps) != 1:
        return None
    (app,) = apps
    module = app.source.path.stem
    if project.imports(module):
        return None
    line = f"from .{module} import {app.name} as celery_app"
    begin = app.source.path.with_name("__init__.py")
    if begin.parent == project.root / project.package and begin.is_file():
        project.source(begin).append(line)
        return None
    return ByHand(
        f"Nothing imports {_name(project, app.source)}",
        "Web processes would send by no Celery app.",
        f"{line}  # in the __init__.py of a package that each process imports",
    )


def _settings(project: DjangoProject) -> ByHand | None:
    """The dictionary of Valkyr's settings is there."""
    if project.setting("VALKYR") is None:
        _main(project).append("VALKYR = {}")
    return None


def _main(project: DjangoProject) -> SourceFile:
    """The settings' file that new settings go to: the one with INSTALLED_APPS."""
    place = project.setting("INSTALLED_APPS")
    return place[0] if place is not None else project.settings[0]


def _routes(project: DjangoProject, prefix: str) -> ByHand | None:
    """The API's addresses are among the project's."""
    route = f'path("{prefix}", include("valkyr.urls"))'
    what = "The project's addresses lack Valkyr's"
    add = f"from django.urls import include, path\n\nurlpatterns += [{route}]"
    place = project.setting("ROOT_URLCONF")
    named = getattr(getattr(place[1], "value", None), "value", None) if place else None
    file = project.file_of(named) if isinstance(named, str) else None
    if file is None:
        return ByHand(what, "ROOT_URLCONF of the settings names no file of the project.", add)
    try:
        source = project.source(file)
    except UnclearSource as error:
        return ByHand(what, f"{file}: {error}.", add)
    if any(_includes_us(call) for call in source.calls("include")):
        return None
    kept = source.new
    try:
        _add_route(source, route)
    except UnclearSource as error:
        source.restore(kept)
        return ByHand(what, f"In {_name(project, source)} {error}.", add)
    return None


def _includes_us(call: ast.Call) -> bool:
    return any(
        isinstance(node, ast.Constant) and node.value == "valkyr.urls" for node in ast.walk(call)
    )


def _add_route(source: SourceFile, route: str) -> None:
    found = source.assignments("urlpatterns")
    if not found:
        raise UnclearSource("no statement assigns urlpatterns")
    first = found[0]
    value = None if isinstance(first, ast.AugAssign) else first.value
    if isinstance(value, ast.List):
        source.extend(value, [route])
    else:
        source.insert_after(found[-1], f"urlpatterns = [*urlpatterns, {route}]")
    source.import_names("django.urls", "include", "path")


def _name(project: DjangoProject, source: SourceFile) -> str:
    return source.path.relative_to(project.root).as_posix()
