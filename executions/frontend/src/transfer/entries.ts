/** Files that are being imported. */
import { Refused } from "../api/client";
import type { Workflow } from "../api/shapes";
import { read } from "../document/reading";
import { createFree, type ImportTarget, importText } from "./creating";
import { type Recognised, recognised } from "./files";
import { importN8n, keepReport, type N8nImported } from "./n8n";

export interface Entry {
  key: number;
  file: Recognised;
  state: "looking" | "ready" | "busy" | "conflict" | "failed" | "done";
  /** The error, or the conflict. */
  says: string;
  /** For an n8n export: the result of a dry run. */
  preview: N8nImported | null;
  made: Workflow | null;
}

let keys = 0;

/** Return an entry for each workflow in a text. */
export const entriesOf = (text: string, name: string): Entry[] =>
  recognised(text, name).map((file) => {
    keys += 1;
    const failed = file.kind === "unknown";
    const state = failed ? "failed" : file.kind === "n8n" ? "looking" : "ready";
    return { key: keys, file, state, says: failed ? file.reason : "", preview: null, made: null };
  });

/** For an n8n export, add the preview. */
export async function looked(entry: Entry, workspaceId: string | undefined): Promise<Entry> {
  if (entry.file.kind !== "n8n") return entry;
  try {
    const preview = await importN8n(entry.file.document, { workspaceId, dryRun: true });
    return { ...entry, state: "ready", preview };
  } catch (error) {
    return failure(entry, error);
  }
}

/** Create the entry's draft; if its name is taken, the entry becomes a conflict. */
export async function kept(entry: Entry, target: ImportTarget): Promise<Entry> {
  const { file } = entry;
  try {
    if (file.kind === "workflow") {
      const { data } = await importText(file.text, file.format, target);
      return { ...entry, state: "done", says: "", made: data };
    }
    if (file.kind === "unknown") return entry;
    const { workflow, report } = await importN8n(file.document, target);
    if (workflow) keepReport(workflow.id, report);
    return { ...entry, state: "done", says: "", made: workflow };
  } catch (error) {
    return failure(entry, error);
  }
}

/** Create the entry's draft under a free name. */
export async function keptBeside(entry: Entry, workspaceId: string | undefined): Promise<Entry> {
  const { file, preview } = entry;
  if (file.kind === "unknown") return entry;
  const raw = file.kind === "workflow" ? file.document : preview?.definition;
  if (!raw) return entry;
  try {
    const document = read(raw, file.name);
    const made = await createFree(document.name, document, workspaceId);
    if (preview) keepReport(made.id, preview.report);
    return { ...entry, state: "done", says: "", made };
  } catch (error) {
    return failure(entry, error);
  }
}

function failure(entry: Entry, error: unknown): Entry {
  const refused = error instanceof Refused ? error : null;
  const state = refused?.status === 409 ? "conflict" : "failed";
  const first = refused?.errors[0];
  const says = first
    ? `${refused.detail} ${first.path}: ${first.message}`
    : (refused?.detail ?? "");
  return { ...entry, state, says: says || String(error) };
}
