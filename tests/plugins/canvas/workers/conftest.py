"""Fixtures: workers that know the tasks of these tests and the examples, with a separate Redis."""

from collections.abc import Iterator
from typing import Any

import pytest

from executions.messaging import celery_app
from tests.support.engine_database import engine_database
from tests.support.fleet import QUICK, Fleet, redis_of_a_fleet

SETTINGS = {
    "VALKYR_EXTRA_MODULES": (
        "tests.support.modules,tests.plugins.canvas.workers.tasks,examples.celery_canvas"
    ),
    "VALKYR_CELERY_QUEUES": "letters",
    "VALKYR_CELERY_TASKS": "corpus.pays",
}


@pytest.fixture(scope="module")
def fleet(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    with (
        engine_database(django_db_blocker),
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        _read_anew()
        with redis_of_a_fleet() as server:
            app = celery_app()
            app.loader.import_default_modules()
            app.finalize()
            made = Fleet(tmp_path_factory.mktemp("fleet"), server.url, QUICK | SETTINGS)
            made.few("default,letters")
            with made.running():
                yield made
    _read_anew()


def _read_anew() -> None:
    from executions import configuration

    configuration.forget()
