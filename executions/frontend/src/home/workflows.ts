/** The list of workflows, page after page. */
import { useCallback, useEffect, useState } from "react";
import { Refused } from "../api/client";
import type { WorkflowSummary } from "../api/shapes";
import { listWorkflows } from "../api/workflows";
import { queryOf } from "../transfer/creating";

const PAGE = 50;
/** Milliseconds without a key before the server is asked. */
const PAUSE = 300;

export interface Listed {
  rows: WorkflowSummary[] | null;
  /** Why there are none; "" where nothing went wrong. */
  trouble: string;
  /** Fetch the next page; null where this is the end. */
  more: (() => void) | null;
  again: () => void;
}

/** Those whose names begin with `name`, newest first. */
export function useWorkflows(name: string): Listed {
  const [rows, setRows] = useState<WorkflowSummary[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [trouble, setTrouble] = useState("");
  const [turn, setTurn] = useState(0);
  const load = useCallback(
    async (from: string | null): Promise<void> => {
      const query = queryOf({ limit: PAGE, name, cursor: from ?? undefined });
      const { data, headers } = await listWorkflows(query);
      setRows((old) => (from === null ? data : [...(old ?? []), ...data]));
      setCursor(nextCursor(headers.get("Link")));
      setTrouble("");
    },
    [name],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn more is a try more
  useEffect(() => {
    const failed = (error: unknown): void =>
      setTrouble(error instanceof Refused ? error.detail : String(error));
    const timer = setTimeout(() => void load(null).catch(failed), name ? PAUSE : 0);
    return () => clearTimeout(timer);
  }, [load, name, turn]);
  return {
    rows,
    trouble,
    more: cursor === null ? null : () => void load(cursor).catch(() => setTurn((old) => old + 1)),
    again: () => setTurn((old) => old + 1),
  };
}

/** The cursor of the next page in a `Link` header; null at the end. */
export function nextCursor(link: string | null): string | null {
  const address = /<([^>]+)>;\s*rel="next"/.exec(link ?? "")?.[1];
  return address ? new URL(address, "http://any").searchParams.get("cursor") : null;
}
