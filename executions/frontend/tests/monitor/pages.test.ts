import { expect, test } from "vitest";
import { decisionOf, type Pages } from "../../src/monitor/pages";
import { run } from "./made";

const pages = {
  test: false,
  deadLetters: (id: string) => `/dead/${id}`,
  approval: (id: string) => `/approval/${id}`,
} as Pages;
const addressFor = (state: string, waitsFor = "", test = false): string | undefined =>
  decisionOf(run("a.main", { state, waitsFor }), { ...pages, test })?.href;

test("a run links to its dead letter or its approval", () => {
  expect(addressFor("DLQ")).toBe("/dead/a.main#1");
  expect(addressFor("WAITING", "approval")).toBe("/approval/a.main#1");
  expect(addressFor("WAITING", "event")).toBeUndefined();
});

test("a dead run of a test run has no dead letter", () => {
  expect(addressFor("DLQ", "", true)).toBeUndefined();
});
