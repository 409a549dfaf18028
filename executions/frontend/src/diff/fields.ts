/** Where two values differ. Pure. */
import type { Json } from "../document/types";
import type { Pointer } from "../problems/found";

/** One value that is another now; undefined where there is none. */
export interface FieldChange {
  pointer: Pointer;
  before: Json | undefined;
  after: Json | undefined;
}

/** Each innermost place at which the values differ; the order of keys means nothing. */
export function fieldChanges(
  before: Json | undefined,
  after: Json | undefined,
  pointer: Pointer,
): FieldChange[] {
  if (before === after) return [];
  const keys = sharedKeys(before, after);
  if (keys === null) return sameJson(before, after) ? [] : [{ pointer, before, after }];
  return keys.flatMap((key) =>
    fieldChanges(part(before, key), part(after, key), [...pointer, key]),
  );
}

/** The keys (or indexes) to go on with; null where the values are to be compared whole. */
function sharedKeys(before?: Json, after?: Json): (string | number)[] | null {
  if (Array.isArray(before) && Array.isArray(after)) {
    return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => at);
  }
  // What came or went as a whole is told by its parts, which are easier to read.
  const [old, now] = [before ?? {}, after ?? {}];
  if (!isMap(old) || !isMap(now)) return null;
  if (isEmpty(old) && isEmpty(now)) return null;
  return [...new Set([...Object.keys(old), ...Object.keys(now)])];
}

const isMap = (value?: Json): value is { [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

const part = (value: Json | undefined, key: string | number): Json | undefined =>
  (value as { [key: string | number]: Json } | undefined)?.[key];

const sameJson = (one?: Json, other?: Json): boolean =>
  one !== undefined && other !== undefined && JSON.stringify(one) === JSON.stringify(other);
