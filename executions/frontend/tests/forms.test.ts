import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../src/document/types";
import { problemsAt } from "../src/forms/frame";
import { readJson } from "../src/forms/jsonText";
import { fits, propertiesOf, shapeOf } from "../src/forms/kinds";
import { firstSentence, labelOf } from "../src/forms/labels";
import { converted, modeFor } from "../src/forms/modes";
import { valueAt, withValue } from "../src/forms/pointer";

const kindsOf = (schema: JsonObject, root: JsonObject = {}): string[] =>
  shapeOf(schema, root).kinds.map((kind) => kind.is);

describe("the kinds of field for a schema", () => {
  it("leaves null out and says that it is allowed", () => {
    const shape = shapeOf({ anyOf: [{ type: "integer" }, { type: "null" }] }, {});
    expect(shape).toMatchObject({ kinds: [{ is: "number", whole: true }], nullable: true });
  });

  it("counts whole and other numbers as one", () => {
    const scalar = { anyOf: [{ type: "string" }, { type: "integer" }, { type: "number" }] };
    expect(kindsOf(scalar)).toEqual(["text", "number"]);
  });

  it("follows references, also within alternatives", () => {
    const root = { $defs: { Part: { type: "object", properties: { name: { type: "string" } } } } };
    const schema: JsonObject = { anyOf: [{ $ref: "#/$defs/Part" }, { type: "null" }] };
    expect(kindsOf(schema, root)).toEqual(["object"]);
  });

  it("takes anything where the schema does not say", () => {
    expect(kindsOf({})).toEqual(["text", "number", "yesno", "map", "list"]);
  });

  it("reads lists of types, choices, constants and patterned keys", () => {
    expect(kindsOf({ type: ["number", "array"] })).toEqual(["number", "list"]);
    expect(kindsOf({ type: "string", enum: ["a", "b"] })).toEqual(["choice"]);
    expect(kindsOf({ const: "CRON" })).toEqual(["choice"]);
    const patterned = { type: "object", patternProperties: { "^x": { type: "boolean" } } };
    expect(shapeOf(patterned, {}).kinds).toEqual([{ is: "map", values: { type: "boolean" } }]);
  });

  it("puts what is required first", () => {
    const schema = {
      required: ["b"],
      properties: { a: { type: "string" }, b: { type: "string" } },
    };
    expect(propertiesOf(schema, schema).map((one) => one.key)).toEqual(["b", "a"]);
  });

  it("ends where a schema refers to itself", () => {
    const root = { $defs: { Self: { $ref: "#/$defs/Other" }, Other: { type: "string" } } };
    expect(kindsOf({ $ref: "#/$defs/Self" }, root)).toEqual(["text"]);
  });
});

describe("how a value is shown", () => {
  const number = shapeOf({ type: "integer" }, {}).kinds;

  it("is an expression where a text stands for another value", () => {
    expect(modeFor(number, "{{ input.n }}", null)).toBe("expression");
    expect(modeFor(number, 5, null)).toMatchObject({ is: "number" });
  });

  it("stays as it was asked for while there is no value", () => {
    expect(modeFor(number, undefined, "expression")).toBe("expression");
    expect(modeFor(number, 5, "expression")).toMatchObject({ is: "number" });
  });

  it("is JSON where nothing else can show the value", () => {
    expect(modeFor(number, { a: 1 }, null)).toBe("json");
  });

  it("begins as the example would be shown", () => {
    expect(modeFor(shapeOf({}, {}).kinds, undefined, null, { a: 1 })).toMatchObject({ is: "map" });
  });

  it("carries a value over to another way where it can", () => {
    expect(converted(5, "expression")).toBe("{{ 5 }}");
    expect(converted("5", { is: "number", whole: false })).toBe(5);
    expect(converted("five", { is: "number", whole: false })).toBeUndefined();
    expect(converted(5, { is: "text" })).toBe("5");
    expect(converted("a", { is: "list", items: {} })).toEqual([]);
  });
});

describe("values by pointers", () => {
  it("changes one place and shares the rest", () => {
    const root: Json = { a: [1, { b: 2 }], c: { d: 3 } };
    const changed = withValue(root, ["a", 1, "b"], 9) as JsonObject;
    expect(changed).toEqual({ a: [1, { b: 9 }], c: { d: 3 } });
    expect(changed.c).toBe(root.c);
  });

  it("takes keys and items out, and makes what is missing", () => {
    expect(withValue({ a: [1, 2, 3] }, ["a", 1], undefined)).toEqual({ a: [1, 3] });
    expect(withValue({ a: 1 }, ["a"], undefined)).toEqual({});
    expect(withValue(undefined, ["x", "y"], 1)).toEqual({ x: { y: 1 } });
    expect(valueAt({ a: [{ b: 1 }] }, ["a", 0, "b"])).toBe(1);
    expect(valueAt({ a: 1 }, ["a", "b"])).toBeUndefined();
  });
});

describe("JSON as people type it", () => {
  it.each([
    ['{\n  "a": 1,\n}', 3, 1, "key in double quotes"],
    ["{a: 1}", 1, 2, "key in double quotes"],
    ['{"a" 1}', 1, 6, '":"'],
    ["[1 2]", 1, 4, '","'],
    ["[1, 2", 1, 6, '"]"'],
    ['{"a": tru}', 1, 7, "value"],
    ['"open', 1, 1, "not closed"],
    ["1 2", 1, 3, "unexpected content"],
    ["", 1, 1, "found the end"],
  ])("tells line, column and reason of %j", (text, line, column, message) => {
    const read = readJson(text);
    expect(read).toMatchObject({ ok: false, line, column });
    expect(read.ok ? "" : read.message).toContain(message);
  });

  it("reads what is right", () => {
    expect(readJson(' {"a": [1, "ü", null]} ')).toEqual({ ok: true, value: { a: [1, "ü", null] } });
  });
});

describe("labels", () => {
  it("are the keys in words", () => {
    expect(labelOf("timeoutSeconds")).toBe("Timeout seconds");
    expect(labelOf("baseUrl")).toBe("Base URL");
    expect(labelOf("bodyBase64")).toBe("Body base64");
    expect(labelOf("page_size")).toBe("Page size");
    expect(labelOf("json")).toBe("JSON");
  });

  it("take the first sentence of a text", () => {
    expect(firstSentence("One (e.g. this). Two.")).toBe("One (e.g. this).");
    expect(firstSentence("no end")).toBe("no end");
    expect(firstSentence("Is it one? Yes.")).toBe("Is it one?");
    expect(firstSentence("A title\n\nMore. And more.")).toBe("A title");
    expect(firstSentence("One sentence\nin two lines. Two.")).toBe("One sentence\nin two lines.");
  });
});

it("an empty choice fits nothing", () => {
  expect(fits({ is: "choice", options: [] }, "a")).toBe(false);
});

it("problems of parts without a field are said where the whole is shown", () => {
  const problems = new Map([
    ["with/a", ["wrong"]],
    ["with/a/b", ["missing"]],
    ["with/ab", ["other"]],
  ]);
  expect(problemsAt(problems, ["with", "a"], false)).toEqual(["wrong"]);
  expect(problemsAt(problems, ["with", "a"], true)).toEqual(["wrong", "b: missing"]);
});
