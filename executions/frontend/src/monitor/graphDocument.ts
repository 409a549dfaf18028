/** Converts the API's graph of an execution's version to a document that can be drawn. Pure. */
import type { GraphNode, GraphShape } from "../api/shapes";
import { groupedBy } from "../document/grouping";
import { MAIN } from "../document/modules";
import { bodyOf, idOf } from "../document/paths";
import type { Definition, Edge, Task } from "../document/types";

export function documentOf({ nodes, edges }: GraphShape, name: string): Definition {
  const nodesIn = groupedBy(nodes, (node) => node.parent);
  const edgesIn = groupedBy(edges, (edge) => bodyOf(edge.from).join("."));
  const body = (parent: string): { tasks: Task[]; edges: Edge[] } => ({
    tasks: (nodesIn.get(parent) ?? []).map(task),
    edges: (edgesIn.get(parent) ?? []).map(({ from, to, label }) => ({
      from: idOf(from),
      to: idOf(to),
      ...(label ? { on: label } : {}),
    })),
  });
  const task = (node: GraphNode): Task => ({
    id: idOf(node.path),
    name: node.title,
    ...chainOf(node),
    ...(node.undo ? { undo: { use: node.undo } } : {}),
    ...(node.container ? { body: body(node.path) } : {}),
  });
  return { schema: "valkyr/1", name, ...body("") };
}

/** Return the different module types of the graph. */
export function modulesIn({ nodes }: GraphShape): string[] {
  const named = nodes.flatMap(({ module, undo, steps }) => [
    module,
    undo,
    ...steps.map((step) => step.module),
  ]);
  return [...new Set(named)].filter(Boolean).sort();
}

function chainOf({ steps }: GraphNode): Pick<Task, "use" | "modules"> {
  const chain = steps.map(({ path, module }) => ({ id: idOf(path), use: module }));
  const [only] = chain;
  return chain.length === 1 && only?.id === MAIN ? { use: only.use } : { modules: chain };
}
