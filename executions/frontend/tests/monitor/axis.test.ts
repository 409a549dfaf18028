import { expect, test } from "vitest";
import { offsetText, ticks, zoomed } from "../../src/monitor/axis";
import { rangeOf, viewOf } from "../../src/monitor/timeline/viewing";
import { spoken, took } from "../../src/monitor/times";
import { known, run, T0 } from "./made";

test("ticks stand about ninety pixels apart, whatever the span", () => {
  for (const span of [5, 80, 1000, 61_000, 3_600_000, 90 * 86_400_000]) {
    const found = ticks({ from: 1000, to: 1000 + span }, 0, 900);
    expect(found.length, `${span} ms`).toBeGreaterThanOrEqual(4);
    expect(found.length, `${span} ms`).toBeLessThanOrEqual(12);
    expect(new Set(found.map(({ label }) => label)).size).toBe(found.length);
  }
});

test("offsets are told in their unit", () => {
  const told = [
    offsetText(0),
    offsetText(1500, 500),
    offsetText(65_000, 5000),
    offsetText(3_725_000, 60_000),
    offsetText(-2000, 1000),
  ];
  expect(told).toEqual(["+0 ms", "+1.5 s", "+1:05", "+1 h 02 min", "−2 s"]);
});

test("zooming keeps the point under the pointer where it is", () => {
  expect(zoomed({ from: 0, to: 100 }, 2, 0.25)).toEqual({ from: 12.5, to: 62.5 });
});

test("lengths are read aloud with their unit", () => {
  expect(took(1100)).toBe("1.10\u00a0s");
  expect([spoken(1100), spoken(340), spoken(200_000), spoken(61_000)]).toEqual([
    "1.10 seconds",
    "340 milliseconds",
    "3 minutes 20 seconds",
    "1 minute 1 second",
  ]);
});

test("all of the time reaches to what ended after the execution did", () => {
  const { execution } = known("SUCCESS");
  const late = run("a.main", { finishedAt: 50 });
  const { from, to } = rangeOf(execution, [late], T0 + 20_000);
  expect(from).toBe(T0);
  expect(to).toBeGreaterThan(T0 + 50_000);
});

test("now is followed near the right end, and a free view stays", () => {
  const view = { from: 0, to: 100 };
  expect(viewOf("follow", view, view, 1000)).toEqual({ from: 905, to: 1005 });
  expect(viewOf("free", view, { from: 5, to: 6 }, 1000)).toBe(view);
});
