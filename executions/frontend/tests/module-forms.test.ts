import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../src/document/types";
import { fits, kindFor, propertiesOf, shapeOf } from "../src/forms/kinds";
import { modeFor } from "../src/forms/modes";
import { type Pointer, withValue } from "../src/forms/pointer";
import { SchemaForm } from "../src/forms/SchemaForm";
import written from "./module-forms.jsonl?raw";

interface KnownModule {
  type: string;
  example: JsonObject;
  inputsSchema: JsonObject;
}

// Written by tests/contract/test_studio_modules.py.
const MODULES: KnownModule[] = written
  .trim()
  .split("\n")
  .map((line: string) => JSON.parse(line));

function rendered({ inputsSchema }: KnownModule, value: JsonObject): string {
  const onChange = (): void => {
    throw new Error("a form that is only shown changed its value");
  };
  return renderToString(createElement(SchemaForm, { schema: inputsSchema, value, onChange }));
}

/** Return every value without parts, with its pointer. */
function leaves(value: Json, at: Pointer = []): [Pointer, Json][] {
  if (value === null || typeof value !== "object") return [[at, value]];
  const parts: [string | number, Json][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : Object.entries(value);
  return parts.flatMap(([step, part]) => leaves(part, [...at, step]));
}

describe.each(MODULES.map((one) => [one.type, one] as const))("the form of %s", (_, module) => {
  const { example, inputsSchema } = module;

  it("has a field for every parameter, empty and filled", () => {
    for (const value of [{}, example]) {
      const html = rendered(module, value);
      for (const { key } of propertiesOf(inputsSchema, inputsSchema)) {
        expect(html).toContain(`data-field="${key}"`);
      }
    }
  });

  it("shows each value of its example as a field or a template, never as bare JSON", () => {
    for (const { key, schema } of propertiesOf(inputsSchema, inputsSchema)) {
      const value = example[key];
      if (value === undefined) continue;
      const { kinds } = shapeOf(schema, inputsSchema);
      expect(modeFor(kinds, value, null), key).not.toBe("json");
    }
  });

  it("gives back its example when each single value is written anew", () => {
    for (const [pointer, value] of leaves(example)) {
      const other = withValue(example, pointer, "other");
      expect(withValue(other, pointer, value)).toEqual(example);
    }
  });

  it("takes the defaults its schema names", () => {
    for (const { schema } of propertiesOf(inputsSchema, inputsSchema)) {
      const given = schema.default;
      if (given === undefined || given === null) continue;
      const { kinds } = shapeOf(schema, inputsSchema);
      const kind = kindFor(kinds, given);
      expect(kind && fits(kind, given)).toBe(true);
    }
  });
});
