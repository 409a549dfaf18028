"""Convert an n8n export into a definition and a report: the package's entry point."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from executions.public.definitions import Catalog, DefinitionError, storage_problems
from valkyr_plugins.n8n.containers import Builder
from valkyr_plugins.n8n.export import MAIN, STRETCH, Export, Node, NodeLink
from valkyr_plugins.n8n.graph import graph_of
from valkyr_plugins.n8n.levels import Level, NodePort
from valkyr_plugins.n8n.mapping import SUCCESS, Left, workflow_slug
from valkyr_plugins.n8n.placeholder import PLACEHOLDER, inputs_of
from valkyr_plugins.n8n.report import CHANGED, LEFT, ImportReport, Row
from valkyr_plugins.n8n.secrecy import without_secrets
from valkyr_plugins.n8n.shape import UNKNOWN, Shape, one
from valkyr_plugins.n8n.triggers import ImportedTriggers, is_trigger, started

KIND = "stickyNote"
MAX_TEXT = 10_000
MAX_NOTES = 500
SIZES = (10, 5_000)
# For each of n8n's colour numbers: the studio's nearest colour.
COLOURS = {1: "yellow", 2: "yellow", 3: "pink", 4: "green", 5: "blue", 6: "pink", 7: "grey"}


def note(node: Node, number: int) -> dict[str, Any]:
    """Convert a sticky note of n8n, with its position, size, text and colour."""
    parameters = node.parameters
    text = parameters.get("content")
    found = {
        "id": f"note{number}",
        "x": node.x,
        "y": node.y,
        "w": round(_size(parameters.get("width"), 240) * STRETCH),
        "h": _size(parameters.get("height"), 160),
        "text": without_secrets(text[:MAX_TEXT]) if isinstance(text, str) else "",
    }
    colour = parameters.get("color")
    name = COLOURS.get(colour) if isinstance(colour, int) else None
    return found | ({"color": name} if name else {})


def _size(value: Any, default: int) -> float:
    sound = isinstance(value, (int, float)) and not isinstance(value, bool)
    return round(min(max(value, SIZES[0]), SIZES[1])) if sound else default


HELPERS = {
    "ai_memory": "and kept the conversation between executions, which nothing here does by "
    "itself: keep the messages in a database, and hand them on in `messages`",
    "ai_vectorStore": "and no module searches vectors: use llm.embed, and the store's own API",
    "ai_embedding": "and stands for llm.embed in a vector store that was left",
    "ai_document": "and split documents for a vector store that was left",
}
MAX_SECONDS = 31_536_000
# A definition contains the text of its programs, which can make it too large.
PROGRAM = "javascript.code"


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of converting an export: a definition that can be saved, and a report."""

    definition: dict[str, Any]
    report: ImportReport


def convert(export: Export, catalog: Catalog) -> Conversion:
    """Convert an export, with a report. Raises DefinitionError if the definition is too large."""
    found = _Conversion(export, catalog).convert()
    if storage_problems(found.definition):
        _drop_parameters(found.definition)
    if storage_problems(found.definition):
        others = {name: module for name, module in catalog.items() if name != PROGRAM}
        found = _Conversion(export, others).convert()
        _drop_parameters(found.definition)
    if problems := storage_problems(found.definition):
        raise DefinitionError(problems)
    return found


