// Which rows the timeline has, and in which order.
import assert from "node:assert/strict";
import test from "node:test";

import { run, T0 } from "./made.mjs";
import { rowsOf } from "../../../executions/static/executions/monitor/rows.js";
import { Store } from "../../../executions/static/executions/monitor/store.js";

function known(...rows) {
  const store = new Store();
  store.apply("state", { runs: rows });
  return [...store.runs.values()];
}

const listed = (runs, which = "all", more = {}) => rowsOf(runs, which, { now: T0 + 100000, ...more }).map(({ run: { stepPath, attempt }, depth }) => `${" ".repeat(depth)}${stepPath}#${attempt}`);

test("attempts stand under their step, steps in the order in which they began", () => {
  const runs = known(run("b.main", { queuedAt: 2 }), run("a.main", { queuedAt: 9, attempt: 2 }), run("a.main", { queuedAt: 1 }));

  assert.deepEqual(listed(runs), ["a.main#1", "a.main#2", "b.main#1"]);
});

test("turns stand under their container, in the order of their numbers", () => {
  const runs = known(
    run("after.main", { queuedAt: 60 }),
    run("map.main", { queuedAt: 1, waitsFor: "body" }),
    run("map[10].pick.main", { queuedAt: 2 }),
    run("map[2].loop.main", { queuedAt: 3 }),
    run("map[2].loop[0].x.main", { queuedAt: 4 }),
  );

  assert.deepEqual(listed(runs), ["map.main#1", " map[2].loop.main#1", "  map[2].loop[0].x.main#1", " map[10].pick.main#1", "after.main#1"]);
});

test("a folded container hides what is in it and tells how much", () => {
  const runs = known(run("map.main"), run("map[0].pick.main", { queuedAt: 1 }), run("map[1].pick.main", { queuedAt: 2 }));

  const rows = rowsOf(runs, "all", { now: T0, folded: new Set(["map.main"]) });

  assert.deepEqual(rows.map(({ run: { stepPath }, inside }) => [stepPath, inside]), [["map.main", 2]]);
});

test("turns without their container are shown all the same", () => {
  assert.deepEqual(listed(known(run("map[3].pick.main"))), [" map[3].pick.main#1"]);
});

test("a row in a turn says which", () => {
  const rows = rowsOf(known(run("map[3].pick.main")), "all", { now: T0 });

  assert.equal(rows[0].turn, "map[3]");
});

test("the filters keep what failed, what is live, what took longest", () => {
  const runs = known(
    run("fast.main", { startedAt: 0, finishedAt: 1, durationMs: 1000 }),
    run("slow.main", { startedAt: 0, finishedAt: 9, durationMs: 9000 }),
    run("dead.main", { state: "DLQ", startedAt: 0, finishedAt: 2, durationMs: 2000 }),
    run("now.main", { state: "RUNNING", startedAt: 95 }),
    run("map.main", { state: "WAITING", waitsFor: "body", startedAt: 0 }),
  );

  assert.deepEqual(listed(runs, "failed"), ["dead.main#1"]);
  assert.deepEqual(listed(runs, "running"), ["map.main#1", "now.main#1"]);
  assert.deepEqual(listed(runs, "slowest"), ["slow.main#1", "now.main#1", "dead.main#1", "fast.main#1"]);
});

test("what was rolled back is shown on demand", () => {
  const runs = known(run("a.main", { superseded: true }), run("a.main", { epoch: 1, attempt: 2, queuedAt: 5 }));

  assert.deepEqual(listed(runs), ["a.main#2"]);
  assert.deepEqual(listed(runs, "all", { rolledBack: true }), ["a.main#1", "a.main#2"]);
});
