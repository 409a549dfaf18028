import { graphlib, layout } from "@dagrejs/dagre";
import type { Body, Definition, Task } from "../document/types";

export const NODE_WIDTH = 200;
export const NODE_HEIGHT = 56;
export type Direction = "LR" | "TB";

/** The document with a place for every task; those that have places keep them. */
export function arranged(document: Definition): Definition {
  return { ...document, ...arrangedBody(document, false, "LR") };
}

/** The document laid out anew. */
export function tidied(document: Definition, direction: Direction): Definition {
  return { ...document, ...arrangedBody(document, true, direction) };
}

function arrangedBody<T extends Body>(body: T, anew: boolean, direction: Direction): T {
  const tasks = body.tasks.map((task) =>
    task.body ? { ...task, body: arrangedBody(task.body, anew, direction) } : task,
  );
  const lacking = anew || tasks.some((task) => task.ui?.x === undefined || task.ui.y === undefined);
  return { ...body, tasks: lacking ? placed(tasks, body, direction) : tasks };
}

function placed(tasks: Task[], body: Body, direction: Direction): Task[] {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: direction, nodesep: 32, ranksep: 80 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const task of tasks) graph.setNode(task.id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const edge of body.edges ?? []) {
    if (graph.hasNode(edge.from) && graph.hasNode(edge.to)) graph.setEdge(edge.from, edge.to);
  }
  layout(graph);
  return tasks.map((task) => {
    const { x, y } = graph.node(task.id);
    return {
      ...task,
      ui: { ...task.ui, x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) },
    };
  });
}
