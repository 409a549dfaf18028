import { expect, test } from "vitest";
import { BINDINGS, bindingOf, chordOf } from "../src/keys/bindings";

const press = (key: string, more: Partial<KeyboardEvent> = {}) =>
  chordOf({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });

test("what is pressed is written as in the list of keys", () => {
  expect(press("z", { ctrlKey: true })).toBe("Ctrl+Z");
  expect(press("Z", { metaKey: true, shiftKey: true })).toBe("Ctrl+Shift+Z");
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("Delete")).toBe("Delete");
});

test("a key with Alt belongs to the browser or the keyboard's layout", () => {
  expect(bindingOf(press("c", { altKey: true }))).toBeUndefined();
});

test("no two bindings share a key", () => {
  const keys = BINDINGS.flatMap((binding) => binding.keys);
  expect(new Set(keys).size).toBe(keys.length);
});

test("keys that the browser minds are listed and left to it", () => {
  expect(BINDINGS.some((binding) => binding.keys.includes("Ctrl+C"))).toBe(true);
  expect(bindingOf("Ctrl+C")).toBeUndefined();
});
