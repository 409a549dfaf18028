"""Create the task of each node through which data flows, with the task's edges and outputs."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from executions.public.definitions import Catalog, ConfigProblem
from valkyr_plugins.n8n import families  # noqa: F401 - each file names its families
from valkyr_plugins.n8n.export import ERROR_OUTPUT, GO_ON, Node, NodeLink
from valkyr_plugins.n8n.families.code import code_takes
from valkyr_plugins.n8n.families.lists import item_lists_take
from valkyr_plugins.n8n.graph import LOOP, LinkGraph
from valkyr_plugins.n8n.levels import Level, NodePort, by_port, common, exclude, met
from valkyr_plugins.n8n.mapping import (
    ERROR,
    FAMILIES,
    ITEM,
    LIST,
    MERGE,
    SUCCESS,
    TAKES,
    Ids,
    Left,
    Made,
    NodeWork,
    plain,
)
from valkyr_plugins.n8n.placeholder import PLACEHOLDER, inputs_of, plain_inputs
from valkyr_plugins.n8n.report import CHANGED, LEFT, ImportReport, Row
from valkyr_plugins.n8n.secrecy import secret_name, without_secrets
from valkyr_plugins.n8n.shape import UNKNOWN, Keys, Shape, Sight
from valkyr_plugins.n8n.texts import Texts

# Problems that publishing reports. They do not prevent the conversion.
OFF = ("python_code_off", "javascript_code_off")
AGENT_BODIES, MAX_BODIES, MAX_TOOLS = 2, 8, 2_000  # each agent is a loop that contains a map
MAX_REJECTED = 4  # maximum rejected texts of one node
_ITEM = re.compile(r"(?<![\w.])(item|index)\b")
PACKAGES = ("n8n-nodes-base.", "@n8n/n8n-nodes-langchain.")
MANY = 'Several nodes lead to "{}": it runs once, with the output of the first of them that ran.'


def takes(node: Node) -> str:
    """Return the type of a node's input: single items, all items, or several inputs."""
    if node.kind == LOOP:
        return LIST
    if node.kind == "itemLists":
        return item_lists_take(node.parameters.get("operation"))
    if node.kind in ("code", "function", "functionItem"):
        return code_takes(node.kind, node.parameters.get("mode"))
    return TAKES.get(node.kind, ITEM) if known(node) else ITEM


def known(node: Node) -> bool:
    """Return whether the node's type is in one of n8n's own packages."""
    return node.type.startswith(PACKAGES)


