import type { Json, JsonObject } from "../document/types";

/** Return the reason why the server left out a large value; "" if the value is present. */
export function cutReason(value: Json | undefined): string {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "";
  const why = (value as JsonObject).$truncated;
  return typeof why === "string" ? why : "";
}
