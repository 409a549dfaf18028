import type { Json } from "../document/types";

/** Keys and indexes from the root of a value to a part of it. */
export type Pointer = readonly (string | number)[];

/** Convert a pointer to a string, for comparisons. */
export const keyOf = (pointer: Pointer): string => pointer.join("/");

/** Return the part of a value at a pointer; undefined if there is none. */
export function valueAt(root: Json | undefined, pointer: Pointer): Json | undefined {
  let value = root;
  for (const step of pointer) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as { [key: string | number]: Json })[step];
  }
  return value;
}

/**
 * Return a copy with another part at the pointer. `undefined` removes the key or the item. Missing
 * parents are created.
 */
export function withValue(
  root: Json | undefined,
  pointer: Pointer,
  value: Json | undefined,
): Json | undefined {
  const [step, ...rest] = pointer;
  if (step === undefined) return value;
  if (typeof step === "number") return withItem(Array.isArray(root) ? root : [], step, rest, value);
  const object = root !== null && typeof root === "object" && !Array.isArray(root) ? root : {};
  const part = withValue(object[step], rest, value);
  if (part !== undefined) return { ...object, [step]: part };
  const { [step]: _, ...others } = object;
  return others;
}

function withItem(list: Json[], at: number, rest: Pointer, value: Json | undefined): Json[] {
  const part = withValue(list[at], rest, value);
  if (part === undefined) return list.filter((_, index) => index !== at);
  return at >= list.length ? [...list, part] : list.map((item, i) => (i === at ? part : item));
}
