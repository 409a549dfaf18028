// The critical path through what happened.
import assert from "node:assert/strict";
import test from "node:test";

import { node, run, T0 } from "./made.mjs";
import { criticalPath } from "../../../executions/static/executions/monitor/critical.js";
import { indexed } from "../../../executions/static/executions/monitor/graph_states.js";
import { Store } from "../../../executions/static/executions/monitor/store.js";

const edge = (from, to) => ({ from, to, label: "" });
const done = (path, queuedAt, finishedAt, values = {}) => run(path, { queuedAt, startedAt: queuedAt, finishedAt, ...values });

function path(nodes, edges, ...rows) {
  const store = new Store();
  store.apply("state", { runs: rows });
  const graph = indexed({ nodes, edges, size: {} });
  return [...criticalPath(graph, [...store.runs.values()], T0 + 100000)].sort();
}

const DIAMOND = [["a", "b", "c", "d"].map((name) => node(name, "main")), [edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")]];

test("of two branches the one that ended later counts", () => {
  const found = path(...DIAMOND, done("a.main", 0, 1), done("b.main", 1, 3), done("c.main", 1, 8), done("d.main", 8, 9));

  assert.deepEqual(found, ["a.main#1", "c.main#1", "d.main#1"]);
});

test("a run that is not over ends now", () => {
  const found = path(...DIAMOND, done("a.main", 0, 1), done("b.main", 1, 50), run("c.main", { state: "RUNNING", queuedAt: 1, startedAt: 2 }));

  assert.deepEqual(found, ["a.main#1", "c.main#1"]);
});

test("all attempts of a step are on the way to its end", () => {
  const found = path([node("a", "main")], [], done("a.main", 0, 1, { state: "FAILED" }), done("a.main", 1, 5, { attempt: 2 }));

  assert.deepEqual(found, ["a.main#1", "a.main#2"]);
});

test("steps of a chain follow each other", () => {
  assert.deepEqual(path([node("a", "x", "y")], [], done("a.x", 0, 1), done("a.y", 1, 2)), ["a.x#1", "a.y#1"]);
});

test("what was skipped decided nothing", () => {
  const found = path(...DIAMOND, done("a.main", 0, 1), done("b.main", 1, 8, { state: "SKIPPED" }), done("c.main", 1, 3), done("d.main", 8, 9));

  assert.deepEqual(found, ["a.main#1", "c.main#1", "d.main#1"]);
});

test("of a map the items that made room for each other count, down to the last", () => {
  const nodes = [node("map", "main"), node("map.x", "main"), node("end", "main")];
  const found = path(
    nodes, [edge("map", "end")],
    done("map.main", 0, 20, { waitsFor: "body" }), done("map[0].x.main", 0, 4), done("map[1].x.main", 0, 9),
    done("map[2].x.main", 4, 6), done("map[3].x.main", 9, 20), done("end.main", 20, 21),
  );

  assert.deepEqual(found, ["end.main#1", "map.main#1", "map[1].x.main#1", "map[3].x.main#1"]);
});

test("of a loop every turn counts", () => {
  const nodes = [node("loop", "main"), node("loop.x", "main"), node("loop.y", "main")];
  const found = path(
    nodes, [edge("loop.x", "loop.y")],
    done("loop.main", 0, 4, { waitsFor: "body" }),
    ...[0, 1].flatMap((turn) => [done(`loop[${turn}].x.main`, 2 * turn, 2 * turn + 1), done(`loop[${turn}].y.main`, 2 * turn + 1, 2 * turn + 2)]),
  );

  assert.equal(found.length, 5);
});

test("nothing has no path", () => {
  assert.deepEqual(path(...DIAMOND), []);
});

test("a path through two thousand runs is found at once", () => {
  const nodes = [node("map", "main"), node("map.x", "main")];
  const rows = [...Array(2000).keys()].map((index) => done(`map[${index}].x.main`, index, index + 1));

  assert.equal(path(nodes, [], done("map.main", 0, 2000, { waitsFor: "body" }), ...rows).length, 2001);
});
