"""Plan the changes that a project needs: edits to its files, and instructions for its owner."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valkyr.cli.init import celery_app
from valkyr.cli.init.project import ByHand, DjangoProject
from valkyr.cli.init.source import SourceFile, UnclearSource

APPS = {
    "rest_framework": '"rest_framework"',
    "django_celery_beat": '"django_celery_beat"',
    "valkyr.APPS": "*valkyr.APPS",
    "valkyr.PLUGINS": "*valkyr.PLUGINS",
}
ENGINE = ("executions", "runners", "dlq")
SESSIONS = "executions.accounts.browser_sessions.BrowserSessions"
DJANGOS_SESSIONS = "django.contrib.auth.middleware.AuthenticationMiddleware"
POSTGRESQL = 'DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "…"}}'
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


@dataclass
class ProjectChanges:
    """Edited or new Python files, new files of other types, and manual tasks for the owner."""

    edited: list[SourceFile] = field(default_factory=list)
    created: dict[Path, str] = field(default_factory=dict)
    by_hand: list[ByHand] = field(default_factory=list)


def plan(project: DjangoProject, prefix: str, broker: str) -> ProjectChanges:
    """Return the changes that add the missing parts; write nothing."""
    found = ProjectChanges()
    steps: list[Callable[[], ByHand | None]] = [
        lambda: _apps(project),
        lambda: _database(project),
        lambda: celery_app.configured(project, broker),
        lambda: celery_app.imported(project),
        lambda: _settings(project),
        lambda: _middleware(project),
        lambda: _routes(project, prefix),
    ]
    found.by_hand = [left for step in steps if (left := step()) is not None]
    found.edited = [source for source in project.sources if source.changed]
    folder = project.root / "workflows"
    if not any(folder.glob("*.y*ml")):
        found.created[folder / "hello.yaml"] = HELLO
    return found


def _apps(project: DjangoProject) -> ByHand | None:
    """Add Valkyr's apps to INSTALLED_APPS; return a manual task, or None."""
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
        else:  # another expression, such as a sum or a call
            source.insert_after(node, f"INSTALLED_APPS = [*INSTALLED_APPS, {', '.join(missing)}]")
        source.import_module("valkyr", source.assignments("INSTALLED_APPS")[0])
    except UnclearSource as error:
        source.restore(kept)
        return ByHand(what, f"In {project.name_of(source)} {error}.", by_hand)
    return None


def _is_listed(project: DjangoProject, name: str) -> bool:
    """Return whether the settings list an app, all of `valkyr.APPS`, or any of `valkyr.PLUGINS`."""
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
    """Return a manual task if the settings define databases, but none is PostgreSQL; else None."""
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
    """Return the engines of the databases in a literal; [] if the settings compute the value."""
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


def _settings(project: DjangoProject) -> ByHand | None:
    """Ensure that the settings contain the dictionary `VALKYR`; return None."""
    if project.setting("VALKYR") is None:
        project.main.append("VALKYR = {}")
    return None


def _middleware(project: DjangoProject) -> ByHand | None:
    """Replace Django's AuthenticationMiddleware with Valkyr's; return a manual task, or None."""
    place = project.setting("MIDDLEWARE")
    if place is None or any(_is_text(node, SESSIONS) for node in ast.walk(place[1])):
        return None
    source, node = place
    found = [one for one in ast.walk(node) if _is_text(one, DJANGOS_SESSIONS)]
    if len(found) == 1:
        source.replace(found[0], f'"{SESSIONS}"')  # type: ignore[arg-type]
        return None
    if not found and isinstance(getattr(node, "value", None), ast.List | ast.Tuple):
        return None  # without sign-in through a browser
    return ByHand(
        f"MIDDLEWARE of {project.settings_name} has no {SESSIONS.rpartition('.')[2]}",
        f"Its statement does not name {DJANGOS_SESSIONS} once.",
        f'"{SESSIONS}",  # in place of Django\'s AuthenticationMiddleware',
    )


def _is_text(node: ast.AST, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _routes(project: DjangoProject, prefix: str) -> ByHand | None:
    """Make the project's URLs include the API; return a manual task, or None."""
    route = f'path("{prefix}", include("valkyr.urls"))'
    what = "The project's URLs do not include Valkyr's"
    add = f"from django.urls import include, path\n\nurlpatterns += [{route}]"
    place = project.setting("ROOT_URLCONF")
    named = getattr(getattr(place[1], "value", None), "value", None) if place else None
    file = project.file_of(named) if isinstance(named, str) else None
    if file is None:
        return ByHand(
            what, ("ROOT_URLCONF in the settings does not name a file of the project."), add
        )
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
        return ByHand(what, f"In {project.name_of(source)} {error}.", add)
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
