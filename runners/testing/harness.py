"""The testing kit of Valkyr: a workspace, definitions, credentials, and executions."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from executions import credentials
from executions.access.actor import Actor
from executions.database import connection
from executions.definition.graph.document import load_text
from executions.definition.graph.model import Graph
from executions.definition.versions import compiled
from executions.errors import InvalidDefinition, Unchanged
from executions.models import Tier, Workflow, WorkflowVersion, Workspace
from executions.publishing import versioning
from executions.triggers.start import start_execution
from runners.modules import registry
from runners.testing.answers import Answers, check_names
from runners.testing.drive import silent
from runners.testing.module_run import What, found
from runners.testing.workflow_run import WorkflowRun

ACTOR = Actor.system("a test")
Definition = Mapping[str, Any] | str | Path


class Valkyr:
    """The object that the fixture `valkyr` provides; it uses the database's default workspace."""

    def __init__(self) -> None:
        """Disable the idle timeout in a test's transaction, for which no other process waits."""
        if connection.in_atomic_block:
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")

    @property
    def workspace(self) -> Workspace:
        """Return the default workspace; create it if the test's database has none."""
        tier, _ = Tier.objects.get_or_create(name="unlimited")
        found, _ = Workspace.objects.get_or_create(
            slug=Workspace.DEFAULT_SLUG, defaults={"name": "Default", "tier": tier}
        )
        return found

    def publish(self, definition: Definition) -> Workflow:
        """Publish a definition (a mapping, YAML or JSON text, or a file path); return the workflow.

        A workflow of the same name gets a new version, unless the definition is unchanged. Raises
        AssertionError, which lists every problem of an invalid definition.
        """
        workflow = self._draft(_document(definition))
        try:
            with suppress(Unchanged):
                versioning.publish(workflow.pk, actor=ACTOR)
        except InvalidDefinition as error:
            lines = [f"  {problem.path}: {problem.message}" for problem in error.problems]
            raise AssertionError("\n".join([str(error), *lines])) from None
        workflow.refresh_from_db()
        return workflow

    def start(
        self,
        definition: Definition | Workflow,
        payload: Any = None,
        *,
        answers: Answers | None = None,
    ) -> WorkflowRun:
        """Publish a definition, start an execution of it, and run the execution as far as possible.

        A Workflow is not published again. `answers` replace modules, keyed by task (`charge`), step
        path (`charge.pay`) or type (`http.request`). An answer is the outputs, a Result or Wait, an
        exception (or its class) to raise, or a function of (inputs, context) that returns one of
        these. `in_turn(...)` combines several answers.
        """
        workflow = definition if isinstance(definition, Workflow) else self.publish(definition)
        check_names(answers or {}, self._graphs(), registry.names())
        given = {} if payload is None else payload
        with silent():
            started = start_execution(workflow, given, actor=ACTOR)
        return WorkflowRun(started.execution.pk, answers or {}).carry()

    def install(self, *modules: What) -> None:
        """Add functions, classes or modules to the registry, unless already installed.

        The modules remain available for the rest of the session.
        """
        for module in modules:
            chosen = found(module)
            if chosen.type not in registry.names():
                registry.add(chosen)

    def credential(
        self, name: str, kind: str = "secret", *, hosts: Sequence[str] = ("*",), **fields: str
    ) -> None:
        """Create a credential in the workspace: `valkyr.credential("bank", "bearer", token="t")`.

        The credential may be sent to any host unless `hosts` restricts it. Only the modules that
        its type suggests may use it.
        """
        credentials.create(
            self.workspace, name=name, type=kind, fields=fields, hosts=hosts, actor=ACTOR
        )

    def _draft(self, document: dict[str, Any]) -> Workflow:
        name = str(document.get("name", ""))
        slug = versioning.slug_of(name)
        known = Workflow.objects.filter(workspace=self.workspace, slug=slug, archived_at=None)
        workflow = known.first()
        if workflow is None:
            return versioning.create_workflow(
                self.workspace, name=name, slug=slug, definition=document, actor=ACTOR
            )
        return versioning.update_workflow(
            workflow.pk, {"definition": document}, actor=ACTOR, expected_revision=None
        )

    def _graphs(self) -> Iterable[Graph]:
        latest = Workflow.objects.filter(workspace=self.workspace, latest_version__isnull=False)
        versions = WorkflowVersion.objects.filter(pk__in=latest.values("latest_version"))
        return (compiled(pk).graph for pk in versions.values_list("pk", flat=True))


def _document(definition: Definition) -> dict[str, Any]:
    if isinstance(definition, Mapping):
        return {"schema": "valkyr/1", "name": "tested", **definition}
    is_text = isinstance(definition, str) and "\n" in definition
    text = str(definition) if is_text else Path(definition).read_text(encoding="utf-8")
    kind = "json" if text.lstrip().startswith("{") else "yaml"
    return load_text(text, content_type=kind)
