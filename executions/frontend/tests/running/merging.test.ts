import { expect, test } from "vitest";
import type { ExecutionSummary } from "../../src/running/executions";
import { merged } from "../../src/running/merging";

const row = (id: string, state = "RUNNING"): ExecutionSummary => ({
  id,
  workflowId: "w",
  version: 1,
  state,
  createdAt: "2026-11-28T10:00:00Z",
  startedAt: null,
  finishedAt: null,
});

test("the first answer is shown as it is", () => {
  expect(merged(null, [row("b"), row("a")], null).map((one) => one.id)).toEqual(["b", "a"]);
  expect(merged([], [row("a")], null).map((one) => one.id)).toEqual(["a"]);
});

test("known rows change in place, and new ones wait", () => {
  const shown = merged([row("a")], [row("b"), row("a", "SUCCESS")], null);
  expect(shown).toEqual([row("a", "SUCCESS")]);
});

test("a row that left the answer stays as it was", () => {
  expect(merged([row("b"), row("a")], [row("c"), row("b", "FAILED")], null)).toEqual([
    row("b", "FAILED"),
    row("a"),
  ]);
});

test("all are shown where one of the new ones is being watched", () => {
  expect(merged([row("a")], [row("b"), row("a")], "b").map((one) => one.id)).toEqual(["b", "a"]);
  expect(merged([row("a")], [row("b"), row("a")], "a").map((one) => one.id)).toEqual(["a"]);
});
