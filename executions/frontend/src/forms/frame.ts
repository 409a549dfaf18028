/** What all fields of a form share. */
import { createContext, useContext } from "react";
import type { Json, JsonObject } from "../document/types";
import type { Name } from "../expressions/names";
import { keyOf, type Pointer } from "./pointer";

export interface Frame {
  /** The schema that references of this form are looked up in. */
  root: JsonObject;
  /** Where the form's values stand below the task, or the workflow: `["with"]`. */
  base: Pointer;
  /** Why nothing can be changed; undefined where it can. */
  refusal: string | undefined;
  /** Sentences by the key of the pointer below the task. */
  problems: ReadonlyMap<string, readonly string[]>;
  /** Put another value in place; undefined takes it out. The pointer is below the base. */
  change: (pointer: Pointer, value: Json | undefined) => void;
  /** What templates of this form may name; null where it holds no templates. */
  names: (() => readonly Name[]) | null;
  /** Templates stand in texts alone: no other value may be an expression. */
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

/** The sentences said of a place; with `below`, those of every part of it that has no field. */
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
