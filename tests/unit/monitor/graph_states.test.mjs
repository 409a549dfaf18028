// What the graph shows of tasks, turns and edges.
import assert from "node:assert/strict";
import test from "node:test";

import { node, run } from "./made.mjs";
import { badge, indexed, statesOf, taken } from "../../../executions/static/executions/monitor/graph_states.js";
import { Store } from "../../../executions/static/executions/monitor/store.js";

const GRAPH = indexed({
  nodes: [node("charge", "render", "pay"), node("map", "main"), node("map.pick", "main"), node("map.pack", "main"), node("next", "main"), node("refund", "main")],
  edges: [
    { from: "charge", to: "next", label: "" },
    { from: "charge", to: "refund", label: "error" },
    { from: "map.pick", to: "map.pack", label: "" },
  ],
  size: {},
});

function states(...rows) {
  const store = new Store();
  store.apply("state", { runs: rows });
  return statesOf(GRAPH, store.runs.values());
}

test("the newest attempt counts", () => {
  const found = states(run("next.main", { state: "FAILED" }), run("next.main", { attempt: 2, state: "RUNNING" }));

  assert.equal(found.get("next").state, "RUNNING");
});

test("what was rolled back does not count", () => {
  assert.equal(states(run("next.main", { state: "DLQ", superseded: true })).get("next"), undefined);
});

test("a chain is under way until its last step is done", () => {
  assert.equal(states(run("charge.render")).get("charge").state, "RUNNING");
  assert.equal(states(run("charge.render"), run("charge.pay")).get("charge").state, "SUCCESS");
  assert.equal(states(run("charge.render"), run("charge.pay", { state: "DLQ" })).get("charge").state, "DLQ");
});

test("a task in a body shows what needs a look first", () => {
  const found = states(run("map[0].pick.main"), run("map[1].pick.main", { state: "DLQ" }), run("map[2].pick.main", { state: "RUNNING" }));

  assert.equal(found.get("map.pick").state, "DLQ");
  assert.equal(found.get("map.pick").runs, 3);
});

test("a container counts its turns in words", () => {
  const rows = [...Array(12).keys()].flatMap((index) => [
    run(`map[${index}].pick.main`),
    run(`map[${index}].pack.main`, { state: { 3: "RUNNING", 7: "FAILED" }[index] ?? "SUCCESS" }),
  ]);
  const found = states(run("map.main", { state: "WAITING", waitsFor: "body" }), ...rows);

  assert.equal(badge(found.get("map").turns), "12: 10 ok, 1 running, 1 failed");
});

test("an edge is taken when its source ended with its outcome", () => {
  const [success, error] = GRAPH.edges;
  const good = states(run("charge.render"), run("charge.pay", { outcome: "success" }));
  const bad = states(run("charge.render", { state: "FAILED", outcome: "error" }));

  assert.deepEqual([taken(success, good), taken(error, good)], [true, false]);
  assert.deepEqual([taken(success, bad), taken(error, bad)], [false, true]);
  assert.equal(taken(success, states(run("charge.render"))), false);
});
