"""Find the project's Celery app, or write one, and make it send and execute Valkyr's tasks."""

import ast

from valkyr.cli.init.project import ByHand, CeleryApp, DjangoProject
from valkyr.cli.init.source import UnclearSource

SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
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


def configured(project: DjangoProject, broker: str) -> ByHand | None:
    """Configure the project's Celery app, or a new app; return a manual task, or None."""
    if project.calls("configure_celery"):
        return None
    apps = project.celery_apps()
    what = "No Celery app has Valkyr's tasks"
    add = "import valkyr\n\nvalkyr.configure_celery(app)  # after the app is made"
    if len(apps) > 1:
        files = ", ".join(project.name_of(app.source) for app in apps)
        return ByHand(what, f"The project has several Celery apps: {files}.", add)
    if apps:
        return _configured(project, apps[0], what, add)
    factories = project.celery_factories()
    if len(factories) == 1:
        return _returned(project, factories[0], what, add)
    if project.calls("Celery"):
        why = "The project creates its Celery app inside a function that does not return it."
        return ByHand(what, why, add)
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
        return ByHand(what, f"In {project.name_of(source)} {error}.", add)
    return None


def _returned(project: DjangoProject, app: CeleryApp, what: str, add: str) -> ByHand | None:
    """Configure the app that a function creates and returns; return a manual task, or None."""
    source = app.source
    kept = source.new
    try:
        source.insert_before(app.made, f"valkyr.configure_celery({app.name})")
        source.import_module("valkyr", source.around(app.made))
    except UnclearSource as error:
        source.restore(kept)
        return ByHand(what, f"In {project.name_of(source)} {error}.", add)
    return None


def _last_use(app: CeleryApp) -> ast.stmt:
    """Return the last statement that configures or calls the app, such as `app.conf.x = 1`."""
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
            f"{place.relative_to(project.root)} does not create a Celery app at its top level."
            if place.exists()
            else "The settings are not in a package, so there is no place for celery.py."
        )
        return ByHand(what, why, text)
    project.source(place).append(text.removesuffix("\n"))
    settings = project.main
    if project.setting("CELERY_BROKER_URL") is None:
        settings.append(f'\nCELERY_BROKER_URL = "{broker}"')
    if project.setting("CELERY_BEAT_SCHEDULER") is None:
        settings.append(f'CELERY_BEAT_SCHEDULER = "{SCHEDULER}"')
    return None


def imported(project: DjangoProject) -> ByHand | None:
    """Make web processes import the Celery app; return a manual task, or None."""
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
        f"Nothing imports {project.name_of(app.source)}",
        "Web processes would have no Celery app.",
        f"{line}  # in the __init__.py of a package that each process imports",
    )
