/** The context that all fields of a form share. */
import { createContext, useContext } from "react";
import type { Json, JsonObject } from "../document/types";
import type { Name } from "../expressions/names";
import { keyOf, type Pointer } from "./pointer";

export interface Frame {
  /** The schema that contains the `$defs` of references. */
  root: JsonObject;
  /** The pointer from the task or workflow to the form's values, such as `["with"]`. */
  base: Pointer;
  /** The reason why the form is read-only; undefined if it can be edited. */
  refusal: string | undefined;
  /** Problems, by the key of their pointer from the task. */
  problems: ReadonlyMap<string, readonly string[]>;
  /** Set the value at a pointer from the base; undefined removes it. */
  change: (pointer: Pointer, value: Json | undefined) => void;
  /** The names that templates can use; null if the form cannot contain templates. */
  names: (() => readonly Name[]) | null;
  /** Whether only text fields accept templates, so that no other value can be an expression. */
  textOnly?: boolean;
}

export const FrameContext = createContext<Frame>({
  root: {},
  base: [],
  refusal: undefined,
  problems: new Map(),
  change: () => undefined,
  names: null,
});

export const useFrame = (): Frame => useContext(FrameContext);

/** Return the problems of a field; with `below`, include its parts, which have no fields. */
export function problemsAt(
  problems: Frame["problems"],
  pointer: Pointer,
  below: boolean,
): readonly string[] {
  const place = keyOf(pointer);
  const own = problems.get(place) ?? NONE;
  if (!below) return own;
  const parts = [...problems].filter(([key]) => key.startsWith(`${place}/`));
  const said = parts.flatMap(([key, all]) =>
    all.map((sentence) => `${key.slice(place.length + 1)}: ${sentence}`),
  );
  return [...own, ...said];
}

const NONE: readonly string[] = [];
