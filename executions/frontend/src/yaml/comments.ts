/**
 * Comments of a YAML text, stored in the document's `ui`, which does not affect executions. Pure.
 *
 * The position of a comment is stored as keys and ids. The comment therefore stays with its task
 * when the list's order changes. If its position no longer exists, it moves to the nearest
 * enclosing one.
 */
import { type Document, isMap, isNode, isScalar, isSeq, type Node } from "yaml";
import type { Definition, Json, JsonObject } from "../document/types";

export interface Comment {
  /** Keys and ids, such as `tasks/fetch/with/url`; "" is the whole text. */
  at: string;
  /** Whether the comment belongs to the key, not to the value. */
  key?: true;
  /** The comment's lines above it, without `#`. */
  before?: string;
  /** The comment after it, on the same line or below. */
  after?: string;
}

const KEPT = "comments";
const MOST = 1000;
/** Keys that identify the items of lists. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  tasks: ["id"],
  modules: ["id"],
  edges: ["from", "to", "on"],
};

/** Return the comments of a text, in order. */
export function commentsOf(read: Document): Comment[] {
  const found: Comment[] = [];
  if (read.commentBefore) found.push({ at: "", key: true, before: read.commentBefore });
  for (const [{ at, key, item }, node] of nodesIn(read)) {
    const { commentBefore: before, comment: after } = node;
    if (before) found.push({ ...(key || item ? placed(at, key) : firstIn(node, at)), before });
    if (after) found.push({ ...placed(at, key), after });
  }
  if (read.comment) found.push({ at: "", key: true, after: read.comment });
  return found.slice(0, MOST);
}

const placed = (at: string, key?: true): Place => ({ at, ...(key ? { key } : {}) });

/**
 * Return the first part of a value: a comment above it belongs to that part, but the parser assigns
 * the comment to the whole value.
 */
function firstIn(node: Node, at: string): Place {
  const inside = (step: string): string => (at === "" ? step : `${at}/${step}`);
  if (isSeq(node)) {
    const [first] = node.items;
    return isNode(first) ? { at: inside(itemName(first, at.split("/").at(-1) ?? "", 0)) } : { at };
  }
  const [first] = isMap(node) ? node.items : [];
  return isScalar(first?.key)
    ? { at: inside(spelled(String(first.key.value))), key: true }
    : { at };
}

/** Add comments to a YAML document. */
export function putComments(made: Document, comments: readonly Comment[]): void {
  const places = new Map([...nodesIn(made)].map(([place, node]) => [nameOf(place), node]));
  for (const comment of comments) {
    if (comment.at === "" && comment.key) put(made, comment);
    else put(nearest(places, comment) ?? made, comment);
  }
}

function put(node: Node | Document, { before, after }: Comment): void {
  if (before) node.commentBefore = joined(node.commentBefore, before);
  if (after) node.comment = joined(node.comment, after);
}

const joined = (old: string | null | undefined, more: string): string =>
  old ? `${old}\n${more}` : more;

/** Return the node at the position of a comment, or the nearest enclosing node. */
function nearest(places: ReadonlyMap<string, Node>, comment: Comment): Node | undefined {
  const own = places.get(nameOf(comment));
  if (own) return own;
  const steps = comment.at.split("/");
  for (let length = steps.length; length > 0; length -= 1) {
    const at = steps.slice(0, length).join("/");
    const found = places.get(nameOf({ at, key: true })) ?? places.get(nameOf({ at }));
    if (found) return found;
  }
  return undefined;
}

type Place = Pick<Comment, "at" | "key">;
/** `item` marks the item of a list. */
type Found = Place & { item?: true };

const nameOf = ({ at, key }: Place): string => `${key ? "key" : "value"} ${at}`;

/** Yield every key and value with its position, keys before their values. */
function* nodesIn(read: Document): Generator<[Found, Node]> {
  if (isNode(read.contents)) yield* below(read.contents, [], "");
}

function* below(
  node: Node,
  at: readonly string[],
  name: string,
  item?: true,
): Generator<[Found, Node]> {
  yield [{ at: at.join("/"), ...(item ? { item } : {}) }, node];
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      const step = isScalar(key) ? String(key.value) : String(key);
      const inside = [...at, spelled(step)];
      if (isNode(key)) yield [{ at: inside.join("/"), key: true }, key];
      if (isNode(value)) yield* below(value, inside, step);
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      if (isNode(item)) yield* below(item, [...at, itemName(item, name, index)], "", true);
    }
  }
}

/** Return an item's identifying keys, or its index. */
function itemName(item: Node, list: string, index: number): string {
  const keys = NAMED[list];
  if (!keys || !isMap(item)) return String(index);
  const parts = keys.map((key) => item.get(key)).filter((part) => part !== undefined);
  return parts.length === 0 ? String(index) : spelled(parts.join(">"));
}

/** Escape the separator in a key or id. */
const spelled = (step: string): string => step.replaceAll("/", "%2F");

/** Replace the comments of a document. */
export function withComments(document: JsonObject, comments: readonly Comment[]): JsonObject {
  const { [KEPT]: _, ...rest } = isObject(document.ui) ? document.ui : {};
  const ui: JsonObject = rest;
  if (comments.length > 0) ui[KEPT] = comments as unknown as Json;
  if (Object.keys(ui).length > 0) return { ...document, ui };
  if (!isObject(document.ui) || Object.keys(document.ui).length === 0) return document;
  const { ui: _ui, ...without } = document;
  return without;
}

/** Split a document from its comments; an unknown format of comments stays in the document. */
export function apart(document: Definition): [Definition, readonly Comment[]] {
  const kept = document.ui?.[KEPT] as Json | undefined;
  if (!Array.isArray(kept) || !kept.every(isComment)) return [document, []];
  const plain = withComments(document as unknown as JsonObject, []);
  return [plain as unknown as Definition, kept as unknown as Comment[]];
}

function isComment(value: Json): boolean {
  if (!isObject(value) || typeof value.at !== "string") return false;
  const texts = [value.before, value.after].filter((one) => one !== undefined);
  return texts.length > 0 && texts.every((one) => typeof one === "string");
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
