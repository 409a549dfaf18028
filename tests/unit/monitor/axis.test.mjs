// The time axis and the graph's camera.
import assert from "node:assert/strict";
import test from "node:test";

import { offsetText, ticks, zoomed } from "../../../executions/static/executions/monitor/axis.js";
import { Camera } from "../../../executions/static/executions/monitor/camera.js";
import { spoken, took } from "../../../executions/static/executions/monitor/times.js";

test("ticks stand about ninety pixels apart, whatever the span", () => {
  for (const span of [5, 80, 1000, 61_000, 3_600_000, 90 * 86_400_000]) {
    const found = ticks({ from: 1000, to: 1000 + span }, 0, 900);
    assert.ok(found.length >= 4 && found.length <= 12, `${span} ms: ${found.length} ticks`);
    assert.ok(new Set(found.map(({ label }) => label)).size === found.length, `${span} ms: ${found.map(({ label }) => label)}`);
  }
});

test("offsets are told in their unit", () => {
  assert.deepEqual([offsetText(0), offsetText(1500, 500), offsetText(65_000, 5000), offsetText(3_725_000, 60000), offsetText(-2000, 1000)], ["+0 ms", "+1.5 s", "+1:05", "+1 h 02 min", "−2 s"]);
});

test("zooming keeps the point under the pointer where it is", () => {
  const view = zoomed({ from: 0, to: 100 }, 2, 0.25);

  assert.deepEqual(view, { from: 12.5, to: 62.5 });
});

test("lengths are read aloud with their unit", () => {
  assert.equal(took(1100), "1.10\u00a0s");
  assert.deepEqual([spoken(1100), spoken(340), spoken(200_000)], ["1.10 seconds", "340 milliseconds", "3 minutes 20 seconds"]);
});

test("a graph that fits is shown in the middle, in its own size at most", () => {
  const camera = Object.assign(new Camera(), { width: 1000, height: 500 });

  camera.fit({ w: 100, h: 50 });

  assert.deepEqual([camera.scale, camera.x, camera.y], [1, 450, 225]);
});

test("the camera zooms around the pointer", () => {
  const camera = Object.assign(new Camera(), { width: 1000, height: 500, x: 30, y: 40 });
  const before = camera.point(200, 100);

  camera.zoom(1.7, 200, 100);

  const after = camera.point(200, 100);
  assert.ok(Math.abs(before[0] - after[0]) < 1e-9 && Math.abs(before[1] - after[1]) < 1e-9);
});
