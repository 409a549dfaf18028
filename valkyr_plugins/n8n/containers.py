"""Create the containers of an imported workflow.

Nodes that n8n runs once per item of a list, and n8n's loops, become bodies of `flow.map` tasks.
"""

from dataclasses import dataclass
from typing import Any

from valkyr_plugins.n8n.drawing import Nodes, takes
from valkyr_plugins.n8n.export import Node, NodeLink
from valkyr_plugins.n8n.families.lists import loop_items
from valkyr_plugins.n8n.graph import loop_ports, reachable
from valkyr_plugins.n8n.levels import Level, NodePort, by_port
from valkyr_plugins.n8n.mapping import ITEM, SUCCESS, Left
from valkyr_plugins.n8n.shape import Shape, many

MAX_MAPS = 6
AT_ONCE = 10


@dataclass(slots=True)
class Builder(Nodes):
    """Implements `open` and `loop` of `Nodes`: creates `flow.map` tasks with their bodies."""

    def open(self, level: Level, port: NodePort, links: list[NodeLink], name: str) -> None:
        """Add a map over a port's items; its body contains the nodes that process single items."""
        region = self.region(level, links) if level.depth < MAX_MAPS else set()
        if not region:
            return
        task = self.ids.take(f"{name} items")
        items = str(port.shape.items)
        item = port.shape.of_item("item")
        inner = Level(region, level, shapes={name: item})
        entry = NodePort("", (), item)
        inner.ports = {link: entry for link in links if link.target in region}
        self.draw(inner)
        self.report.remarks.append(
            f'The nodes after "{name}" run once for each item, in the body of "{task}".'
        )
        config = {"items": "{{ " + items + " }}", "maxConcurrency": AT_ONCE}
        exits = [
            link
            for source in sorted(region)
            for link in self.graph.outgoing.get(source, ())
            if link.target not in region
        ]
        level.ports |= self.exits(inner, task, exits, port.shape)
        self.container(level, inner, task, f"Items of {name}", config)
        level.lead(port, task)
        level.taken |= region
        for one_port, leaving in by_port(level.ports, exits):
            self.open(level, one_port, leaving, task)

    def region(self, level: Level, links: list[NodeLink]) -> set[str]:
        """Return the nodes that are reachable only from these links and process single items."""
        # A merge also receives all items of its inputs at once.
        lists = {name for name in level.names if takes(self.graph.nodes[name]) != ITEM}
        kept_out = lists | level.taken | (set(self.graph.nodes) - level.names)
        starts = [link.target for link in links if takes(self.graph.nodes[link.target]) == ITEM]
        region = reachable(starts, self.graph.outgoing, kept_out)
        given = set(links)
        while True:
            stray = {
                name
                for name in region
                for link in self.graph.incoming.get(name, ())
                if link not in given and link.source not in region
            }
            if not stray:
                return region
            region -= stray

    def exits(
        self, inner: Level, task: str, links: list[NodeLink], came: Shape
    ) -> dict[NodeLink, NodePort]:
        """Return the port of each link that leaves a body; a port yields a list of results."""
        found = list(by_port(inner.ports, links))
        alone = len(found) == 1 and self.is_output(inner, found[0][0])
        named = []
        for port, leaving in found if not alone else ():
            named.append((self.collected(inner, port), leaving))
        output = f"tasks.{task}.output"
        several = len(inner.leaves()) > 1
        ports: dict[NodeLink, NodePort] = {}
        for leaf, leaving in named or [("", found[0][1])] if found else ():
            part = f' | map(attribute="{leaf}")' if several else ""
            # If a gate took another branch, the result of an iteration is null.
            plain = alone and all(on == SUCCESS for _, _, on in inner.edges)
            items = output if plain else f'{output}{part} | reject("none") | list'
            # An unchanged item keeps the shape that it had before the body.
            left = inner.ports[leaving[0]].shape
            shape = came.again(items) if left.whole == "item" else many(items)
            if left.items is not None:
                shape = Shape(why="it is a list of lists; flatten it with data.jmespath: []")
            ports |= dict.fromkeys(leaving, NodePort(task, (SUCCESS,), shape))
        return ports

    def is_output(self, inner: Level, port: NodePort) -> bool:
        """Return whether the port's value is the body's output, so that no task must be added."""
        plain_way = port.on == (SUCCESS,) and port.shape.whole == f"tasks.{port.task}.output"
        return plain_way and inner.leaves() == [port.task]

    def collected(self, inner: Level, port: NodePort) -> str:
        """Add a last task, which returns the port's value; return the task's ID."""
        task = self.ids.take("out")
        whole = port.shape.whole or port.shape.items or f"tasks.{port.task}.output"
        last = next((one["ui"] for one in inner.tasks if one["id"] == port.task), {"x": 0, "y": 0})
        inner.tasks.append(
            {
                "id": task, "name": "Out", "use": "flow.noop",
                "with": {"value": "{{ " + whole + " }}"},
                "ui": {"x": last["x"], "y": last["y"] + 120},
            }
        )  # fmt: skip
        inner.lead(port, task)
        return task

    def container(
        self, level: Level, inner: Level, task: str, name: str, config: dict[str, Any]
    ) -> None:
        """Add a `flow.map` task with its body to a level."""
        x, y = inner.settle()
        level.tasks.append(
            {
                "id": task, "name": name[:200], "use": "flow.map", "with": config,
                "body": inner.drawn(), "ui": {"x": x, "y": y},
            }
        )  # fmt: skip

    def loop(self, level: Level, node: Node, ports: dict[int, list[NodePort]]) -> None:
        """Convert a Loop Over Items node into a sequential map, or into a placeholder."""
        work = self.work(level, node, ports)
        coming = [port for group in ports.values() for port in group]
        try:
            body = self.plain_body(level, node)
            items, item = loop_items(work)
        except Left as reason:
            made = self.left(work, str(reason))
            self.add(level, work, made, coming)
            self.lead_on(level, work, made)
            return
        inner = self.turned(level, node, body, item)
        back = [link for link in self.graph.back.get(node.name, ()) if link in inner.ports]
        results = {
            port.shape.items: port for port in self.exits(inner, work.id, back, work.shape).values()
        }
        everything = many(f"tasks.{work.id}.output")
        shape = next(iter(results.values())).shape if len(results) == 1 else everything
        config = {"items": "{{ " + items + " }}", "maxConcurrency": 1}
        self.container(level, inner, work.id, node.name, config)
        for port in coming:
            level.lead(port, work.id)
        level.shapes[node.name] = shape
        self.tell(work, "flow.map")
        self.after(level, node, NodePort(work.id, (SUCCESS,), shape, work.branch))

    def plain_body(self, level: Level, node: Node) -> set[str]:
        """Return the nodes of a loop's body. Raises Left if the loop is not simple, or too deep."""
        body = self.graph.bodies.get(node.name)
        if body is None:
            raise Left(
                "its loop is not simple: another connection enters or leaves it; draw it as a "
                "flow.map or a flow.loop"
            )
        if level.depth >= MAX_MAPS:
            raise Left("loops are nested too deeply; move this one into a sub-workflow")
        return body

    def turned(self, level: Level, node: Node, body: set[str], item: Shape) -> Level:
        """Return the body of a loop as a level; an empty body gets a `flow.noop`."""
        inner = Level(body & level.names, level, shapes={node.name: item})
        into, _ = loop_ports(node)
        entry = NodePort("", (), item)
        going = self.graph.outgoing.get(node.name, ())
        inner.ports = {link: entry for link in going if link.output == into}
        self.draw(inner)
        if not inner.tasks:
            place = {"x": node.x, "y": node.y}
            inner.tasks.append({"id": self.ids.take("nothing"), "use": "flow.noop", "ui": place})
        level.taken |= body
        return inner

    def after(self, level: Level, node: Node, port: NodePort) -> None:
        """Connect the end of a loop to the nodes after the loop."""
        _, done = loop_ports(node)
        going = (*self.graph.outgoing.get(node.name, ()), *self.ways_back(node.name))
        links = [link for link in going if link.output == done]
        level.ports |= dict.fromkeys(links, port)
        self.open(level, port, links, node.name)
