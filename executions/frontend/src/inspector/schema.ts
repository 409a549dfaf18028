/** The JSON Schema of definitions, for forms of everything except module inputs. */
import { useEffect } from "react";
import { create } from "zustand";
import { ask } from "../api/client";
import type { Json, JsonObject } from "../document/types";

const useStore = create<{ schema: JsonObject | null; failed: boolean }>()(() => ({
  schema: null,
  failed: false,
}));

let asked = false;

/** Return the schema; null until it is loaded. */
export function useWorkflowSchema(): JsonObject | null {
  const { schema } = useStore();
  useEffect(() => {
    if (asked) return;
    asked = true;
    ask<JsonObject>("v1/schema/workflow")
      .then(({ data }) => useStore.setState({ schema: data }))
      .catch(() => {
        asked = false;
        useStore.setState({ failed: true });
      });
  }, []);
  return schema;
}

/** Return the part of a schema at some keys; an empty object if there is none. */
export function partOf(schema: JsonObject, ...keys: string[]): JsonObject {
  let part: Json = schema;
  for (const key of keys) part = (part as JsonObject)[key] ?? {};
  return part as JsonObject;
}
