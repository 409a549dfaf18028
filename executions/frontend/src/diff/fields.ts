/** Finds the differences of two JSON values. Pure. */
import type { Json } from "../document/types";
import type { Pointer } from "../problems/found";

/** A changed value; `before` or `after` is undefined if the value is missing there. */
export interface FieldChange {
  pointer: Pointer;
  before: Json | undefined;
  after: Json | undefined;
}

/** Return each innermost part that differs; the order of keys does not matter. */
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

/** Return the keys or indexes to compare one by one; null to compare the values as a whole. */
function sharedKeys(before?: Json, after?: Json): (string | number)[] | null {
  if (Array.isArray(before) && Array.isArray(after)) {
    return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => at);
  }
  // For an added or removed object, list its parts, because they are easier to read.
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
