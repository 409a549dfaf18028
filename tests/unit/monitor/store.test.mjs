// What is known of an execution, from the stream's frames.
import assert from "node:assert/strict";
import test from "node:test";

import { frame, run } from "./made.mjs";
import { Store } from "../../../executions/static/executions/monitor/store.js";

const snapshot = (...runs) => frame({ state: "RUNNING" }, runs);

test("a snapshot replaces what was there", () => {
  const store = new Store();
  store.apply("snapshot", snapshot(run("a.main"), run("b.main")));

  store.apply("snapshot", snapshot(run("b.main")));

  assert.deepEqual([...store.runs.keys()], ["b.main#1"]);
});

test("a second snapshot may come at any time, and states go on from it", () => {
  const store = new Store();
  store.apply("snapshot", snapshot(run("a.main", { state: "RUNNING" })));
  store.apply("state", { runs: [run("a.main", { state: "SUCCESS" }), run("b.main")] });

  store.apply("snapshot", snapshot(run("a.main", { state: "SUCCESS" }), run("b.main", { state: "RUNNING" })));
  const { runs } = store.apply("state", { runs: [run("b.main", { state: "SUCCESS" })] });

  assert.deepEqual(runs.map(({ before, after }) => [before.state, after.state]), [["RUNNING", "SUCCESS"]]);
  assert.deepEqual([...store.runs.values()].map(({ state }) => state), ["SUCCESS", "SUCCESS"]);
});

test("of a row that comes twice the later counts", () => {
  const store = new Store();
  store.apply("snapshot", snapshot(run("a.main", { state: "RUNNING" })));

  const { runs } = store.apply("state", { runs: [run("a.main", { state: "SUCCESS" })] });

  assert.equal(store.runs.get("a.main#1").state, "SUCCESS");
  assert.deepEqual(runs.map(({ before, after }) => [before.state, after.state]), [["RUNNING", "SUCCESS"]]);
});

test("a frame without the execution leaves it as it was", () => {
  const store = new Store();
  store.apply("snapshot", snapshot());

  store.apply("state", { runs: [run("a.main")] });

  assert.equal(store.execution.state, "RUNNING");
});

test("the server's clock counts, whatever ours says", () => {
  const store = new Store();

  store.apply("snapshot", { ...snapshot(), now: "2026-01-01T00:00:10Z" }, Date.parse("2026-01-01T00:00:00Z"));

  assert.equal(store.now(Date.parse("2026-01-01T00:00:05Z")), Date.parse("2026-01-01T00:00:15Z"));
});

test("what failed is found in the order of time, without what was rolled back", () => {
  const store = new Store();
  const late = run("late.main", { state: "DLQ", queuedAt: 9 });
  const early = run("early.main", { state: "FAILED", queuedAt: 2 });
  store.apply("snapshot", snapshot(late, early, run("old.main", { state: "DLQ", superseded: true }), run("fine.main", { state: "SUCCESS" })));

  assert.deepEqual(store.wrong().map((found) => found.stepPath), ["early.main", "late.main"]);
});

test("attempts of a step stand in order", () => {
  const store = new Store();
  store.apply("snapshot", snapshot(run("a.main", { attempt: 3 }), run("b.main"), run("a.main", { attempt: 1 }), run("a.main", { attempt: 2 })));

  const found = store.attempts(store.runs.get("a.main#2"));

  assert.deepEqual(found.map((one) => one.attempt), [1, 2, 3]);
});
