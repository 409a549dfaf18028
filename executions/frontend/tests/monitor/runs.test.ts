import { expect, test } from "vitest";
import { applied } from "../../src/live/frames";
import { hintOf } from "../../src/monitor/hints";
import { attemptsOf, markOfRun, timed, wrongOf } from "../../src/monitor/runs";
import { newsOf } from "../../src/monitor/saying";
import { masked } from "../../src/monitor/values";
import { known, row, run, T0 } from "./made";

test("a second snapshot may come at any time, and states go on from it", () => {
  const first = known("RUNNING", row("a.main", { state: "RUNNING" }));
  const runs = [row("a.main"), row("b.main", { state: "RUNNING" })];
  const second = applied(first, "snapshot", { runs }, 0);
  const third = applied(second, "state", { runs: [row("b.main")] }, 0);
  expect([...third.runs.values()].map(({ state }) => state)).toEqual(["SUCCESS", "SUCCESS"]);
});

test("a frame without the execution leaves it as it was", () => {
  const after = applied(known("RUNNING"), "state", { runs: [row("a.main")] }, 0);
  expect(after.execution?.state).toBe("RUNNING");
});

test("a row is read once", () => {
  const told = row("refine[2].draft.main", { queuedAt: 5 });
  expect(timed(told)).toBe(timed(told));
  expect(timed(told)).toMatchObject({ plain: "refine.draft.main", queuedAt: T0 + 5000 });
});

test("what failed is found in the order of time, without what was rolled back", () => {
  const found = wrongOf([
    run("late.main", { state: "DLQ", queuedAt: 9 }),
    run("early.main", { state: "FAILED", queuedAt: 2 }),
    run("old.main", { state: "DLQ", superseded: true }),
    run("fine.main"),
  ]);
  expect(found.map(({ stepPath }) => stepPath)).toEqual(["early.main", "late.main"]);
});

test("attempts of a step stand in order", () => {
  const runs = [3, 1, 2].map((attempt) => run("a.main", { attempt }));
  const found = attemptsOf(run("a.main"), [...runs, run("b.main")]);
  expect(found.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});

test("a retry says when it comes, a sleeper what it waits for", () => {
  const retry = run("a.main", { state: "PENDING", attempt: 3, retryAfter: 40 });
  expect(markOfRun(retry, T0 + 10_000).word).toBe("retry 2, in 30 s");
  expect(markOfRun(retry, T0 + 50_000).word).toBe("retry 2");
  const asleep = run("a.main", { state: "WAITING", waitsFor: "event" });
  expect(markOfRun(asleep, T0).word).toBe("awaits event");
  expect(markOfRun(run("a.main", { superseded: true }), T0).word).toBe("succeeded, rolled back");
});

test("an execution that does not move says what it waits for", () => {
  const { execution } = known("RUNNING");
  const queued = run("a.main", { state: "PENDING", queue: "slow", queuedAt: 0 });
  expect(hintOf(execution, [queued], T0 + 5000)).toContain("Queued in slow for 5 s");
  expect(hintOf(execution, [queued], T0 + 60_000)).toContain("No worker has claimed a step");
  expect(hintOf(known("PENDING").execution, [], T0 + 5000)).toContain("for 5 s");
  expect(hintOf(execution, [run("a.main", { startedAt: 1 })], T0 + 5000)).toBe("");
});

test("failures are said before where the execution is, and nothing of what was there before", () => {
  const before = known("RUNNING", row("a.main", { state: "RUNNING" }));
  const after = known("FAILED", row("a.main", { state: "FAILED" }));
  expect(newsOf(after, before)).toEqual(["a, attempt 1, failed.", "The execution is failed."]);
  expect(newsOf(before, { ...before, execution: null })).toEqual([]);
});

test("what keys call a secret is masked, wherever it is", () => {
  const value = { password: "hunter2", list: [{ "api-key": "x", plain: 1 }], token: "" };
  expect(masked(value)).toEqual({
    password: "••••••",
    list: [{ "api-key": "••••••", plain: 1 }],
    token: "",
  });
});
