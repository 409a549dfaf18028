/** Creates workflows on the server. */
import { type Answer, ask, Refused } from "../api/client";
import type { Workflow } from "../api/shapes";
import { createWorkflow } from "../api/workflows";
import type { Definition } from "../document/types";
import { t } from "../words/t";

const NAME_LENGTH = 200;

/**
 * Create a workflow. If the slug of its name is taken, add the first free number, up to 20. Raises
 * Refused for other errors.
 */
export async function createFree(
  name: string,
  definition: Definition,
  workspaceId?: string,
): Promise<Workflow> {
  for (let number = 1; ; number += 1) {
    const wanted = number === 1 ? name : numbered(name, number);
    try {
      const made = await createWorkflow(wanted, { ...definition, name: wanted }, workspaceId);
      return made.data;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 409 || number >= 20) throw error;
    }
  }
}

/** Return the name of a copy: with "(copy)" at the end, and short enough for the server. */
export const copyName = (name: string): string =>
  t("shell.copy", { name: [...name].slice(0, NAME_LENGTH - 10).join("") });

const numbered = (name: string, number: number): string =>
  `${name.slice(0, NAME_LENGTH - 4)} ${number}`;

export interface ImportTarget {
  workspaceId?: string | undefined;
  slug?: string | undefined;
  onConflict?: "fail" | "update";
}

/** Create a workflow from a file's text; raises Refused (409) if the slug is taken. */
export const importText = (
  text: string,
  format: "yaml" | "json",
  target: ImportTarget,
): Promise<Answer<Workflow>> =>
  ask(`v1/Workflow/import${queryOf(target)}`, {
    method: "POST",
    text: { body: text, type: `application/${format}` },
  });

/** Return the parameters that are set, as a query string. */
export function queryOf(values: object): string {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(set.map(([key, value]) => [key, String(value)])).toString();
  return query ? `?${query}` : "";
}
