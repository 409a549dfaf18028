"""On real workers, the code of the pages does what the pages promise."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from executions.models import Tier, WorkflowExecution
from executions.public.starting import ExecutionFailed
from tests.plugins.python_workflows.pages import shop
from tests.support.engine_database import engine_database
from tests.support.fleet import QUICK, Fleet, redis_of_a_fleet
from tests.support.python_steps import steps_of
from valkyr_plugins.python_workflows.publishing import publish

SECONDS = 40
SETTINGS = {"VALKYR_EXTRA_MODULES": shop.__name__}


@pytest.fixture(scope="module")
def fleet(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    """Run workers that know the steps of the pages, with the tables of their models."""
    with engine_database(django_db_blocker), redis_of_a_fleet() as server, steps_of(shop):
        with connection.schema_editor() as editor:
            editor.create_model(shop.Stock)
        made = Fleet(tmp_path_factory.mktemp("fleet"), server.url, QUICK | SETTINGS)
        made.few()
        with made.running():
            yield made
        with connection.schema_editor() as editor:
            editor.delete_model(shop.Stock)


def typed(page: str, number: int, **names: Any) -> dict[str, Any]:
    """Run one block of a page; return its names."""
    known = {**vars(shop), **names}
    exec(shop.blocks(page)[number].replace("timeout=5", f"timeout={SECONDS}"), known)
    return known


def test_a_workflow_in_python_is_started_once_and_gives_its_output(fleet: Fleet) -> None:
    handle = typed("python-workflows.md", 1)["handle"]

    assert handle.output(timeout=0) == "7 [] receipt-7"
    assert typed("python-workflows.md", 1)["handle"] == handle


def test_the_test_of_the_page_passes(fleet: Fleet) -> None:
    with transaction.atomic():
        typed("python-workflows.md", 2)["test_an_order_is_shipped"](None)
        transaction.set_rollback(True)


def test_a_start_commits_and_vanishes_with_the_row(fleet: Fleet) -> None:
    workflow_id = publish(shop.take).workflow_id
    product = shop.Stock.objects.create(left=3)
    page = shop.blocks("transactions.md")[0].replace('{"order": order.pk}', "payload")
    payload = {"product": product.pk, "count": 1}

    with transaction.atomic():
        exec(page, {"order": Tier(name="kept"), "workflow_id": workflow_id, "payload": payload})
    with transaction.atomic():
        exec(page, {"order": Tier(name="lost"), "workflow_id": workflow_id, "payload": payload})
        transaction.set_rollback(True)

    assert list(Tier.objects.filter(name__in=("kept", "lost")).values_list("name")) == [("kept",)]
    [started] = WorkflowExecution.objects.filter(workflow_id=workflow_id)
    assert started.idempotency_key == f"order-{Tier.objects.get(name='kept').pk}"


def test_a_database_step_writes_with_its_record_or_not_at_all(fleet: Fleet) -> None:
    product = shop.Stock.objects.create(left=3)

    shop.take.start(product=product.pk, count=2).output(timeout=SECONDS)
    with pytest.raises(ExecutionFailed, match="OutOfStock"):
        shop.take.start(product=product.pk, count=2).output(timeout=SECONDS)

    product.refresh_from_db()
    assert product.left == 1
