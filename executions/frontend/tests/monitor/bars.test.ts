import { expect, test } from "vitest";
import { lengthOf, partsOf } from "../../src/monitor/bars";
import { run, T0 } from "./made";

const NOW = T0 + 100_000;
const parts = (values: Parameters<typeof run>[1]) =>
  partsOf(run("a.main", values), NOW).map(({ kind, from, to }) => [
    kind,
    (from - T0) / 1000,
    (to - T0) / 1000,
  ]);

test("a run that is over was queued and ran", () => {
  expect(parts({ queuedAt: 1, startedAt: 3, finishedAt: 8, durationMs: 5000 })).toEqual([
    ["queued", 1, 3],
    ["running", 3, 8],
  ]);
});

test("a running one reaches to now", () => {
  expect(parts({ state: "RUNNING", queuedAt: 1, startedAt: 3 })).toEqual([
    ["queued", 1, 3],
    ["running", 3, 100],
  ]);
});

test("a retry backs off until its time, and is queued from then on", () => {
  const values = { attempt: 2, state: "FAILED", queuedAt: 10, retryAfter: 30 };
  expect(parts({ ...values, startedAt: 31, finishedAt: 40 })).toEqual([
    ["backoff", 10, 30],
    ["queued", 30, 31],
    ["running", 31, 40],
  ]);
});

test("one that still backs off does so until now", () => {
  expect(parts({ attempt: 2, state: "PENDING", queuedAt: 90, retryAfter: 130 })).toEqual([
    ["backoff", 90, 100],
  ]);
});

test("one that nobody has taken is queued until now", () => {
  expect(parts({ state: "PENDING", queuedAt: 90 })).toEqual([["queued", 90, 100]]);
});

test("one that was cancelled in its queue never ran", () => {
  expect(parts({ state: "CANCELLED", queuedAt: 10, finishedAt: 20 })).toEqual([["queued", 10, 20]]);
});

test("a container waits from its start to its end", () => {
  expect(parts({ waitsFor: "body", startedAt: 0, finishedAt: 50, durationMs: 3 })).toEqual([
    ["waiting", 0, 50],
  ]);
});

test("who woke worked at the end, for as long as its duration says", () => {
  expect(parts({ waitsFor: "timer", startedAt: 0, finishedAt: 50, durationMs: 10_000 })).toEqual([
    ["waiting", 0, 40],
    ["running", 40, 50],
  ]);
});

test("a step in no time at all has a part all the same", () => {
  expect(parts({ queuedAt: 5, startedAt: 5, finishedAt: 5, durationMs: 0 })).toEqual([
    ["running", 5, 5],
  ]);
});

test("a skipped step took no time", () => {
  const skipped = run("a.main", { state: "SKIPPED", startedAt: 1, finishedAt: 1 });
  expect(lengthOf(skipped, T0)).toBe(null);
});

test("a run that waits has lasted until now", () => {
  const values = { state: "WAITING", waitsFor: "approval", startedAt: 40, durationMs: 3 };
  expect(lengthOf(run("a.main", values), NOW)).toBe(60_000);
});
