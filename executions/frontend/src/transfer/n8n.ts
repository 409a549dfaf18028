/** The result of an n8n import, as the server reports it. */
import { ask } from "../api/client";
import type { Problem, Workflow } from "../api/shapes";
import type { Json, JsonObject } from "../document/types";
import { tabStorage } from "../shared/storage";
import { type ImportTarget, queryOf } from "./creating";

export type N8nStatus = "mapped" | "changed" | "left";

export interface N8nRow {
  node: string;
  nodeType: string;
  became: { task: string | null; module: string } | null;
  status: N8nStatus;
  remarks: string[];
}

export interface N8nReport {
  rows: N8nRow[];
  counts: Record<N8nStatus, number>;
  toCreate: {
    credentials: { name: string; type: string; was: string; nodes: string[] }[];
    variables: { name: string; nodes: string[] }[];
    workflows: { slug: string; was: string; nodes: string[] }[];
  };
  remarks: string[];
}

export interface N8nImported {
  workflow: Workflow | null;
  /** Only after a dry run. */
  definition: JsonObject | null;
  report: N8nReport;
  problems: Problem[];
}

/** Translate an export, and save it as a draft unless it is a dry run. Raises Refused. */
export async function importN8n(
  document: Json,
  target: ImportTarget & { dryRun?: boolean },
): Promise<N8nImported> {
  const address = `v1/Workflow/import-n8n${queryOf(target)}`;
  return (await ask<N8nImported>(address, { method: "POST", json: document })).data;
}

const keyOf = (workflowId: string): string => `studioReport:${workflowId}`;

/** Store a report, which the user has already seen, in this tab for the workflow's editor. */
export function keepReport(workflowId: string, report: N8nReport): void {
  tabStorage.write(keyOf(workflowId), JSON.stringify(report));
}

/** Return the report of a workflow that was imported in this tab; null if there is none. */
export const keptReport = (workflowId: string): N8nReport | null =>
  tabStorage.readJson(keyOf(workflowId)) as N8nReport | null;
