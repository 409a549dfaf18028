// The studio and the monitor each hold a table of states until they are one page: they must agree.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const at = (path) => readFileSync(new URL(`../../../executions/${path}`, import.meta.url), "utf8");
const studio = at("frontend/src/live/states.ts");
const monitor = at("static/executions/monitor/states.js");

function table(text, name) {
  const found = text.match(new RegExp(`const ${name}\\b[^=]*=\\s*({[^}]*}|new Set\\([^)]*\\))`));
  assert.ok(found, `no table ${name}`);
  return found[1].replace(/\s+/g, " ");
}

test("the studio and the monitor have the same words, icons and colours of states", () => {
  for (const name of ["MARKS", "ASLEEP", "WORKING", "WRONG"]) {
    assert.equal(table(studio, name), table(monitor, name), name);
  }
  assert.equal(table(studio, "ALIVE"), table(monitor, "LIVE"));
  assert.equal(table(studio, "FINAL"), table(monitor, "FINISHED"));
});
