import { expect, test } from "vitest";
import { begin, redone, SOON, STEPS, stepped, undone } from "../src/store/history";

test("a step is taken back, and taken again", () => {
  const two = stepped(stepped(begin("a"), "b", 0), "c", 1);

  expect(undone(two).present).toBe("b");
  expect(undone(undone(two)).present).toBe("a");
  expect(redone(undone(two))).toMatchObject({ present: "c", past: ["a", "b"], future: [] });
});

test("before the first and after the last step nothing changes", () => {
  const one = begin("a");

  expect(undone(one)).toBe(one);
  expect(redone(one)).toBe(one);
});

test("the same present is no step", () => {
  const one = begin("a");

  expect(stepped(one, "a", 0)).toBe(one);
});

test("a new step forgets what was taken back", () => {
  const back = undone(stepped(begin("a"), "b", 0));

  expect(stepped(back, "c", 1)).toMatchObject({ past: ["a"], present: "c", future: [] });
});

test("typing in one field is one step until there was a pause", () => {
  const first = stepped(begin("a"), "ab", 0, "name");
  const second = stepped(first, "abc", SOON - 1, "name");
  const third = stepped(second, "abcd", 2 * SOON, "name");

  expect(second.past).toEqual(["a"]);
  expect(third.past).toEqual(["a", "abc"]);
});

test("typing in another field is a step of its own, and so is typing after undo", () => {
  const first = stepped(begin("a"), "ab", 0, "name");
  const other = stepped(first, "abc", 1, "id");
  const again = stepped(undone(other), "abx", 2, "name");

  expect(other.past).toEqual(["a", "ab"]);
  expect(again.past).toEqual(["a", "ab"]);
});

test("the oldest steps go when there are too many", () => {
  let history = begin(0);
  for (let step = 1; step <= STEPS + 5; step += 1) history = stepped(history, step, step);

  expect(history.past).toHaveLength(STEPS);
  expect(history.past[0]).toBe(5);
});
