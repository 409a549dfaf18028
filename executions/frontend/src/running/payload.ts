/** Reads and writes payloads as text. Pure. */
import type { Json } from "../document/types";
import { t } from "../words/t";

export type ReadPayload = { value: Json } | { mistake: string };

/** Parse the text; an empty text is an empty payload. */
export function readPayload(text: string): ReadPayload {
  if (text.trim() === "") return { value: {} };
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return {
      mistake: t("running.thisIsNoJson", { reason: error instanceof Error ? error.message : "?" }),
    };
  }
}

export const written = (value: Json): string => JSON.stringify(value, null, 2);
