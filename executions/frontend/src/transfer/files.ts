/** Converts documents to files and files to documents. Pure except for `download`. */
import { parseDocument } from "yaml";
import type { Definition, Json, JsonObject } from "../document/types";
import { t } from "../words/t";
import { type Comment, commentsOf, withComments } from "../yaml/comments";
import { asYaml } from "../yaml/writing";

export type Format = "yaml" | "json";

/** The recognized content of a file. */
export type Recognised =
  | { kind: "workflow"; name: string; document: JsonObject; text: string; format: Format }
  | { kind: "n8n"; name: string; document: Json; nodes: number }
  | { kind: "unknown"; name: string; reason: string };

/** Maximum size of a file, in bytes; the server has the same limit. */
export const LARGEST = 1024 * 1024;

/** Return the text of a document's file. */
export const written = (document: Definition, format: Format): string =>
  format === "json" ? `${JSON.stringify(document, null, 2)}\n` : asYaml(document);

/**
 * Recognize the content of a text: Valkyr's workflows as YAML or JSON, n8n exports (one, or a
 * list), or neither, with the reason.
 */
export function recognised(text: string, name: string): Recognised[] {
  if (new Blob([text]).size > LARGEST) return [unknown(name, t("transfer.itIsLargerThan1Mib"))];
  const format: Format = /^\s*[[{]/.test(text) ? "json" : "yaml";
  try {
    const [content, comments] = format === "json" ? [JSON.parse(text) as Json, []] : readYaml(text);
    const all = Array.isArray(content) && content.length > 0 ? content : [content];
    return all.map((one) => recognise(one, name, format, all.length > 1 ? null : text, comments));
  } catch (error) {
    return [
      unknown(name, t("transfer.itIs", { format: format.toUpperCase(), reason: firstLine(error) })),
    ];
  }
}

function readYaml(text: string): [Json, readonly Comment[]] {
  const read = parseDocument(text);
  if (read.errors[0]) throw read.errors[0];
  return [read.toJS() as Json, commentsOf(read)];
}

/**
 * Recognize one workflow of a file; `text` is the file's text if it contains only this workflow.
 */
function recognise(
  content: Json,
  file: string,
  format: Format,
  text: string | null,
  comments: readonly Comment[],
): Recognised {
  const name = nameOf(content, file);
  const nodes = n8nNodes(content);
  if (nodes !== null) return { kind: "n8n", name, document: content, nodes };
  if (!isObject(content)) return unknown(file, t("transfer.itHoldsNoObjectWithTasks"));
  if (content.schema !== "valkyr/1" && !Array.isArray(content.tasks)) {
    return unknown(file, t("transfer.itHasNeitherTasksNorN8ns"));
  }
  if (text !== null && comments.length > 0) {
    // The server does not read YAML comments, so send them as part of the document.
    const document = withComments(content, comments);
    return { kind: "workflow", name, document, text: JSON.stringify(document), format: "json" };
  }
  if (text !== null) return { kind: "workflow", name, document: content, text, format };
  const alone = JSON.stringify(content);
  return { kind: "workflow", name, document: content, text: alone, format: "json" };
}

/**
 * Return the number of nodes of an n8n export or of a part of its canvas; null for other content.
 */
function n8nNodes(content: Json): number | null {
  const inner = isObject(content) && isObject(content.workflow) ? content.workflow : content;
  if (!isObject(inner) || !Array.isArray(inner.nodes)) return null;
  const shaped = inner.nodes.every((node) => isObject(node) && typeof node.type === "string");
  return shaped && (isObject(inner.connections) || inner.nodes.length > 0)
    ? inner.nodes.length
    : null;
}

/** Return the document's name, or the file's name without its extension. */
function nameOf(content: Json, file: string): string {
  const own = isObject(content) ? content.name : undefined;
  return typeof own === "string" && own.trim() !== "" ? own : file.replace(/\.[^.]+$/, "");
}

const unknown = (name: string, reason: string): Recognised => ({ kind: "unknown", name, reason });

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Convert a name to a file name, such as `order-fulfilment.yaml`. */
export const fileName = (name: string, format: Format): string =>
  `${
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-+|-+$/g, "") || "workflow"
  }.${format}`;

/** Download a text as a file. */
export function download(text: string, name: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
