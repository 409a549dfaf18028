/** The ways to show a value, and the conversion of the value between them. */
import type { Json } from "../document/types";
import { emptyOf, fits, type Kind, kindFor } from "./kinds";

/** As a kind of field, as one expression, or as raw JSON. */
export type Mode = Kind | "expression" | "json";

/** Whether values of a kind contain other values. */
export const structured = (kind: Kind): boolean => ["list", "map", "object"].includes(kind.is);

/**
 * Return the mode of a value: the wanted mode if the value allows it, else a suitable mode. Without
 * a value, the example decides.
 */
export function modeFor(
  kinds: readonly Kind[],
  value: Json | undefined,
  wanted: Mode | null,
  example?: Json,
): Mode {
  const nothing = value === undefined || value === null;
  if (wanted === "json" && (nothing || typeof value === "object")) return "json";
  if (wanted === "expression" && (nothing || typeof value === "string")) return "expression";
  if (typeof wanted === "object" && wanted !== null && (nothing || fits(wanted, value))) {
    return wanted;
  }
  const fitting = (nothing && kindFor(kinds, example)) || kindFor(kinds, value);
  return fitting ?? (typeof value === "string" ? "expression" : "json");
}

/** Convert a value for another mode; undefined if the mode starts without a value. */
export function converted(value: Json | undefined, mode: Mode): Json | undefined {
  if (mode === "json") return value;
  if (value === undefined || value === null) {
    return mode === "expression" ? undefined : emptyOf(mode);
  }
  if (mode === "expression") {
    return typeof value === "object" ? undefined : `{{ ${JSON.stringify(value)} }}`;
  }
  if (fits(mode, value)) return value;
  if (mode.is === "text" && typeof value !== "object") return String(value);
  if (mode.is === "number" && typeof value === "string" && value.trim() !== "") {
    const number = Number(value);
    return Number.isFinite(number) ? number : undefined;
  }
  return emptyOf(mode);
}
