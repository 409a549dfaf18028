import { expect, test } from "vitest";
import { check } from "../src/problems/check";
import { lookedAt } from "../src/problems/slices";
import { set, TYPES, workflow } from "./modules";

const MANY = workflow(Array.from({ length: 2000 }, (_, at) => set(`t${at}`, { at })));

test("a large document is looked at in slices, between which others may act", async () => {
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  });
  await lookedAt(MANY, TYPES, new AbortController().signal);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
  expect(check(MANY, TYPES)).toEqual([]);
});

test("looking ends when the document is another by then", async () => {
  const looking = new AbortController();
  const done = lookedAt(workflow(structuredClone(MANY.tasks)), TYPES, looking.signal);
  looking.abort();
  await done;
  expect(looking.signal.aborted).toBe(true);
});
