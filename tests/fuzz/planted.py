"""One object of each kind in a workspace, marked so that any output that contains it is recognised.

A name contains the mark of its workflow or workspace; payloads have their own mark, since fewer
users may see them.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Membership, Tier, WorkflowVersion, Workspace
from runners.models import Run
from valkyr_plugins.alerts.lifecycle import Finding, notice, tell
from valkyr_plugins.alerts.models import AlertKind, AlertRule
from valkyr_plugins.circuits.models import CircuitBreaker
from valkyr_plugins.version_migration.models import ExecutionMigration


def payload_mark(mark: str) -> str:
    """Return the contents of a marked workflow's payloads."""
    return f"{mark}PAYLOAD"


@dataclass
class Planted:
    """The ids of the created objects, by kind, and the marks of their owners."""

    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def note(self, kind: str, made: Any) -> str:
        """Record one object that the API created; return its id."""
        pk = str(made["id"])
        self.ids[kind].append(pk)
        return pk

    def every(self) -> set[str]:
        """Return all ids."""
        return {pk for ids in self.ids.values() for pk in ids}


class Planter:
    """Creates objects through the API, as the workspace's administrator."""

    def __init__(self, slug: str) -> None:
        tier = Tier.objects.create(name=slug)
        self.slug = slug
        self.workspace = Workspace.objects.create(slug=slug, name=f"{slug} name", tier=tier)
        self.root = get_user_model().objects.create_user(f"root-of-{slug}")
        Membership.objects.create(user=self.root, workspace=self.workspace, role="ADMIN")
        self.client = APIClient()
        self.client.force_authenticate(self.root)
        self.planted = Planted()
        self.planted.ids["Workspace"].append(str(self.workspace.pk))
        self.planted.ids["Tier"].append(str(tier.pk))
        self._of_the_workspace()

    def workflow(self, mark: str) -> Planted:
        """Create a workflow with every kind of object that may belong to one."""
        mine = Planted()
        made = self._post("Workflow", {"name": mark, "definition": self._definition(mark)})
        pk = mine.note("Workflow", made)
        self._post(f"Workflow/{pk}/publish", {})
        for trigger in self._get(f"Trigger?workflowId={pk}"):
            mine.note("Trigger", trigger)
        event = self._post("Event", {"name": mark, "payload": {"text": payload_mark(mark)}})
        mine.ids["Event"].append(event["id"])
        mine.ids["WorkflowExecution"] += event["executions"]
        for verb in ("nothing", "fix", "pause", "quarantine"):
            self._execution(mine, pk, mark, verb)
        for group in self._get(f"FailureGroup?workflowId={pk}"):
            mine.note("FailureGroup", group)
        mine.note("Backtest", self._post(f"Workflow/{pk}/backtest", {"last": 10}))
        version = WorkflowVersion.objects.get(workflow=pk, number=1)
        migration = ExecutionMigration.objects.create(
            workspace=self.workspace,
            workflow_id=pk,
            source=version,
            target=version,
            total=0,
            reason=mark,
        )
        mine.note("ExecutionMigration", {"id": migration.pk})
        for kind, ids in mine.ids.items():
            self.planted.ids[kind] += ids
        self._redrive(mine.ids["DeadLetterQueue"][-1], payload_mark(mark))
        return mine

    def _redrive(self, letter: str, text: str) -> None:
        """Create a redrive, which belongs to the workspace and not to the workflow of its dead
        letters.
        """
        body = {"ids": [letter], "reason": self.slug, "overrides": {"values": {"text": text}}}
        self.planted.note("Redrive", self._post("Redrive", body))

    def _execution(self, mine: Planted, workflow: str, mark: str, verb: str) -> None:
        params = {"text": payload_mark(mark)}
        started = self._post(f"WorkflowExecution/{workflow}/execute", {"params": params})
        execution = mine.note("WorkflowExecution", started)
        run = Run.objects.get(execution_id=execution, step_path="first.main")
        mine.ids["Run"].append(str(run.pk))
        checkpoint = self._post(f"WorkflowExecution/{execution}/checkpoints", {"name": mark})
        mine.note("checkpoint", checkpoint)
        if verb in {"fix", "quarantine"}:
            letter = self._post(f"Run/{run.pk}/quarantine", {"reason": mark})
            mine.note("DeadLetterQueue", letter)
            if verb == "fix":
                outputs = {"text": payload_mark(mark)}
                given = self._post(f"DeadLetterQueue/{letter['id']}/fix", {"outputs": outputs})
                mine.note("Run", given)
        elif verb == "pause":
            self._post(f"WorkflowExecution/{execution}/pause", {"reason": mark})

    def _definition(self, mark: str) -> dict[str, Any]:
        return {
            "schema": "valkyr/1",
            "name": mark,
            "description": mark,
            "variables": {"kept": None},
            "triggers": [{"type": "WEBHOOK"}, {"type": "EVENT", "event": mark}],
            "tasks": [
                {"id": "first", "use": "data.set", "with": {"values": {"text": mark}}},
                {"id": "ask", "use": "flow.approval", "with": {"title": mark}},
            ],
            "edges": [{"from": "first", "to": "ask"}],
        }

    def _of_the_workspace(self) -> None:
        slug = self.slug
        secret = {"fields": {"value": f"{slug}-hidden-value"}, "hosts": ["*"]}
        for kind, body in (
            ("Credential", {"name": slug, "description": slug, **secret}),
            ("ServiceAccount", {"name": slug, "description": slug}),
            ("ApiToken", {"name": slug}),
            ("Quota", {"maxPerDay": 1_000}),
            ("Budget", {"amount": "1000", "currency": "EUR"}),
        ):
            self.planted.note(kind, self._post(kind, body))
        circuit = CircuitBreaker.objects.create(workspace=self.workspace, target=f"http:{slug}")
        self.planted.note("CircuitBreaker", {"id": circuit.pk})
        rule = {"name": slug, "kinds": ["GROUP_NEW"], "channel": "EMAIL"}
        made = self._post("AlertRule", rule | {"recipients": [f"{slug}@example.com"]})
        self.planted.note("AlertRule", made)
        kept = AlertRule.objects.get(pk=made["id"])
        alert = notice(kept, Finding(AlertKind.GROUP_NEW, f"group:{slug}", slug))
        tell(kept)
        self.planted.note("Alert", {"id": alert.pk})
        self.planted.note("AlertDelivery", {"id": alert.deliveries.get().pk})
        for row in self._get("Membership"):
            self.planted.note("Membership", row)
        for row in self._get("Activity"):
            self.planted.note("Activity", row)

    def _post(self, address: str, body: Any) -> Any:
        answer = self.client.post(f"/v1/{address}", body, format="json")
        assert answer.status_code < 300, (address, answer.content)
        return answer.json()

    def _get(self, address: str) -> Any:
        answer = self.client.get(f"/v1/{address}")
        assert answer.status_code == 200, (address, answer.content)
        return answer.json()
