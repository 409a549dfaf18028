import { expect, test } from "vitest";
import { ancestry, cycles, ordered, type Pair } from "../src/problems/order";

const DIAMOND: Pair[] = [
  [0, 1],
  [0, 2],
  [1, 3],
  [2, 3],
];

test("an order keeps every pair", () => {
  expect(ordered(4, DIAMOND)).toEqual([0, 1, 2, 3]);
});

test("ancestors are all that come before, at any distance", () => {
  const before = ancestry(4, DIAMOND, ordered(4, DIAMOND));
  expect([0, 1, 2, 3].map((other) => before(3, other))).toEqual([true, true, true, false]);
  expect(before(1, 2)).toBe(false);
});

test("ancestors are known past the 32nd task", () => {
  const chain = Array.from({ length: 99 }, (_, at): Pair => [at, at + 1]);
  const before = ancestry(100, chain, ordered(100, chain));
  expect(before(99, 0)).toBe(true);
  expect(before(40, 31)).toBe(true);
  expect(before(31, 40)).toBe(false);
});

test("each knot gives its shortest cycle, from its lowest index", () => {
  const pairs: Pair[] = [
    [0, 1],
    [1, 2],
    [2, 0],
    [1, 0],
    [2, 3],
    [4, 4],
  ];
  expect(cycles(5, pairs, new Set([0, 1, 2, 3, 4]))).toEqual([[0, 1], [4]]);
});
