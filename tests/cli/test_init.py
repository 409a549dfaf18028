"""`valkyr init` adds what is missing from an existing project, and changes nothing else."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import Said

PROJECT = Path(__file__).parents[2]
MANAGE = 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "{settings}")\n'
ADDED = ["rest_framework", "django_celery_beat", "executions", "runners", "dlq"]
DATABASE = 'DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop"}}\n'
PLAIN: Mapping[str, str] = {
    "manage.py": MANAGE.format(settings="shop.settings"),
    "shop/__init__.py": "",
    "shop/settings.py": f'INSTALLED_APPS = ["shop"]\nROOT_URLCONF = "shop.urls"\n{DATABASE}',
    "shop/urls.py": "from django.urls import path\n\nurlpatterns = []\n",
}
CELERY = "from celery import Celery\n\napp = Celery('shop')\napp.autodiscover_tasks()\n"


class Folder:
    """A project's folder, with the command in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def init(self, *words: str, answer: str | None = None) -> Said:
        return self._run("-m", "valkyr", "init", *words, answer=answer)

    def python(self, program: str) -> str:
        said = self._run("-c", program)
        assert said.code == 0, said.err
        return said.out

    def apps(self, settings: str = "shop.settings") -> list[str]:
        """Return the effective INSTALLED_APPS."""
        told = self.python(
            f"import json, importlib; "
            f"print(json.dumps(list(importlib.import_module({settings!r}).INSTALLED_APPS)))"
        )
        found: list[str] = json.loads(told)
        return found

    def text(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def snapshot(self) -> dict[str, bytes]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files if path.suffix != ".pyc"}

    def _run(self, *words: str, answer: str | None = None) -> Said:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        paths = os.pathsep.join([str(self.root), str(PROJECT)])
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=kept | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
            input=answer or "",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def started(folder: Folder) -> Folder:
    """Return the project that `django-admin startproject` creates, on PostgreSQL."""
    subprocess.run(
        [sys.executable, "-m", "django", "startproject", "shop", folder.root],
        check=True,
        timeout=120,
        env={"PATH": os.environ["PATH"]},
    )
    text = folder.text("shop/settings.py").replace("backends.sqlite3", "backends.postgresql")
    folder.write({"shop/settings.py": text})
    return folder


def test_a_new_project_gets_all_that_is_missing(started: Folder) -> None:
    before = started.apps()

    said = started.init("--yes")

    assert said.code == 0, said.err
    assert started.apps()[: len(before) + 5] == before + ADDED
    assert "valkyr_plugins.connectors" in started.apps()
    assert 'path("workflows/", include("valkyr.urls"))' in started.text("shop/urls.py")
    assert "from django.urls import include, path" in started.text("shop/urls.py")
    assert "valkyr.configure_celery(app)" in started.text("shop/celery.py")
    assert "from .celery import app as celery_app" in started.text("shop/__init__.py")
    sessions = '    "executions.accounts.browser_sessions.BrowserSessions",\n'
    assert sessions in started.text("shop/settings.py")
    assert "auth.middleware" not in started.text("shop/settings.py")
    assert "name: hello" in started.text("workflows/hello.yaml")
    scheduler = "from shop.settings import *; print(CELERY_BEAT_SCHEDULER, VALKYR)"
    assert "DatabaseScheduler {}" in started.python(scheduler)


def test_a_second_time_nothing_changes(started: Folder) -> None:
    started.init("--yes")
    before = started.snapshot()

    said = started.init("--yes")

    assert said.code == 0
    assert "No changes are needed." in said.err
    assert started.snapshot() == before


def test_the_diff_is_what_is_written(started: Folder) -> None:
    before = started.snapshot()
    said = started.init("--dry-run")
    assert started.snapshot() == before
    (started.root / "copy").mkdir()
    patch = started.root / "valkyr.patch"
    patch.write_text(said.out)

    subprocess.run(
        ["patch", "-p1", "--input", patch], cwd=started.root, check=True, capture_output=True
    )

    assert "Nothing was written" in said.err
    assert "No changes are needed." in started.init("--dry-run").err


def test_nothing_is_written_where_nobody_can_be_asked(started: Folder) -> None:
    before = started.snapshot()

    said = started.init()

    assert said.code == 2
    assert "--yes" in said.err
    assert started.snapshot() == before


