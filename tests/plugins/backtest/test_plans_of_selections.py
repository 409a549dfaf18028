"""An index finds the executions to compare: a rare failure costs no scan of the successes."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone

from tests.support import migrated
from tests.support.plan_states import Session, database, plan_of
from valkyr_plugins.backtest.models import Backtest
from valkyr_plugins.backtest.records import selected

WORKFLOW = UUID("7f9b6a1e-0000-7000-8000-000000000001")


@pytest.fixture(scope="module")
def session(django_db_setup: None, django_db_blocker: Any) -> Iterator[Session]:
    """Yield a database with many executions, of which one in 40 failed."""
    if settings.DATABASES["default"]["TEST"].get("TEMPLATE") != migrated.NAME:
        pytest.skip("needs a server of the tests' own, with a migrated database to copy")
    with django_db_blocker.unblock(), database("full, analysed") as own:
        yield own


@pytest.mark.parametrize("later", [False, True], ids=["first batch", "later batch"])
@pytest.mark.parametrize(
    ("states", "index"),
    [
        (["FAILED"], "execution_ended_badly"),
        (["CANCELLED", "FAILED", "TIMEOUT"], "execution_ended_badly"),
        (["SUCCESS"], "execution_workflow_list"),
        ([], "execution_workflow_list"),
    ],
)
def test_a_selection_reads_the_index_of_its_states(
    session: Session, states: list[str], index: str, later: bool
) -> None:
    backtest = Backtest(
        workspace_id=WORKFLOW,
        workflow_id=WORKFLOW,
        selection={"states": states} if states else {},
        created_at=timezone.now(),
    )
    if later:
        backtest.at, backtest.at_time = WORKFLOW, timezone.now() - timedelta(minutes=1)

    plan = plan_of(session, selected(backtest)[:25])

    assert plan.reads == {index}, plan.text
