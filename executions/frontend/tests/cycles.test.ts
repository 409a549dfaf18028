import { expect, test } from "vitest";
import { refusalOf, wayBetween } from "../src/document/cycles";
import type { Definition } from "../src/document/types";

const task = (id: string) => ({ id, use: "data.set", with: {} });
const document: Definition = {
  schema: "valkyr/1",
  name: "circles",
  tasks: [
    task("a"),
    task("b"),
    task("c"),
    { id: "loop", use: "flow.loop", body: { tasks: [task("d")], edges: [] } },
  ],
  edges: [
    { from: "a", to: "b" },
    { from: "b", to: "c", on: "error" },
  ],
};

test("a way follows the edges and names both ends", () => {
  expect(wayBetween(document.edges ?? [], "a", "c")).toEqual(["a", "b", "c"]);
  expect(wayBetween(document.edges ?? [], "c", "a")).toBeNull();
});

test("an edge that closes a circle is refused with the circle in order", () => {
  expect(refusalOf(document, "c", "a")).toContain("a → b → c → a");
});

test("an edge to itself, to another body, or one that is there is refused", () => {
  expect(refusalOf(document, "a", "a")).toContain("itself");
  expect(refusalOf(document, "a", "loop.d")).toContain("different bodies");
  expect(refusalOf(document, "a", "b")).toContain("already");
});

test("another outcome, and a short cut, may be drawn", () => {
  expect(refusalOf(document, "a", "b", "error")).toBeNull();
  expect(refusalOf(document, "a", "c")).toBeNull();
});
