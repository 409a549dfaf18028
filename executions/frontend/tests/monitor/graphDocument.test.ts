import { expect, test } from "vitest";
import type { GraphNode, GraphShape } from "../../src/api/shapes";
import { taskAt } from "../../src/document/paths";
import { tasksOf } from "../../src/live/aggregate";
import { wasTaken } from "../../src/live/live";
import { documentOf, modulesIn } from "../../src/monitor/graphDocument";
import { row } from "./made";

const node = (path: string, more: Partial<GraphNode> = {}): GraphNode => ({
  path,
  title: path,
  module: "flow.noop",
  container: "",
  parent: path.split(".").slice(0, -1).join("."),
  steps: [{ path: `${path}.main`, module: "flow.noop" }],
  undo: "",
  ...more,
});
const chain = ["render", "pay"].map((id) => ({ path: `charge.${id}`, module: "flow.noop" }));
const GRAPH: GraphShape = {
  versionId: "v",
  nodes: [
    node("charge", { steps: chain, title: "Charge the card" }),
    node("map", { container: "map" }),
    node("map.pick"),
    node("map.pack"),
    node("next", { undo: "flow.noop" }),
    node("refund"),
  ],
  edges: [
    { from: "charge", to: "next", label: "" },
    { from: "charge", to: "refund", label: "error" },
    { from: "map.pick", to: "map.pack", label: "" },
  ],
};
const document = documentOf(GRAPH, "Order");

test("the graph of an execution is a document as the studio has it", () => {
  expect(document.tasks.map(({ id }) => id)).toEqual(["charge", "map", "next", "refund"]);
  expect(taskAt(document, "charge")).toMatchObject({
    name: "Charge the card",
    modules: [{ id: "render" }, { id: "pay" }],
  });
  expect(taskAt(document, "next")?.use).toBe("flow.noop");
  expect(document.edges).toEqual([
    { from: "charge", to: "next" },
    { from: "charge", to: "refund", on: "error" },
  ]);
  expect(taskAt(document, "map")?.body?.edges).toEqual([{ from: "pick", to: "pack" }]);
});

test("a chain is under way until its last step is done, and tells of each", () => {
  const of = (...states: string[]) =>
    tasksOf(
      states.map((state, at) => row(["charge.render", "charge.pay"][at] ?? "", { state })),
      document,
    ).get("charge");
  expect(of("SUCCESS")?.state).toBe("RUNNING");
  expect(of("SUCCESS", "SUCCESS")?.state).toBe("SUCCESS");
  expect(of("SUCCESS", "DLQ")).toMatchObject({
    state: "DLQ",
    steps: { render: "SUCCESS", pay: "DLQ" },
  });
});

test("a task in a body shows what needs a look first, and of how many runs", () => {
  const rows = ["SUCCESS", "DLQ", "RUNNING"].map((state, at) =>
    row(`map[${at}].pick.main`, { state }),
  );
  expect(tasksOf(rows, document).get("map.pick")).toMatchObject({ state: "DLQ", runs: 3 });
});

test("a container counts its turns in words", () => {
  const rows = Array.from({ length: 12 }, (_, at) => [
    row(`map[${at}].pick.main`),
    row(`map[${at}].pack.main`, { state: { 3: "RUNNING", 7: "FAILED" }[at] ?? "SUCCESS" }),
  ]).flat();
  const map = row("map.main", { state: "WAITING", waitsFor: "body" });
  const found = tasksOf([map, ...rows], document).get("map");
  expect(found?.count).toBe("12: 10 ok, 1 running, 1 failed");
});

test("an edge is taken when its source ended with its outcome", () => {
  const [success, error] = document.edges ?? [];
  if (!success || !error) throw new Error("no edges");
  const good = tasksOf([row("charge.render"), row("charge.pay")], document);
  const bad = tasksOf([row("charge.render", { state: "FAILED", outcome: "error" })], document);
  const begun = tasksOf([row("charge.render")], document);
  expect([wasTaken(good, [], success), wasTaken(good, [], error)]).toEqual([true, false]);
  expect([wasTaken(bad, [], success), wasTaken(bad, [], error)]).toEqual([false, true]);
  expect(wasTaken(begun, [], success)).toBe(false);
});

test("a task says what undoes it, and how far that is beside its own state", () => {
  expect(taskAt(document, "next")?.undo).toEqual({ use: "flow.noop" });
  expect(taskAt(document, "refund")?.undo).toBeUndefined();
  const tasks = tasksOf(
    [
      row("next.main", { state: "SUCCESS" }),
      row("undo:next.main", { state: "RUNNING" }),
      row("map[0].pack.main", { state: "SUCCESS" }),
      row("map[0].undo:pack.main", { state: "DLQ" }),
      row("map[1].undo:pack.main", { state: "SUCCESS" }),
    ],
    document,
  );
  expect(tasks.get("next")).toMatchObject({ state: "SUCCESS", undo: "RUNNING" });
  expect(tasks.get("map.pack")).toMatchObject({ state: "SUCCESS", undo: "DLQ" });
});

test("each module of the graph is named once, also the one that undoes a task", () => {
  const nodes = [node("a", { undo: "email.send" }), node("b", { module: "flow.map", steps: [] })];
  expect(modulesIn({ ...GRAPH, nodes })).toEqual(["email.send", "flow.map", "flow.noop"]);
});
