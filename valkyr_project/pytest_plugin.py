"""A pytest plugin for tests of your own modules and workflows: `-p valkyr_project.pytest_plugin`.

It sets the settings that tests need. If DATABASE_URL is not set, it starts a PostgreSQL server
whose data is deleted when the session ends. No broker is needed or contacted.
"""

import atexit
import base64
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

PREFIX = "valkyr-kit-"
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
    "VALKYR_SECRET_KEY": "tests-" + "0123456789abcdef" * 4,
    "VALKYR_KEY": base64.b64encode(b"k" * 32).decode(),
    "VALKYR_KEY_PREFIX": "valkyr-kit:",
}


def _prepare() -> None:
    """Set the environment before pytest-django makes Django read its settings."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    # A broker in the environment belongs to another system, and no test may reach it.
    os.environ["CELERY_BROKER_URL"] = "memory://"
    os.environ["CELERY_RESULT_BACKEND"] = "cache+memory://"
    if not os.environ.get("DATABASE_URL"):
        os.environ["DATABASE_URL"] = _own_database()


def _own_database() -> str:
    from valkyr_project.embedded import Postgres

    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    home.chmod(0o711)
    server = Postgres(home, durable=False)
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    atexit.register(server.stop)
    server.launch()
    server.wait()
    return server.url


_prepare()


def pytest_configure() -> None:
    """Let Django truncate every table of the test database after tests that commit."""
    from django.db.models.signals import post_migrate

    post_migrate.connect(_allow_truncate, dispatch_uid="valkyr_project.pytest_plugin")


def _allow_truncate(sender: Any, using: str, **_: Any) -> None:
    """Disable the triggers that prevent a TRUNCATE of the audit trail, only in a test database."""
    from django.db import connections

    name = str(connections[using].settings_dict["NAME"])
    if sender.name == "executions" and name.startswith("test_"):
        with connections[using].cursor() as cursor:
            for table in ("executions_activity", "executions_auditseal"):
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER append_only_truncate")


@pytest.fixture
def valkyr(db: Any) -> Any:
    """Provide the testing kit, in a database that each test leaves unchanged."""
    from runners.testing.harness import Valkyr

    return Valkyr()