class _Conversion:
    def __init__(self, export: Export, catalog: Catalog) -> None:
        self.export = export
        self.report = ImportReport(remarks=list(export.remarks))
        self.rows = {node.name: Row(node.name, node.type) for node in export.nodes}
        self.report.rows = list(self.rows.values())
        self.triggers = [node for node in export.nodes if is_trigger(node)]
        self.graph = graph_of(export, self._flowing())
        self.builder = Builder(self.graph, self.report, self.rows, catalog)
        self.level = Level(set(self.graph.order))

    def convert(self) -> Conversion:
        definition: dict[str, Any] = {"schema": "valkyr/1", "name": self.export.name}
        if self.export.description:
            definition["description"] = without_secrets(self.export.description)
        triggers = self._start()
        self._connect()
        self.builder.draw(self.level)
        for node in self.triggers:
            if node.kind == "mcpTrigger" and self.graph.helpers.get(node.name):
                self.builder.place(self.level, node)
                self.builder.answers.append(self.rows[node.name].task)
        self._helpers()
        if self.builder.variables:
            definition["variables"] = dict.fromkeys(self.builder.variables)
        if self.builder.answers or self._answers_with_the_end():
            definition["output"] = self._output()
        definition |= self._settings() | self.level.drawn()
        if triggers:
            definition["triggers"] = triggers
        if drawn := self._notes():
            definition["ui"] = {"notes": drawn}
        return Conversion(definition, self.report)

    def _flowing(self) -> list[str]:
        """Return the names of the nodes through which items flow, without triggers and helpers."""
        links = self.export.links
        helpers = {link.source for link in links if link.kind != MAIN}
        linked = {end for link in links if link.kind == MAIN for end in (link.source, link.target)}
        beside = (helpers - linked) | {node.name for node in self.triggers}
        return [
            node.name for node in self.export.nodes if node.kind != KIND and node.name not in beside
        ]

    def _start(self) -> list[dict[str, Any]]:
        """Convert the triggers, connect them to the next nodes, and return at most 100 triggers."""
        found: list[dict[str, Any]] = []
        starts: list[tuple[Node, NodePort]] = []
        for node in self.triggers:
            given = self._started(node)
            found += given.triggers
            starts.append((node, NodePort("", (), given.shape)))
            self.level.shapes[node.name] = given.shape
        unique = [one for place, one in enumerate(found) if one not in found[:place]]
        self._lead(starts)
        return unique[:100]

    def _started(self, node: Node) -> ImportedTriggers:
        row = self.rows[node.name]
        try:
            if node.disabled:
                row.status = CHANGED
                row.remarks.append("It was disabled and was omitted.")
                return ImportedTriggers([], one("input"))
            given = started(node, self.export.settings)
        except Left as reason:
            return self._unknown(node, str(reason))
        row.module = given.module
        row.remarks += given.remarks
        row.status = CHANGED if given.remarks else row.status
        return given

    def _unknown(self, node: Node, reason: str) -> ImportedTriggers:
        """Add a placeholder for a trigger without an equivalent."""
        row = self.rows[node.name]
        row.status = LEFT
        row.task, row.module = self.builder.ids.take(node.name, node.kind), PLACEHOLDER
        row.remarks.append(f"{reason[:1].upper()}{reason[1:]}.")
        self.level.tasks.append(
            {
                "id": row.task, "name": node.name, "use": PLACEHOLDER,
                "with": inputs_of(node, reason), "ui": {"x": node.x, "y": node.y},
            }
        )  # fmt: skip
        return ImportedTriggers([], one("input"))

    def _lead(self, starts: list[tuple[Node, NodePort]]) -> None:
        """Connect the triggers to the first tasks.

        Triggers with different targets share a placeholder, which blocks publishing.
        """
        links: dict[str, list[NodeLink]] = {}
        for link in self.export.links:
            if link.target in self.level.names:
                links.setdefault(link.source, []).append(link)
        ends = {
            frozenset(link.target for link in links[n.name]) for n, _ in starts if n.name in links
        }
        gate = (
            self._parted([node for node, _ in starts if node.name in links])
            if len(ends) > 1
            else ""
        )
        for node, port in starts:
            task = self.rows[node.name].task or gate
            on = (SUCCESS,) if task else ()
            for link in links.get(node.name, ()):
                self.level.ports[link] = NodePort(task, on, port.shape)

    def _parted(self, nodes: list[Node]) -> str:
        names = ", ".join(node.name for node in nodes)
        reason = (
            f"in n8n, {names} begin at different nodes; in Valkyr, every trigger begins at "
            "the first tasks. Create a workflow for each, or branch by the payload with a "
            "flow.if"
        )
        self.report.remarks.append(f"{reason[:1].upper()}{reason[1:]}.")
        return self.builder.pause(self.level, "several triggers", reason, nodes[0]).task

    def _connect(self) -> None:
        """Connect unconnected nodes to the start or, if triggers exist, to a placeholder."""
        graph, level = self.graph, self.level
        begun = {link.target for link in level.ports}
        roots = [name for name in graph.order if not graph.incoming.get(name) and name not in begun]
        if not roots:
            return
        if not self.triggers:
            port = NodePort("", (), one("input"))
        else:
            many = "1 node" if len(roots) == 1 else f"{len(roots)} nodes"
            reason = (
                f"no trigger leads to {many}, such as {roots[0]}, so n8n never ran them. Draw "
                "the missing edges, or remove the tasks"
            )
            self.report.remarks.append(f"{reason[:1].upper()}{reason[1:]}.")
            near = graph.nodes[roots[0]]
            port = self.builder.pause(level, "not connected", reason, near)
        for name in roots:
            level.ports[NodeLink("", 0, name)] = port

    def _helpers(self) -> None:
        """Report as LEFT the models, tools and memories that belong to no task."""
        for target, helpers in self.graph.helpers.items():
            for kind, node in helpers:
                row = self.rows[node.name]
                if row.module or row.status == LEFT:
                    continue
                row.status = LEFT
                why = HELPERS.get(kind, "and has no equal of its own")
                row.remarks.append(f'It helped "{target}", {why}.')

    def _answers_with_the_end(self) -> bool:
        modes = [node.parameters.get("responseMode") for node in self.triggers]
        return "lastNode" in modes and self._end() is not None

    def _end(self) -> Shape | None:
        """Return the shape of the last task's output; None if unknown or not unique."""
        leaves = self.level.leaves()
        last = [row.node for row in self.report.rows if row.task in leaves]
        shape = self.level.shapes.get(last[0]) if len(leaves) == len(last) == 1 else None
        return shape if shape is not None and (shape.whole or shape.items) else None

    def _output(self) -> str:
        if self.builder.answers:
            answers = [f"tasks.{task}.output" for task in self.builder.answers]
            return "{{ " + " or ".join(answers) + " }}"
        shape = self._end() or UNKNOWN
        return "{{ " + str(shape.whole or shape.items) + " }}"

    def _settings(self) -> dict[str, Any]:
        given = self.export.settings
        seconds, failing = given.get("executionTimeout"), given.get("errorWorkflow")
        if isinstance(failing, str) and failing:
            slug = workflow_slug(f"workflow-{failing}")
            self.report.workflow(slug, f"error workflow ({failing})", "")
            self.report.remarks.append(
                "It had an error workflow: import that workflow too, and name it in "
                "settings.onFailure."
            )
        number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        if number and 1 <= float(seconds or 0) <= MAX_SECONDS:
            return {"settings": {"timeoutSeconds": seconds}}
        return {}

    def _notes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for node in self.export.nodes:
            if node.kind == KIND and len(found) < MAX_NOTES:
                found.append(note(node, len(found) + 1))
                self.rows[node.name].module = "note"
        return found


def _drop_parameters(body: Mapping[str, Any]) -> None:
    """Remove the parameters of placeholders from a definition that is otherwise too large."""
    for task in body.get("tasks", ()):
        if task["use"] == PLACEHOLDER:
            task["with"].pop("parameters", None)
        if "body" in task:
            _drop_parameters(task["body"])
