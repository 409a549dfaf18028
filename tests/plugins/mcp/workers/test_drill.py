"""An agent repairs a thousand failures of four kinds, only with MCP.

The agent is the example, in a separate process, with a token that may only view. A user approves
its proposals in the admin.
"""

import os
import subprocess
import sys
from pathlib import Path

from django.test import Client
from django.urls import reverse

from dlq.models import DeadLetterEntry, FailureGroup
from executions.models import Activity
from runners.models import Run
from tests.support.thousand_failures import KINDS, fail, workflow_of
from tests.support.waiting import wait_until
from valkyr_plugins.mcp.models import Proposal
from valkyr_plugins.redrive.models import Redrive

from .conftest import Operated

AGENT = Path(__file__).parents[4] / "examples" / "repair-agent" / "agent.py"


def _open() -> int:
    return DeadLetterEntry.objects.filter(resolution="PENDING").count()


def _counted(expected: int) -> bool:
    return sum(FailureGroup.objects.values_list("open", flat=True)) == expected


def test_a_thousand_failures_are_repaired_by_an_agent_and_four_approvals(
    operated: Operated, tmp_path: Path
) -> None:
    total = sum(KINDS.values())
    for name, count in KINDS.items():
        fail(workflow_of(name), count)
    wait_until(lambda: _open() == total, 120, f"{total} dead letters")
    wait_until(lambda: _counted(total), 60, "the groups' counts")
    writes = Activity.objects.order_by("id").last()
    assert writes is not None

    log = tmp_path / "agent.log"
    with log.open("w") as out:
        agent = subprocess.Popen(
            [sys.executable, AGENT, f"{operated.address}/mcp", "UK=GB"],
            env={"PATH": os.environ["PATH"], "VALKYR_TOKEN": operated.token},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: Proposal.objects.count() == len(KINDS), 60, "the proposals")
        # Nothing has changed: the only lines in the audit trail are the proposals'.
        lines = Activity.objects.filter(id__gt=writes.pk)
        assert set(lines.values_list("action", "via")) == {
            ("proposal.create", "api token repair agent")
        }
        assert Redrive.objects.count() == 0
        assert _open() == total

        person = Client()
        person.force_login(operated.operator)
        for proposal in Proposal.objects.all():
            page = reverse("admin:valkyr_mcp_proposal_change", args=[proposal.pk])
            shown = person.get(page)
            assert shown.status_code == 200
            # The preview shows the inputs before and after.
            assert "GB" in shown.content.decode()
            done = person.post(
                reverse("admin:valkyr_mcp_proposal_operate_approve", args=[proposal.pk]),
                {"confirmed": "yes", "_form_submitted": "True", "reason": "Checked."},
            )
            assert done.status_code == 302, done.content
        assert agent.wait(180) == 0, log.read_text()
    finally:
        agent.kill()
        agent.wait()

    assert _open() == 0, log.read_text()
    done_states = set(Redrive.objects.values_list("state", "canary", "created_by_name"))
    assert done_states == {("DONE", 10, "operator")}
    assert sum(Redrive.objects.values_list("succeeded", flat=True)) == total
    assert Run.objects.filter(step_path="book.main", state="SUCCESS").count() == total + len(KINDS)
    lines = Activity.objects.filter(id__gt=writes.pk)
    for action, via in (
        ("proposal.create", "api token repair agent"),
        ("proposal.approve", "admin"),
        ("redrive.make", "admin"),
        ("redrive.start", "admin"),
    ):
        assert lines.filter(action=action, via=via).count() == len(KINDS), action
    agents = lines.filter(via__startswith="api token").exclude(action="proposal.create")
    assert not agents.exists()
    reasons = lines.filter(action="redrive.start").values_list("reason", flat=True)
    assert all("Proposal" in reason for reason in reasons)
