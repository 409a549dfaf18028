import type { Json, JsonObject } from "../document/types";

/** Why a value is not there, where the server left it out for its size; "" where it is there. */
export function cutReason(value: Json | undefined): string {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "";
  const why = (value as JsonObject).$truncated;
  return typeof why === "string" ? why : "";
}
