import type { Json, JsonObject } from "../document/types";
import { type Pointer, withValue } from "../forms/pointer";
import { SchemaForm } from "../forms/SchemaForm";
import { readPayload, written } from "./payload";
import { setPayload } from "./wish";

/** Whether the workflow's input schema declares fields. */
export const hasFields = (schema: JsonObject | undefined): boolean =>
  typeof schema?.properties === "object" &&
  schema.properties !== null &&
  Object.keys(schema.properties).length > 0;

/** The payload's text as a form; keys that the schema does not name stay in the text. */
export function PayloadForm({ schema, text }: { schema: JsonObject; text: string }) {
  const read = readPayload(text);
  const value = "value" in read ? read.value : {};
  const change = (pointer: Pointer, next: Json | undefined): void =>
    setPayload(written(withValue(value, pointer, next) ?? {}));
  return <SchemaForm schema={schema} value={value} onChange={change} />;
}
