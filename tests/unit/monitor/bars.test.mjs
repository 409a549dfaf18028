// The parts of a run's bar.
import assert from "node:assert/strict";
import test from "node:test";

import { run, T0 } from "./made.mjs";
import { lengthOf, partsOf } from "../../../executions/static/executions/monitor/bars.js";
import { Store } from "../../../executions/static/executions/monitor/store.js";

const NOW = 100;

function known(values) {
  const store = new Store();
  store.apply("state", { runs: [run("a.main", values)] });
  return store.runs.get(`a.main#${values.attempt ?? 1}`);
}

const parts = (values) => partsOf(known(values), T0 + NOW * 1000).map(({ kind, from, to }) => [kind, (from - T0) / 1000, (to - T0) / 1000]);

test("a run that is over was queued and ran", () => {
  assert.deepEqual(parts({ queuedAt: 1, startedAt: 3, finishedAt: 8, durationMs: 5000 }), [["queued", 1, 3], ["running", 3, 8]]);
});

test("a running one reaches to now", () => {
  assert.deepEqual(parts({ state: "RUNNING", queuedAt: 1, startedAt: 3 }), [["queued", 1, 3], ["running", 3, NOW]]);
});

test("a retry backs off until its time, and is queued from then on", () => {
  const values = { attempt: 2, state: "FAILED", queuedAt: 10, retryAfter: 30, startedAt: 31, finishedAt: 40 };
  assert.deepEqual(parts(values), [["backoff", 10, 30], ["queued", 30, 31], ["running", 31, 40]]);
});

test("one that still backs off does so until now", () => {
  assert.deepEqual(parts({ attempt: 2, state: "PENDING", queuedAt: 90, retryAfter: 130 }), [["backoff", 90, NOW]]);
});

test("one that nobody has taken is queued until now", () => {
  assert.deepEqual(parts({ state: "PENDING", queuedAt: 90 }), [["queued", 90, NOW]]);
});

test("one that was cancelled in its queue never ran", () => {
  assert.deepEqual(parts({ state: "CANCELLED", queuedAt: 10, finishedAt: 20 }), [["queued", 10, 20]]);
});

test("a container waits from its start to its end", () => {
  const values = { state: "SUCCESS", waitsFor: "body", queuedAt: 0, startedAt: 0, finishedAt: 50, durationMs: 3 };
  assert.deepEqual(parts(values), [["waiting", 0, 50]]);
});

test("who woke worked at the end, for as long as its duration says", () => {
  const values = { waitsFor: "timer", queuedAt: 0, startedAt: 0, finishedAt: 50, durationMs: 10000 };
  assert.deepEqual(parts(values), [["waiting", 0, 40], ["running", 40, 50]]);
});

test("a step in no time at all has a part all the same", () => {
  assert.deepEqual(parts({ queuedAt: 5, startedAt: 5, finishedAt: 5, durationMs: 0 }), [["running", 5, 5]]);
});

test("a skipped step took no time", () => {
  assert.equal(lengthOf(known({ state: "SKIPPED", startedAt: 1, finishedAt: 1 }), T0), null);
});

test("a run that waits has lasted until now", () => {
  assert.equal(lengthOf(known({ state: "WAITING", waitsFor: "approval", startedAt: 40, durationMs: 3 }), T0 + NOW * 1000), 60000);
});
