import { expect, test } from "vitest";
import { ago, span } from "../../src/running/ages";
import { sameWork } from "../../src/running/same";

const definition = {
  schema: "valkyr/1",
  name: "order",
  tasks: [
    { id: "a", use: "data.set", with: { values: { n: 1 } } },
    { id: "b", use: "data.set", with: { values: {} }, after: "a" },
  ],
};

test("places, the order of keys and how edges are written do not count", () => {
  const drawn = {
    name: "order",
    schema: "valkyr/1",
    tasks: [
      { use: "data.set", id: "a", ui: { x: 1, y: 2 }, with: { values: { n: 1 } } },
      { id: "b", use: "data.set", with: { values: {} } },
    ],
    edges: [{ from: "a", to: "b", on: "success" }],
  };
  expect(sameWork(definition, drawn)).toBe(true);
});

test("another value, task or edge is other work", () => {
  const [first, second] = definition.tasks;
  const other = { ...first, with: { values: { n: 2 } } };
  expect(sameWork(definition, { ...definition, tasks: [other, second] })).toBe(false);
  expect(sameWork(definition, { ...definition, tasks: [first] })).toBe(false);
});

test("in a module's inputs, a key named ui and an empty list are values", () => {
  const setting = (values: object) => ({
    ...definition,
    tasks: [
      { id: "a", modules: [{ id: "main", use: "data.set", with: { values }, ui: {} }], ui: {} },
    ],
    triggers: [],
  });
  const same = (one: object, other: object): boolean => sameWork(setting(one), setting(other));
  expect(same({ ui: "old" }, { ui: "new" })).toBe(false);
  expect(same({ edges: [] }, {})).toBe(false);
  expect(same({ list: [], n: 1 }, { n: 1, list: [] })).toBe(true);
  const bare = { id: "main", use: "data.set", with: { values: {} } };
  expect(sameWork(setting({}), { ...definition, tasks: [{ id: "a", modules: [bare] }] })).toBe(
    true,
  );
});

test("ages and spans have a unit", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  expect(ago("2026-01-01T11:59:55Z", now)).toBe("just now");
  expect(ago("2026-01-01T11:57:00Z", now)).toBe("3 min ago");
  expect(ago("2025-12-29T12:00:00Z", now)).toBe("3 days ago");
  expect([span(800), span(12_400), span(184_000), span(7_500_000)]).toEqual([
    "0.8 s",
    "12 s",
    "3 min 4 s",
    "2 h 5 min",
  ]);
});