@dataclass(slots=True)
class Nodes(ABC):
    """Creates the tasks of a level's nodes one by one, and completes the report.

    For many items, `open` and `loop` create a body; `containers.Builder` implements them.
    """

    graph: LinkGraph
    report: ImportReport
    rows: dict[str, Row]
    catalog: Catalog
    ids: Ids = field(default_factory=Ids)
    variables: dict[str, None] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)
    # The tools that are being drawn, the innermost last.
    agents: list[str] = field(default_factory=list)
    tools_drawn: int = 0
    depth: int = 0  # number of bodies around the node that is being drawn

    def draw(self, level: Level) -> None:
        """Create the tasks of all nodes of a level, whose first ports are already set."""
        for port, links in list(by_port(level.ports, list(level.ports))):
            if port.shape.items is not None:
                self.open(level, port, links, links[0].source)
        for name in self.graph.order:
            if name in level.names and name not in level.taken:
                self.place(level, self.graph.nodes[name])

    def place(self, level: Level, node: Node) -> None:
        """Create the task of one node, and its edges."""
        ports = self.ports_into(level, node)
        if node.kind == LOOP and known(node) and not node.disabled:
            self.loop(level, node, ports)
            return
        work = self.work(level, node, ports)
        self.depth = level.depth
        made = self.made(work, ports)
        self.add(level, work, made, [port for group in ports.values() for port in group])
        self.lead_on(level, work, made)

    @abstractmethod
    def open(self, level: Level, port: NodePort, links: list[NodeLink], name: str) -> None:
        """Create a body for the nodes that process a port's items one by one."""

    @abstractmethod
    def loop(self, level: Level, node: Node, ports: dict[int, list[NodePort]]) -> None:
        """Create the body of a node that iterates over its items."""

    def ports_into(self, level: Level, node: Node) -> dict[int, list[NodePort]]:
        """Return the ports that lead to a node, grouped by the node's inputs."""
        found: dict[int, list[NodePort]] = {}
        for link in level.ports:
            if link.target == node.name:
                found.setdefault(link.input, []).append(level.ports[link])
        return found

    def work(self, level: Level, node: Node, ports: dict[int, list[NodePort]]) -> NodeWork:
        """Return the input of a node's conversion: node, inputs, and the data that it may read."""
        exclusive = exclude(common(group) for group in ports.values())
        joins = takes(node) == MERGE and not exclusive
        groups = ports if joins else {0: [port for group in ports.values() for port in group]}
        inputs: dict[int, Shape] = {}
        sight = Sight(numbered=level.depth > 0)
        for place, group in groups.items():
            inputs[place], several = met(group)
            if several and not (exclusive and takes(node) == MERGE):
                sight.remark(MANY.format(node.name))
        before = self.graph.before.get(node.name, set())

        def nodes(name: str) -> Shape | None:
            unordered = name in self.graph.before and name not in before
            return None if unordered else level.shape(name)

        sight.current = inputs.get(0, Shape())
        sight.nodes = nodes
        sight.variable = lambda name: self.variable(name, node)
        task = self.ids.take(node.name, node.kind)
        branch = common(port for group in ports.values() for port in group)
        return NodeWork(
            node, task, inputs, sight, Texts(sight), self.report, self.helpers(node.name),
            exclusive=exclusive, branch=branch, drawing=self,
        )  # fmt: skip

    def take(self, name: str) -> str:
        """Return a free ID derived from a name."""
        return self.ids.take(name)

    def helpers(self, name: str) -> list[tuple[str, Node]]:
        """Return the nodes that help this node, each with the kind of its link."""
        return self.graph.helpers.get(name, [])

    def tool(
        self, work: NodeWork, node: Node, arguments: dict[str, dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the tasks of a tool, one after another, and report on its node.

        The tool's arguments are in `item`, so the tool reads no item from outside the agent.
        """
        base = node.type.removesuffix("Tool")
        mapped = node.kind not in FAMILIES and base.rpartition(".")[2] in FAMILIES
        node = replace(node, type=base) if mapped else node
        outer = work.sight

        def nodes(name: str) -> Shape | None:
            return _outside(outer.nodes(name))

        current = _outside(outer.current) or UNKNOWN
        sight = Sight(current, nodes, outer.variable, arguments=arguments)
        inner = NodeWork(
            node, self.ids.take(node.name, node.kind), {0: current}, sight, Texts(sight),
            self.report, self.helpers(node.name), drawing=self,
        )  # fmt: skip
        try:
            made = self.nested(inner, work.node.name)
        except Left as reason:
            made = self.left(inner, str(reason))
        self.tell(inner, made.use)
        return [*made.before, self.task(inner, made)]

    def nested(self, work: NodeWork, agent: str) -> Made:
        """Return the task of an agent's tool, which may be an agent with tools. Raises Left."""
        name = work.node.name
        self.tools_drawn += 1
        bodies = self.depth + AGENT_BODIES * (len(self.agents) + 2)
        deep = bodies > MAX_BODIES and any(kind == "ai_tool" for kind, _ in work.helpers)
        if deep or name in (agent, *self.agents) or self.tools_drawn > MAX_TOOLS:
            raise Left("agents are tools of each other, or nested too deeply")
        self.agents.append(name)
        try:
            return self.mapped(work)
        finally:
            self.agents.pop()

    def variable(self, name: str, node: Node) -> str | None:
        """Return the name for a variable of n8n; None if it may be secret or cannot be named."""
        found = plain(name) if not name.isidentifier() or not name.isascii() else name[:100]
        if secret_name(name) or not found or found[0].isdigit():
            return None
        self.variables[found] = None
        self.report.variable(found, node.name)
        return found

    def made(self, work: NodeWork, ports: dict[int, list[NodePort]]) -> Made:
        """Return the task of a node, or a placeholder if the node cannot be converted."""
        node = work.node
        if node.disabled:
            work.remark("It was disabled: it passes its input on.")
            return Made("flow.noop", {}, work.shape)
        try:
            made = self.mapped(work)
        except Left as reason:
            return self.left(work, str(reason))
        if node.on_error == GO_ON:
            work.remark("Later tasks run even if it fails; its output is then null.")
        if made.join and any(
            len(group) > 1 or len(group[0].on) > 1 for group in ports.values() if group
        ):
            made.join = ""
            work.remark(
                "It continues as soon as any of its branches has ended; check what it waits for."
            )
        return made

    def mapped(self, work: NodeWork) -> Made:
        """Return the task for a node. Raises Left if no module fits or accepts the inputs."""
        node = work.node
        family = FAMILIES.get(node.kind) if known(node) else None
        if family is None:
            raise Left(
                f"there is no module for {node.type}; check whether http.request can replace it"
            )
        made = family(work)
        module = self.catalog.get(made.use)
        if module is None:
            raise Left(f"with {made.use} for each such node, the workflow would be too large")
        for _ in range(MAX_REJECTED):
            found = [one for one in module.check(made.inputs) if one.code not in OFF]
            if not found:
                return made
            if not _omit(work, made.inputs, found[0]):
                break
        where = ".".join(map(str, found[0].pointer))
        raise Left(f"{made.use} does not accept it: {where}: {found[0].message}"[:500])

    def left(self, work: NodeWork, reason: str) -> Made:
        """Return the placeholder for a node that cannot be mapped."""
        self.rows[work.node.name].status = LEFT
        work.sight.remarks.clear()
        work.texts.unfinished = 0
        work.remark(f"{reason[:1].upper()}{reason[1:]}.")
        return work.made(PLACEHOLDER, inputs_of(work.node, reason))

    def add(self, level: Level, work: NodeWork, made: Made, ports: list[NodePort]) -> None:
        """Add a node's task, its edges and its row in the report."""
        task = self.task(work, made)
        first, *following = [*made.before, task]
        level.tasks += [first, *following]
        for before, after in pairwise([first, *following]):
            level.edges[before["id"], after["id"], SUCCESS] = None
        for port in ports:
            level.lead(port, first["id"])
        level.shapes[work.node.name] = made.shape
        if work.node.kind == "respondToWebhook" and not work.node.disabled:
            self.answer(level, work)
        self.tell(work, made.use)

    def task(self, work: NodeWork, made: Made) -> dict[str, Any]:
        """Return the definition of a node's task, from the result of the node's conversion."""
        node = work.node
        if made.whole is not None:
            return made.whole
        task: dict[str, Any] = {
            "id": work.id,
            "name": node.name,
            "use": made.use,
            "with": made.inputs,
        }
        if made.credential:
            task["credential"] = made.credential
        if made.join:
            task["join"] = made.join
        if node.attempts > 1 and not made.use.startswith(("flow.", "data.", "n8n.")):
            seconds = node.attempt_seconds
            task["retry"] = {
                "maxAttempts": node.attempts, "baseSeconds": seconds, "maxSeconds": seconds,
                "jitter": 0,
            }  # fmt: skip
        note = {"note": without_secrets(node.note)} if node.note else {}
        task["ui"] = {"x": node.x, "y": node.y, **note}
        return task

    def answer(self, level: Level, work: NodeWork) -> None:
        """Record that a task's output is the response to a webhook; in a body, add a remark."""
        if level.depth:
            work.remark(
                "It responds inside a body, which is not possible: create the response after the "
                "body."
            )
        else:
            self.answers.append(work.id)

    def tell(self, work: NodeWork, module: str) -> None:
        """Complete a node's row in the report."""
        row = self.rows[work.node.name]
        row.task, row.module = work.id, module
        row.remarks += list(work.sight.remarks)
        if row.status != LEFT and row.remarks:
            row.status = CHANGED
        for name, part in work.parts.items() if row.status != LEFT else ():
            helper = self.rows[name]
            helper.task, helper.module = part.task, part.module
            helper.remarks = list(dict.fromkeys([*helper.remarks, *part.remarks]))
            helper.status = CHANGED if helper.remarks else helper.status

    def lead_on(self, level: Level, work: NodeWork, made: Made) -> None:
        """Set the ports of a node's outputs; create bodies, and placeholders for links back."""
        groups: dict[int, list[NodeLink]] = {}
        for link in (*self.graph.outgoing.get(work.node.name, ()), *self.ways_back(work.node.name)):
            groups.setdefault(link.output, []).append(link)
        for output, links in groups.items():
            port = self.port(work, made, output)
            if port is None:
                port = self.stand_in(level, work, output)
            level.ports.update(dict.fromkeys(links, port))
            if any(link in self.graph.cut for link in links):
                self.turn_back(level, port, work, [one for one in links if one in self.graph.cut])
            if port.shape.items is not None:
                self.open(level, port, links, work.node.name)

    def ways_back(self, name: str) -> list[NodeLink]:
        """Return the node's links that were removed from the graph because they close a cycle."""
        back = [link for links in self.graph.back.values() for link in links]
        return [link for link in (*self.graph.cut, *back) if link.source == name]

    def port(self, work: NodeWork, made: Made, output: int) -> NodePort | None:
        """Return the port at which an output continues; None if the module has no such output."""
        node = work.node
        usual = max(made.outcomes, default=0) + 1
        if node.on_error == ERROR_OUTPUT and output == usual and not node.disabled:
            return NodePort(work.id, (ERROR,), failure(work), work.branch)
        if not made.outcomes or node.disabled:
            outcome: str | None = SUCCESS
        else:
            outcome = made.outcomes.get(output)
        if outcome is None:
            return None
        fails = node.on_error == GO_ON and made.use != PLACEHOLDER
        return NodePort(work.id, (outcome, ERROR) if fails else (outcome,), made.shape, work.branch)

    def stand_in(self, level: Level, work: NodeWork, output: int) -> NodePort:
        """Add a placeholder after an output that the module does not have; return its port."""
        reason = (
            f"output {output + 1} of {work.node.name} has no equivalent; find out when n8n "
            "uses it, and draw that edge"
        )
        self.rows[work.node.name].status = CHANGED
        self.rows[work.node.name].remarks.append(f"{reason[:1].upper()}{reason[1:]}.")
        return self.pause(level, f"{work.node.name} output {output + 1}", reason, work.node)

    def turn_back(
        self, level: Level, port: NodePort, work: NodeWork, links: list[NodeLink]
    ) -> None:
        """Add a placeholder for links to an earlier node that do not form a simple loop."""
        names = ", ".join(dict.fromkeys(link.target for link in links))
        reason = (
            f"here n8n returns to {names}: put the tasks from there to here into the body of "
            "a flow.loop, which ends when its condition is true"
        )
        self.rows[work.node.name].status = CHANGED
        self.rows[work.node.name].remarks.append(f"After it, the file returns to {names}.")
        level.lead(port, self.pause(level, f"back to {names}", reason, work.node).task)

    def pause(self, level: Level, name: str, reason: str, near: Node) -> NodePort:
        """Add a placeholder that belongs to no node and blocks publishing; return its port."""
        task = self.ids.take(name)
        level.tasks.append(
            {
                "id": task, "name": name[:200], "use": PLACEHOLDER,
                "with": plain_inputs("A connection", reason),
                "ui": {"x": near.x - 220, "y": near.y + 120},
            }
        )  # fmt: skip
        return NodePort(task, (SUCCESS,), UNKNOWN)


def _omit(work: NodeWork, inputs: dict[str, Any], problem: ConfigProblem) -> bool:
    """Replace text that the module rejects, such as YOUR_EMAIL, with a call of `todo`.

    Return whether this was possible.
    """
    *path, last = problem.pointer or ("",)
    value: Any = inputs
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    rejected = value.get(last) if isinstance(value, dict) else None
    given = rejected if isinstance(rejected, list) else [rejected]
    texts = [one for one in given if isinstance(one, str) and "{{" not in one]
    if len(texts) < len(given):
        return False
    original = ", ".join(texts).strip() or str(last)
    value[last] = "{{ " + work.texts.left(original, problem.message) + " }}"
    return True


def _outside(shape: Shape | None) -> Shape | None:
    """Return a shape if a tool can read it; None if the shape reads the item outside the agent."""
    if shape is None:
        return None
    words = [shape.whole, shape.base, shape.items, *shape.named.values()]
    return None if any(word and _ITEM.search(word) for word in words) else shape


def failure(work: NodeWork) -> Shape:
    """Return the shape of what n8n passes on after a failure: the item and the error message."""
    message = f"tasks.{work.id}.error.message"
    named: dict[Keys, str] = {("error", "message"): message, ("error",): message}
    came = work.shape
    why = "after a failure, the item and its error are passed on"
    return Shape(None, came.base, {**came.named, **named}, why=why)