def test_programs_read_what_changed(started: Folder) -> None:
    told = json.loads(started.init("--json", "--yes").out)

    assert told["written"]
    assert {change["file"] for change in told["changes"]} == {
        "shop/settings.py", "shop/urls.py", "shop/celery.py", "shop/__init__.py",
        "workflows/hello.yaml",
    }  # fmt: skip
    assert told["byHand"] == []


def test_sqlite_is_left_to_the_owner(started: Folder) -> None:
    text = started.text("shop/settings.py").replace("backends.postgresql", "backends.sqlite3")
    started.write({"shop/settings.py": text})

    said = started.init("--yes")

    assert said.code == 1
    assert "By hand: DATABASES of shop.settings has no PostgreSQL" in said.err
    assert "django.db.backends.postgresql" in said.err


LISTS = {
    "one line": "INSTALLED_APPS = ['shop']\n",
    "one line, a comma": "INSTALLED_APPS = ['shop',]  # ours\n",
    "a tuple": "INSTALLED_APPS = ('shop',)\n",
    "nothing in it": "INSTALLED_APPS = []\nINSTALLED_APPS.insert(0, 'shop')\n",
    "an empty tuple": "INSTALLED_APPS = ()\nINSTALLED_APPS = ('shop', *INSTALLED_APPS)\n",
    "no comma, a comment": "INSTALLED_APPS = [\n  'shop'  # ours, of course\n  # the end\n]\n",
    "the bracket at the end": "INSTALLED_APPS = ['django.contrib.auth',\n    'shop']\n",
    "a sum": "A = ['shop']\nB = ('x',)\nINSTALLED_APPS = A + list(B)\n",
    "added to": "INSTALLED_APPS = ['a']\nINSTALLED_APPS += ['shop']\n",
    "annotated": "INSTALLED_APPS: list[str] = [\n    'shop',\n]\n",
    "Windows": "import os\r\nINSTALLED_APPS = [\r\n    'shop',\r\n]\r\n",
    "no line end": "INSTALLED_APPS = ['shop']",
    "other alphabets": "Ä = 'ü'; B = 1\nINSTALLED_APPS = [\n    'shop',  # größer\n]\n",
    "a byte order mark": "\ufeffINSTALLED_APPS = ['shop']\n",
    "a docstring": '"""Settings."""\nINSTALLED_APPS = ["shop"]\n',
    "future": "from __future__ import annotations\nINSTALLED_APPS = ['shop']\n",
}


@pytest.mark.parametrize("form", LISTS)
def test_apps_are_added_however_the_list_is_written(form: str, folder: Folder) -> None:
    end = "\r\n" if "\r\n" in LISTS[form] else "\n"
    rest = f"{end}ROOT_URLCONF = 'shop.urls'" if form == "no line end" else ""
    text = LISTS[form] + rest + (f"ROOT_URLCONF = 'shop.urls'{end}" if not rest else "")
    folder.write({**PLAIN, "shop/settings.py": text})
    before = folder.apps()

    said = folder.init("--yes")

    assert said.code == 0, said.err
    assert set(folder.apps()) > {*before, *ADDED, "shop"}
    after = folder.text("shop/settings.py")
    assert all(line in after for line in text.replace("'shop'", "").split() if "#" in line)
    assert ("\r\n" in after) == ("\r\n" in text)
    assert after.count("\n") == after.count("\r\n") or "\r\n" not in text
    assert "No changes are needed" in folder.init("--yes").err


def test_settings_in_several_files_are_followed(folder: Folder) -> None:
    folder.write({
        **PLAIN,
        "manage.py": MANAGE.format(settings="config.settings.local"),
        "config/__init__.py": "from .celery_app import app as celery_app\n",
        "config/settings/__init__.py": "",
        "config/settings/local.py": "from .base import *\n\nDEBUG = True\n",
        "config/settings/base.py": PLAIN["shop/settings.py"],
        "config/celery_app.py": CELERY,
    })  # fmt: skip

    said = folder.init("--yes")

    assert said.code == 0, said.err
    assert folder.text("config/settings/local.py") == "from .base import *\n\nDEBUG = True\n"
    assert set(folder.apps("config.settings.local")) > set(ADDED)
    assert folder.text("config/celery_app.py").endswith("valkyr.configure_celery(app)\n")


