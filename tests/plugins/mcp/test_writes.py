"""Tools write only proposals and backtests, regardless of the token's scopes.

The scope `unattended` is the exception.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Literal, get_args, get_origin

import pytest
from django.db import connection

from executions.access import SCOPES
from executions.access.actor import Actor
from executions.access.powers import UNATTENDED
from runners.models import Run
from tests.contract.people import a_member
from tests.support import admin_rows as rows
from valkyr_plugins.mcp.in_process import ApiRefused, InProcessApi
from valkyr_plugins.mcp.tools import TOOLS
from valkyr_plugins.mcp.tools.base import AgentTool

from .agents import Agent

pytestmark = pytest.mark.django_db
ALL_BUT = tuple(scope for scope in SCOPES if scope != UNATTENDED)
# What a call may write: its proposal, its line in the audit trail, the last use of its token.
OWN = {"executions_apitoken"}
PROPOSED = OWN | {"valkyr_mcp_proposal", "executions_activity"}
# A backtest stores its own row; it changes no other.
STORED = OWN | {"valkyr_backtest_backtest", "executions_activity"}


@pytest.fixture
def samples() -> dict[str, Any]:
    """Return a value for each argument that finds an object or is required by a tool."""
    flow = rows.workflow()
    letter = rows.failed_order(flow)
    return {
        "execution_id": str(letter.execution_id),
        "run_id": str(
            Run.objects.filter(execution=letter.execution_id).values_list("pk").first()[0]
        ),  # type: ignore[index]
        "workflow_id": str(flow.pk),
        "group_id": str(letter.group_id),
        "dead_letter_id": str(letter.pk),
        "redrive_id": str(letter.pk),
        "proposal_id": str(letter.pk),
        "definition": {
            "schema": "valkyr/1",
            "name": "New",
            "tasks": [{"id": "a", "use": "flow.noop"}],
        },
        "status": "RESOLVED",
        "note": "Seen.",
        "outputs": {},
        "rationale": "A test.",
    }


def calls(tool: AgentTool, samples: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield arguments of a tool for each choice that it requires, with the samples it takes."""
    given, choices = dict[str, Any](), dict[str, tuple[Any, ...]]()
    for name, field in tool.arguments.model_fields.items():
        camel = tool.arguments.model_config["alias_generator"](name)  # type: ignore[operator, index]
        if get_origin(field.annotation) is Literal and field.is_required():
            choices[camel] = get_args(field.annotation)
        elif name in samples and (field.is_required() or tool.writes or name.endswith("_id")):
            given[camel] = samples[name]
        else:
            assert not field.is_required(), f"Give a sample of {name}, which {tool.name} requires."
    for chosen in product(*choices.values()):
        yield given | dict(zip(choices, chosen, strict=True))


def written() -> dict[str, int]:
    """Return how many rows this transaction wrote, by table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables"
        )
        return dict(cursor.fetchall())


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_writes_a_proposal_or_nothing(
    agent: Callable[..., Agent], samples: dict[str, Any], name: str
) -> None:
    tool, asked = TOOLS[name], agent(*ALL_BUT, place=rows.workspace())

    for arguments in calls(tool, samples):
        before = written()
        found = asked.call(name, **arguments)
        wrote = {table for table, count in written().items() if count > before.get(table, 0)}

        allowed = PROPOSED if tool.writes else STORED if tool.stores else OWN
        assert wrote <= allowed, (name, arguments, found.text)
        if tool.writes:
            assert found.value.get("state") == "PENDING", (arguments, found.text)
        if tool.stores:
            assert wrote == STORED, found.text


def test_a_tool_that_forgets_its_proposal_is_refused() -> None:
    letter = rows.failed_order(rows.workflow())
    user = a_member("ADMIN", rows.workspace())
    api = InProcessApi(user, None, Actor.of(user))

    with pytest.raises(ApiRefused, match="Propose the change"):
        api.call("POST", "dead-letter-discard", {"notes": "x"}, id=letter.pk)

    letter.refresh_from_db()
    assert letter.resolution == "PENDING"
