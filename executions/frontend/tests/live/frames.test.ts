import { expect, test } from "vitest";
import { applied, NOTHING_KNOWN, type RunRow, retriesIn } from "../../src/live/frames";

const row = (id: string, state: string, attempt = 1): RunRow =>
  ({ id, state, attempt, stepPath: `${id}.main`, superseded: false }) as RunRow;

test("a state frame adds to what is known, a snapshot takes its place", () => {
  const first = applied(NOTHING_KNOWN, "snapshot", { runs: [row("a", "RUNNING")] }, 0);
  const second = applied(first, "state", { runs: [row("b", "PENDING")] }, 0);
  expect([...second.runs.keys()]).toEqual(["a", "b"]);
  const third = applied(second, "snapshot", { runs: [row("c", "PENDING")] }, 0);
  expect([...third.runs.keys()]).toEqual(["c"]);
});

test("the end leaves what is known as it was", () => {
  const known = applied(NOTHING_KNOWN, "snapshot", { runs: [row("a", "SUCCESS")] }, 0);
  expect(applied(known, "end", { now: "2026-01-01T00:00:00Z" }, 0).runs).toBe(known.runs);
});

test("the server's clock is compared with ours", () => {
  const known = applied(NOTHING_KNOWN, "state", { now: "1970-01-01T00:00:05Z" }, 2000);
  expect(known.skew).toBe(3000);
});

test("attempts after the first are retries", () => {
  expect(retriesIn([row("a", "FAILED"), row("a", "FAILED", 2), row("a", "SUCCESS", 3)])).toBe(2);
});