def test_the_projects_own_celery_app_is_taken(folder: Folder) -> None:
    made = CELERY + "app.conf.beat_schedule = {}\n\n\n@app.task\ndef own():\n    return 1\n"
    folder.write({**PLAIN, "shop/celery.py": made})

    said = folder.init("--yes")

    assert said.code == 0, said.err
    after = folder.text("shop/celery.py")
    assert after.index("beat_schedule") < after.index("configure_celery") < after.index("@app.task")
    assert "celery_app" in folder.text("shop/__init__.py")


def test_a_celery_app_that_a_function_returns_is_taken(folder: Folder) -> None:
    made = (
        "def make_celery():\n    from celery import Celery\n\n    made = Celery('shop')\n"
        "    made.conf.task_default_queue = 'shop'\n    return made\n\n\napp = make_celery()\n"
    )
    folder.write({**PLAIN, "shop/celery.py": made})

    said = folder.init("--yes")

    assert said.code == 0, said.err
    after = folder.text("shop/celery.py")
    assert "    valkyr.configure_celery(made)\n    return made\n" in after
    assert after.startswith("import valkyr\n")


def test_apps_named_one_by_one_are_not_added_again(folder: Folder) -> None:
    apps = ["rest_framework.apps.RestFrameworkConfig", *ADDED[1:], "valkyr_plugins.connectors"]
    settings = PLAIN["shop/settings.py"].replace('["shop"]', repr(apps))
    folder.write({**PLAIN, "shop/settings.py": settings})

    said = folder.init("--yes")

    assert said.code == 0, said.err
    assert folder.apps() == apps


UNCLEAR = {
    "no apps": (
        {"shop/settings.py": 'ROOT_URLCONF = "shop.urls"\n'},
        "No statement of the settings assigns INSTALLED_APPS",
    ),
    "two Celery apps": (
        {"shop/celery.py": CELERY, "other/tasks.py": CELERY},
        "several Celery apps: other/tasks.py, shop/celery.py",
    ),
    "a Celery app in a function": (
        {"shop/celery.py": "from celery import Celery\n\ndef make():\n    return Celery('x')\n"},
        "inside a function",
    ),
    "computed middleware": (
        {"shop/settings.py": PLAIN["shop/settings.py"] + "MIDDLEWARE = [] + []\n"},
        "Its statement does not name django.contrib.auth.middleware.AuthenticationMiddleware once",
    ),
    "routes in a function": (
        {"shop/urls.py": "def routes():\n    return []\n"},
        "no statement assigns urlpatterns",
    ),
    "another path": (
        {"shop/urls.py": "from os import path as path\nfrom os import sep as include\n\n"
         "urlpatterns = []\n"},
        "include is os.sep there",
    ),
    "does not include Valkyr's routes": (
        {"shop/settings.py": 'INSTALLED_APPS = ["shop"]\n'},
        "ROOT_URLCONF in the settings does not name a file",
    ),
    "two statements in a line": (
        {"shop/settings.py": 'A = []\nINSTALLED_APPS = A + []; ROOT_URLCONF = "shop.urls"\n'},
        "line 2 has several statements",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", UNCLEAR)
def test_what_is_not_understood_is_left_with_what_to_add(form: str, folder: Folder) -> None:
    files, why = UNCLEAR[form]
    folder.write({**PLAIN, **files})

    said = folder.init("--yes")

    assert said.code == 1
    assert why in said.err
    assert "By hand:" in said.err
    for path in folder.root.rglob("*.py"):
        ast.parse(path.read_bytes())


def test_a_folder_without_a_project_is_refused(folder: Folder) -> None:
    said = folder.init("--yes")

    assert said.code == 2
    assert "no manage.py" in said.err


def test_settings_that_are_no_python_are_refused(folder: Folder) -> None:
    folder.write({**PLAIN, "shop/settings.py": "INSTALLED_APPS = [\n"})

    said = folder.init("--yes")

    assert said.code == 2
    assert "shop.settings cannot be understood" in said.err
    assert folder.text("shop/settings.py") == "INSTALLED_APPS = [\n"
