import type { Json } from "./types";

/**
 * Return the new value, with each unchanged part replaced by the old object.
 *
 * A document that was read from text then shares its unchanged parts, which are not drawn or
 * checked again. A text with the same meaning gives the identical document.
 */
export function shared<T>(old: unknown, now: T): T {
  return merged(old as Json, now as Json) as T;
}

function merged(old: Json | undefined, now: Json): Json {
  if (old === now || typeof now !== "object" || now === null) return now;
  if (Array.isArray(now)) return Array.isArray(old) ? list(old, now) : now;
  if (typeof old !== "object" || old === null || Array.isArray(old)) return now;
  const keys = Object.keys(now).filter((key) => now[key] !== undefined);
  const parts = keys.map((key): [string, Json] => [key, merged(old[key], now[key] as Json)]);
  const same =
    Object.keys(old).filter((key) => old[key] !== undefined).length === keys.length &&
    parts.every(([key, part]) => part === old[key]);
  return same ? old : Object.fromEntries(parts);
}

/** Match items by id, or by position if they have none. */
function list(old: Json[], now: Json[]): Json {
  const byId = new Map(old.map((item) => [idOf(item), item]));
  const items = now.map((item, at) => {
    const id = idOf(item);
    return merged(id === undefined ? old[at] : byId.get(id), item);
  });
  const same = items.length === old.length && items.every((item, at) => item === old[at]);
  return same ? old : items;
}

const idOf = (item: Json): Json | undefined =>
  typeof item === "object" && item !== null && !Array.isArray(item) ? item.id : undefined;
