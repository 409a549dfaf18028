import { describe, expect, test } from "vitest";
import { Refused } from "../../src/api/client";
import { readPayload } from "../../src/running/payload";
import { draftFor, loaded, refusalOf } from "../../src/running/pinDraft";
import { keptText, readKept } from "../../src/running/pins";
import type { TaskResult } from "../../src/running/results";
import { sampleOf } from "../../src/running/sample";

describe("a payload from a schema", () => {
  test("has what is required, and what has a default", () => {
    const schema = {
      type: "object",
      required: ["orderId", "lines"],
      properties: {
        orderId: { type: "integer", minimum: 1 },
        lines: { type: "array", minItems: 1, items: { type: "object" } },
        priority: { type: "string", default: "low" },
        note: { type: "string" },
      },
    };
    expect(sampleOf(schema)).toEqual({ orderId: 1, lines: [{}], priority: "low" });
  });

  test("takes examples and the first of an enumeration", () => {
    const schema = {
      required: ["size", "id"],
      properties: { size: { enum: ["S", "M"] }, id: { type: "string", examples: ["A-17"] } },
    };
    expect(sampleOf(schema)).toEqual({ size: "S", id: "A-17" });
  });

  test("is empty without a schema", () => {
    expect(sampleOf(undefined)).toEqual({});
  });

  test("ends somewhere in a schema that goes very deep", () => {
    const nest = (depth: number): { [key: string]: never } =>
      ({
        type: "object",
        required: ["in"],
        properties: depth > 0 ? { in: nest(depth - 1) } : {},
      }) as never;
    expect(JSON.stringify(sampleOf(nest(50))).length).toBeLessThan(100);
  });
});

describe("a payload as text", () => {
  test("is read, and an empty one is an empty object", () => {
    expect(readPayload('{"a": [1]}')).toEqual({ value: { a: [1] } });
    expect(readPayload("  ")).toEqual({ value: {} });
  });

  test("is refused with a reason", () => {
    expect(readPayload("{a: 1}")).toHaveProperty("mistake");
  });
});

describe("kept pins", () => {
  test("come back as they were", () => {
    const pins = new Map([["a", { output: { n: "{{ x }}" }, outcome: "true" }]]);
    expect(readKept(keptText(pins))).toEqual(pins);
  });

  test("of another form are none", () => {
    for (const text of [null, "", "[]", "no", '{"a": 1}', '{"a": {"outcome": "x"}}']) {
      expect(readKept(text).size).toBe(0);
    }
    expect(readKept('{"a": {"output": 1, "outcome": 2}}').size).toBe(0);
  });
});

describe("the output in a pin's dialog", () => {
  const cut = { output: { $truncated: "It is long." }, trouble: "" };

  test("becomes the full output, unless the user entered another one", async () => {
    const change = await loaded(Promise.resolve({ rows: [1] }));
    expect(change(cut)).toEqual({ output: { rows: [1] }, trouble: "" });
    expect(change({ output: 7, trouble: "" })).toEqual({ output: 7, trouble: "" });
    expect(refusalOf(cut)).toBe("Loading the full output…");
    expect(refusalOf(change(cut))).toBeUndefined();
  });

  test("stays and cannot be pinned when loading fails, until the user enters another one", async () => {
    const change = await loaded(Promise.reject(new Refused(503, "The server is busy.")));
    const failed = change(cut);
    expect(failed.output).toEqual(cut.output);
    expect(refusalOf(failed)).toBe(
      "The full output could not be loaded: The server is busy. Close this dialog and try again, or enter the output.",
    );
    expect(refusalOf({ ...failed, output: { mine: 1 } })).toBeUndefined();
  });

  test("is the pinned one, also if it is null", () => {
    const result = { outputs: { n: 1 } } as unknown as TaskResult;
    expect(draftFor({ output: null }, result).output).toBeNull();
    expect(draftFor(undefined, result).output).toEqual({ n: 1 });
    expect(draftFor(undefined, undefined).output).toEqual({});
  });
});
