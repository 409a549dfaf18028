import { expect, test } from "vitest";
import { aligned, distributed } from "../src/document/aligning";

const boxes = new Map([
  ["a", { x: 0, y: 10, w: 100, h: 50 }],
  ["b", { x: 130, y: 40, w: 200, h: 90 }],
  ["c", { x: 500, y: 0, w: 100, h: 50 }],
]);

test("boxes are put in line with the outermost", () => {
  expect([...aligned(boxes, "left").values()].map(({ x }) => x)).toEqual([0, 0, 0]);
  expect([...aligned(boxes, "right").values()].map(({ x }) => x)).toEqual([500, 400, 500]);
  expect([...aligned(boxes, "bottom").values()].map(({ y }) => y)).toEqual([80, 40, 80]);
});

test("boxes are put in line with the middle of all", () => {
  expect([...aligned(boxes, "middle").values()].map(({ y }) => y)).toEqual([40, 20, 40]);
  expect([...aligned(boxes, "centre").values()].map(({ x }) => x)).toEqual([250, 200, 250]);
});

test("gaps become equal and the outermost two stay", () => {
  expect([...distributed(boxes, "across")]).toEqual([
    ["a", { x: 0, y: 10 }],
    ["b", { x: 200, y: 40 }],
    ["c", { x: 500, y: 0 }],
  ]);
});
