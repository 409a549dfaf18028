/** Loads the list of workflows page by page. */
import { useEffect, useRef, useState } from "react";
import { Refused } from "../api/client";
import type { WorkflowSummary } from "../api/shapes";
import { listWorkflows } from "../api/workflows";
import { queryOf } from "../transfer/creating";

const PAGE = 50;
/** Pause in typing before the server is asked, in milliseconds. */
const PAUSE = 300;

export interface Listed {
  rows: WorkflowSummary[] | null;
  /** Whether no workflows exist, regardless of the search; null while this is unknown. */
  none: boolean | null;
  /** The error of the last request; "" if there was none. */
  trouble: string;
  /** Load the next page; null on the last page. */
  more: (() => void) | null;
  again: () => void;
}

/** Return the workflows whose names start with `name`, newest first. */
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
      // Ignore the answer to an earlier search, which may arrive later.
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
    // The displayed list may belong to an earlier search, whose next page must not be loaded now.
    more: next?.name === name ? () => void load(next.cursor) : null,
    again: () => setTurn((old) => old + 1),
  };
}

/** Return the cursor of the next page from a `Link` header; null on the last page. */
export function nextCursor(link: string | null): string | null {
  const address = /<([^>]+)>;\s*rel="next"/.exec(link ?? "")?.[1];
  return address ? new URL(address, "http://any").searchParams.get("cursor") : null;
}
