/** Parts of documents as JSON, to paste into the same or another workflow. Pure. */
import type { Point } from "./edits";
import { freeId } from "./ids";
import { bodyAt, bodyOf, idOf, pathOf, withBody } from "./paths";
import { read } from "./reading";
import { renamed } from "./references";
import { notesOf } from "./sizes";
import type { Body, BodyPath, Definition, Edge, JsonObject, Note, Task, TaskPath } from "./types";

/** Copied tasks, the edges between them, and notes. */
export interface Clip {
  tasks: Task[];
  edges: Edge[];
  notes: Note[];
}

export interface NotePlace {
  body: BodyPath;
  id: string;
}

/**
 * Maximum length of a clip, in characters. A definition has at most 1 MiB, so a longer text is not
 * part of a workflow.
 */
const LONGEST = 1024 * 1024;

/**
 * Copy notes, and the tasks of the first task's body with the edges between them. A copied
 * container includes its body.
 */
export function copied(
  document: Definition,
  paths: readonly TaskPath[],
  notes: readonly NotePlace[] = [],
): Clip {
  const [first, ...rest] = outermost(paths);
  const at = first === undefined ? [] : bodyOf(first);
  const beside = rest.filter((path) => bodyOf(path).join(".") === at.join("."));
  const ids = new Set(first === undefined ? [] : [first, ...beside].map(idOf));
  const body = bodyAt(document, at) ?? { tasks: [] };
  return {
    tasks: body.tasks.filter((task) => ids.has(task.id)),
    edges: (body.edges ?? []).filter((edge) => ids.has(edge.from) && ids.has(edge.to)),
    notes: notes.flatMap(({ body: of, id }) => noteAt(document, of, id) ?? []),
  };
}

/** Remove the paths of tasks that are inside another of these tasks. */
export const outermost = (paths: readonly TaskPath[]): TaskPath[] => {
  const all = new Set(paths);
  const held = (path: TaskPath): boolean =>
    bodyOf(path).some((_, at, ids) => all.has(ids.slice(0, at + 1).join(".")));
  return [...all].filter((path) => !held(path));
};

const noteAt = (document: Definition, body: BodyPath, id: string): Note | undefined => {
  const found = bodyAt(document, body);
  return found && notesOf(found).find((note) => note.id === id);
};

/** Return the clip as text, in the format of a definition's body, which other programs can read. */
export const clipText = (clip: Clip): string =>
  JSON.stringify(
    { schema: "valkyr/1", tasks: clip.tasks, edges: clip.edges, ui: { notes: clip.notes } },
    null,
    2,
  );

/** Read a clip, or a whole definition, from JSON; return null for any other text. */
export function readClip(text: string): Clip | null {
  if (text.length > LONGEST || !text.trimStart().startsWith("{")) return null;
  const raw = parsed(text);
  if (raw?.schema !== "valkyr/1" || !Array.isArray(raw.tasks)) return null;
  const { tasks, edges, ui } = read(raw, "clip");
  const named = tasks.filter(
    (task, at) => typeof task.id === "string" && tasks.findIndex((t) => t.id === task.id) === at,
  );
  const notes = Array.isArray(ui?.notes) ? ui.notes.filter(isNote) : [];
  return { tasks: named, edges: edges ?? [], notes };
}

function parsed(text: string): JsonObject | null {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return null;
  }
}

const isNote = (note: unknown): note is Note => {
  const { id, text, x, y, w, h } = (note ?? {}) as Partial<Note>;
  const numbers = [x, y, w, h].every((one) => typeof one === "number" && Number.isFinite(one));
  return typeof id === "string" && typeof text === "string" && numbers;
};

export interface Pasted {
  document: Definition;
  tasks: TaskPath[];
  notes: NotePlace[];
}

/** Add the clip to a body; conflicting ids change, also in edges and templates of the clip. */
export function pasted(document: Definition, at: BodyPath, clip: Clip, shift: Point): Pasted {
  const there = bodyAt(document, at);
  if (!there) return { document, tasks: [], notes: [] };
  const { tasks, edges = [] } = withFreeIds(clip, there);
  const notes = withFreeNotes(clip.notes, notesOf(there));
  const moved = tasks.map((task) => ({ ...task, ui: shifted(task, shift) }));
  const settled = notes.map((note) => ({ ...note, x: note.x + shift.x, y: note.y + shift.y }));
  const changed = withBody(document, at, (body) => ({
    ...body,
    tasks: [...body.tasks, ...moved],
    edges: [...(body.edges ?? []), ...edges],
    ...(settled.length > 0 ? { ui: { ...body.ui, notes: [...notesOf(body), ...settled] } } : {}),
  }));
  return {
    document: changed,
    tasks: tasks.map((task) => pathOf(at, task.id)),
    notes: notes.map(({ id }) => ({ body: at, id })),
  };
}

const shifted = (task: Task, { x, y }: Point): Task["ui"] => ({
  ...task.ui,
  x: (task.ui?.x ?? 0) + x,
  y: (task.ui?.y ?? 0) + y,
});

/** Rename one task after another; new ids must also be free in the clip, so that none collide. */
function withFreeIds(clip: Clip, there: Body): Body {
  const taken = [...there.tasks.map(({ id }) => ({ id }))];
  let body: Body = { tasks: clip.tasks, edges: clip.edges };
  for (const { id } of clip.tasks) {
    const clash = taken.some((one) => one.id === id);
    const free = clash ? freeId(id, [...taken, ...body.tasks]) : id;
    if (clash) body = renamed(body, id, free);
    taken.push({ id: free });
  }
  return body;
}

function withFreeNotes(notes: readonly Note[], there: readonly Note[]): Note[] {
  const taken = [...there];
  return notes.map((note) => {
    const free = { ...note, id: freeId(note.id, taken) };
    taken.push(free);
    return free;
  });
}

/** Return an offset at which no copied task exactly covers another task. */
export function freeShift(clip: Clip, body: Body): Point {
  const places = new Set(body.tasks.map((task) => `${task.ui?.x ?? 0},${task.ui?.y ?? 0}`));
  const meets = (by: number): boolean =>
    clip.tasks.some((t) => places.has(`${(t.ui?.x ?? 0) + by},${(t.ui?.y ?? 0) + by}`));
  let by = 0;
  while (meets(by)) by += 40;
  return { x: by, y: by };
}
