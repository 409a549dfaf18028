import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Definition } from "../src/document/types";
import { asPlainYaml, asYaml } from "../src/yaml/writing";
import { set, workflow } from "./modules";

const PLACED: Definition = {
  ...workflow([{ ...set("a", { on: "true", text: "two\nlines" }), ui: { x: 1, y: 2 } }]),
  edges: [{ from: "a", to: "a", on: "true" }],
};

test("places and edges stand on one line each, and nothing is lost", () => {
  const text = asYaml(PLACED);
  expect(text).toContain("ui: {x: 1, y: 2}");
  expect(text).toContain('- {from: a, to: a, on: "true"}');
  expect(parse(text)).toEqual(PLACED);
});

test("for comparing, places are left out", () => {
  expect(asPlainYaml(PLACED)).not.toContain("ui:");
  expect(parse(asPlainYaml(PLACED)).tasks[0].with.values.text).toBe("two\nlines");
});

test("keys stand in the order in which people write them", () => {
  const jumbled = { tasks: [{ ui: {}, use: "u", id: "a" }], name: "n", schema: "valkyr/1" };
  expect(asYaml(jumbled as Definition)).toBe(
    "schema: valkyr/1\nname: n\ntasks:\n  - id: a\n    use: u\n    ui: {}\n",
  );
});
