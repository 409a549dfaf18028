"""Objects for the operations of the API, each created when an operation first names it."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from dlq.models import DeadLetterEntry, GroupFingerprint
from executions.access.actor import Actor
from executions.models import Tier, Workflow, Workspace
from executions.publishing.from_code import publish_from_code
from runners.models import Run
from tests.support.failures import fail
from tests.support.segments import claimed, recorded, run_of
from tests.support.triggers import only_trigger, triggered
from tests.support.workflows import publish, start, task
from valkyr_plugins.circuits.models import CircuitBreaker
from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.models import ProposalKind

from .people import a_client

REDRIVE = "/v1/Redrive"
MIGRATION = "/v1/ExecutionMigration"
PASSWORD = "correct horse battery"
EXECUTION, LETTER, RUN = "/v1/WorkflowExecution", "/v1/DeadLetterQueue", "/v1/Run"
GROUP = "/v1/FailureGroup"
ASKED = {"with": {"title": "?"}}
UNDOABLE = {
    "settings": {"compensation": "manual"},
    "tasks": [
        task("one", undo={"use": "flow.noop"}),
        task("two", "flow.approval", "one", **{"with": {"title": "Go on?"}}),
    ],
}


class NamedObjects(dict[str, str]):
    """Ids of objects, each created when a path or a body first names it."""

    def __init__(self, made: Mapping[str, str]) -> None:
        super().__init__(made)
        self.root = a_client(get_user_model().objects.get(username="root"))

    def __missing__(self, name: str) -> str:
        self[name] = str(getattr(self, f"make_{name}")())
        return self[name]

    def post(self, address: str, body: Any = None) -> dict[str, Any]:
        answer = self.root.post(address, body or {}, format="json")
        assert answer.status_code < 300, answer.content
        made: dict[str, Any] = answer.json()
        return made

    def make_draft(self) -> Any:
        definition = {"schema": "valkyr/1", "name": "d", "tasks": [task("one")]}
        body = {"definition": definition, "workspaceId": self["workspace"]}
        return self.post("/v1/Workflow", body)["id"]

    def make_workflow(self) -> Any:
        return publish({"tasks": [task("one")]}).pk

    def make_changed(self) -> Any:
        made = publish({"tasks": [task("one")]})
        definition = made.definition | {"tasks": [task("one"), task("two")]}
        self.root.patch(f"/v1/Workflow/{made.pk}", {"definition": definition}, format="json")
        return made.pk

    def make_with_canary(self) -> Any:
        return self.post(f"/v1/Workflow/{self['changed']}/canary", {"percent": 5})["workflowId"]

    def make_execution(self) -> Any:
        return self.post(f"{EXECUTION}/{self['workflow']}/execute")["id"]

    def make_from_code(self) -> Any:
        document = {"schema": "valkyr/1", "name": "coded", "tasks": [task("one")]}
        return publish_from_code("coded", document, origin="shop.flows:coded").workflow_id

    def make_paused(self) -> Any:
        pk = self.post(f"{EXECUTION}/{self['workflow']}/execute")["id"]
        return self.post(f"{EXECUTION}/{pk}/pause")["id"]

    def make_undoable(self) -> Any:
        workflow = publish(UNDOABLE).pk
        pk = self.post(f"{EXECUTION}/{workflow}/execute")["id"]
        recorded(claimed(pk, "one.main"))
        run = Run.objects.get(execution_id=pk, step_path="two.main")
        self.post(f"{RUN}/{run.pk}/quarantine", {"reason": "x"})
        return pk

    def make_run(self) -> Any:
        return Run.objects.get(execution_id=self["execution"]).pk

    def make_letter(self) -> Any:
        pk = self.post(f"{EXECUTION}/{self['workflow']}/execute")["id"]
        run = Run.objects.get(execution_id=pk)
        return self.post(f"{RUN}/{run.pk}/quarantine", {"reason": "x"})["id"]

    def make_discarded(self) -> Any:
        return self.post(f"{LETTER}/{self['letter']}/discard", {"notes": "x"})["id"]

    def make_pinned(self) -> Any:
        return self.post(f"{LETTER}/{self['letter']}/pin")["id"]

    def make_group(self) -> Any:
        return DeadLetterEntry.objects.get(pk=self["letter"]).group_id

    def make_odd_group(self) -> Any:
        return fail(Workflow.objects.get(pk=self["workflow"]), "odd").group_id

    def make_mixed_group(self) -> Any:
        of = Workflow.objects.get(pk=self["workflow"])
        first, _ = (fail(of, details={"status": status}) for status in (500, 503))
        return first.group_id

    def make_merged_group(self) -> Any:
        self.post(f"{GROUP}/{self['mixed_group']}/merge", {"ids": [self["odd_group"]]})
        return self["mixed_group"]

    def make_fingerprint(self) -> Any:
        rows = GroupFingerprint.objects.filter(group_id=self["merged_group"])
        return rows.latest("pk").fingerprint

    def make_redrive(self) -> Any:
        return self.post("/v1/Redrive", {"ids": [self["letter"]]})["id"]

    def make_two_versions(self) -> Any:
        """Create a workflow with two versions, and an execution on the first."""
        made = publish({"tasks": [task("one")]})
        self.post(f"/v1/WorkflowExecution/{made.pk}/execute")
        definition = made.definition | {"tasks": [task("one"), task("two")]}
        self.root.patch(f"/v1/Workflow/{made.pk}", {"definition": definition}, format="json")
        self.post(f"/v1/Workflow/{made.pk}/publish")
        return made.pk

    def make_backtest(self) -> Any:
        return self.post(f"/v1/Workflow/{self['workflow']}/backtest", {"last": 10})["id"]

    def make_migration(self) -> Any:
        body = {"workflowId": self["two_versions"], "fromVersion": 1}
        return self.post(MIGRATION, body)["id"]

    def make_begun_migration(self) -> Any:
        return self.post(f"{MIGRATION}/{self['migration']}/start")["id"]

    def make_paused_migration(self) -> Any:
        return self.post(f"{MIGRATION}/{self['begun_migration']}/pause")["id"]

    def make_begun_redrive(self) -> Any:
        return self.post(f"{LETTER}/requeue", {"ids": [self["letter"]]})["id"]

    def make_paused_redrive(self) -> Any:
        return self.post(f"{REDRIVE}/{self['begun_redrive']}/pause")["id"]

    def make_proposal(self) -> Any:
        root = get_user_model().objects.get(username="root")
        api = InProcessApi(root, None, Actor.of(root))
        note = {"groupId": str(self["group"]), "note": "x"}
        return proposals.propose(api, ProposalKind.GROUP, note, "why").pk

    def make_exposed(self) -> Any:
        address = f"/v1/Workflow/{self['workflow']}/tool"
        assert self.root.put(address, {}, format="json").status_code == 200
        return self["workflow"]

    def make_past(self) -> Any:
        pk = start(publish({"tasks": [task("one"), task("ask", "flow.approval", "one", **ASKED)]}))
        recorded(claimed(pk, "one.main"))
        return pk

    def make_approval(self) -> Any:
        return self._asleep("flow.approval", title="?").pk

    def make_listener(self) -> Any:
        return self._asleep("flow.wait_for_event", event="paid").execution_id

    def make_callback(self) -> Any:
        tell = task("tell", **{"with": {"value": "{{ tasks.ask.callbackUrl }}"}})
        ask = task("ask", "flow.callback", "tell", **{"with": {"timeoutSeconds": 60}})
        pk = start(publish({"tasks": [tell, ask]}))
        recorded(claimed(pk, "tell.main"))
        return str(run_of(pk, "tell.main").outputs).rpartition("/")[2]

    def make_trigger(self) -> Any:
        return only_trigger(triggered({"type": "WEBHOOK", "auth": "bearer"})).pk

    def make_ada(self) -> Any:
        return User.objects.create_user("ada", password=PASSWORD).pk

    def make_member(self) -> Any:
        body = {"workspaceId": self["workspace"], "userId": int(self["ada"]), "role": "USER"}
        return self.post("/v1/Membership", body)["id"]

    def make_credential(self) -> Any:
        body = {"name": "shop", "fields": {"value": "canary"}, "hosts": ["*"]}
        return self.post("/v1/Credential", body | {"workspaceId": self["workspace"]})["id"]

    def make_quota(self) -> Any:
        return self.post("/v1/Quota", {"workspaceId": self["workspace"], "maxPerDay": 9})["id"]

    def make_budget(self) -> Any:
        return self.post("/v1/Budget", {"workspaceId": self["workspace"], "amount": 9})["id"]

    def make_alert_rule(self) -> Any:
        body = {"name": "On call", "kinds": ["GROUP_NEW"], "channel": "EMAIL"}
        body |= {"recipients": ["ann@example.com"], "workspaceId": self["workspace"]}
        return self.post("/v1/AlertRule", body)["id"]

    def make_alert_delivery(self) -> Any:
        return self.post(f"/v1/AlertRule/{self['alert_rule']}/test")["id"]

    def make_circuit(self) -> Any:
        workspace = Workspace.objects.get(pk=self["workspace"])
        return CircuitBreaker.objects.create(workspace=workspace, target="http.request:a").pk

    def make_robot(self) -> Any:
        body = {"name": "robot", "workspaceId": self["workspace"]}
        return self.post("/v1/ServiceAccount", body)["id"]

    def make_token(self) -> Any:
        body = {"name": "ci", "workspaceId": self["workspace"]}
        return self.post("/v1/ApiToken", body)["id"]

    def make_other(self) -> Any:
        return Tier.objects.create(name="other").pk

    def _asleep(self, use: str, **inputs: Any) -> Run:
        pk = start(publish({"tasks": [task("ask", use, **{"with": inputs})]}))
        recorded(claimed(pk, "ask.main"))
        return run_of(pk, "ask.main")
