/** The list of workflows, page after page. */
import { useEffect, useRef, useState } from "react";
import { Refused } from "../api/client";
import type { WorkflowSummary } from "../api/shapes";
import { listWorkflows } from "../api/workflows";
import { queryOf } from "../transfer/creating";

const PAGE = 50;
/** Milliseconds without a key before the server is asked. */
const PAUSE = 300;

export interface Listed {
  rows: WorkflowSummary[] | null;
  /** Whether there are none at all, whatever their names; null while nobody knows. */
  none: boolean | null;
  /** Why there are none; "" where nothing went wrong. */
  trouble: string;
  /** Fetch the next page; null where this is the end. */
  more: (() => void) | null;
  again: () => void;
}

/** Those whose names begin with `name`, newest first. */
export function useWorkflows(name: string): Listed {
  const [rows, setRows] = useState<WorkflowSummary[] | null>(null);
  const [none, setNone] = useState<boolean | null>(null);
  const [next, setNext] = useState<{ name: string; cursor: string } | null>(null);
  const [trouble, setTrouble] = useState("");
  const [turn, setTurn] = useState(0);
  const asked = useRef("");
  const load = async (from: string | null): Promise<void> => {
    const query = queryOf({ limit: PAGE, name, cursor: from ?? undefined });
    if (from !== null && asked.current === query) return; // a second click on "Show more"
    asked.current = query;
    try {
      const { data, headers } = await listWorkflows(query);
      // An answer to what was typed before may come last.
      if (asked.current !== query) return;
      setRows((old) => (from === null ? data : [...(old ?? []), ...data]));
      if (name === "" && from === null) setNone(data.length === 0);
      const cursor = nextCursor(headers.get("Link"));
      setNext(cursor === null ? null : { name, cursor });
      setTrouble("");
    } catch (error) {
      if (asked.current === query)
        setTrouble(error instanceof Refused ? error.detail : String(error));
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn more is a try more
  useEffect(() => {
    const timer = setTimeout(() => void load(null), name ? PAUSE : 0);
    return () => clearTimeout(timer);
  }, [name, turn]);
  return {
    rows,
    none,
    trouble,
    // The list on screen may be of what was typed before: it has no more of what is asked for now.
    more: next?.name === name ? () => void load(next.cursor) : null,
    again: () => setTurn((old) => old + 1),
  };
}

/** The cursor of the next page in a `Link` header; null at the end. */
export function nextCursor(link: string | null): string | null {
  const address = /<([^>]+)>;\s*rel="next"/.exec(link ?? "")?.[1];
  return address ? new URL(address, "http://any").searchParams.get("cursor") : null;
}
