/** Documents as files and files as documents. Pure but for `download`. */
import { parse, stringify } from "yaml";
import type { Definition, Json, JsonObject } from "../document/types";

export type Format = "yaml" | "json";

/** A file's content, recognised. */
export type Recognised =
  | { kind: "workflow"; name: string; document: JsonObject; text: string; format: Format }
  | { kind: "n8n"; name: string; document: Json; nodes: number }
  | { kind: "unknown"; name: string; reason: string };

/** The largest file taken, in bytes: what the server takes. */
export const LARGEST = 1024 * 1024;

/** A document as the text of a file. */
export const written = (document: Definition, format: Format): string =>
  format === "json"
    ? `${JSON.stringify(document, null, 2)}\n`
    : stringify(document, { lineWidth: 100, aliasDuplicateObjects: false });

/** What a text is: a workflow of ours as YAML or JSON, an n8n export, or neither, and why. */
export function recognised(text: string, name: string): Recognised {
  if (new Blob([text]).size > LARGEST) return unknown(name, "It is larger than 1 MiB.");
  const format: Format = /^\s*[[{]/.test(text) ? "json" : "yaml";
  let content: Json;
  try {
    content = format === "json" ? (JSON.parse(text) as Json) : (parse(text) as Json);
  } catch (error) {
    return unknown(name, `It is no ${format.toUpperCase()}: ${firstLine(error)}`);
  }
  const nodes = n8nNodes(content);
  if (nodes !== null) return { kind: "n8n", name: nameOf(content, name), document: content, nodes };
  if (!isObject(content)) return unknown(name, "It holds no object with tasks.");
  if (content.schema !== "valkyr/1" && !Array.isArray(content.tasks)) {
    return unknown(name, "It has neither `tasks` nor n8n's `nodes` and `connections`.");
  }
  const called = nameOf(content, name);
  return { kind: "workflow", name: called, document: content, text, format };
}

/** How many nodes an n8n export (one workflow, a list of them, or a clipping) has; null if none. */
function n8nNodes(content: Json): number | null {
  const all = Array.isArray(content) ? content : [content];
  const counts = all.map((one) => {
    const inner = isObject(one) && isObject(one.workflow) ? one.workflow : one;
    if (!isObject(inner) || !Array.isArray(inner.nodes)) return null;
    const shaped = inner.nodes.every((node) => isObject(node) && typeof node.type === "string");
    return shaped && (isObject(inner.connections) || inner.nodes.length > 0)
      ? inner.nodes.length
      : null;
  });
  if (counts.length === 0 || counts.includes(null)) return null;
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** The document's own name, else the file's without its ending. */
function nameOf(content: Json, file: string): string {
  const own = isObject(content) ? content.name : undefined;
  return typeof own === "string" && own.trim() !== "" ? own : file.replace(/\.[^.]+$/, "");
}

const unknown = (name: string, reason: string): Recognised => ({ kind: "unknown", name, reason });

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A name as that of a file: `order-fulfilment.yaml`. */
export const fileName = (name: string, format: Format): string =>
  `${
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-+|-+$/g, "") || "workflow"
  }.${format}`;

/** Let the browser keep a text as a file. */
export function download(text: string, name: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
