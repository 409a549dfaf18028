/** Commands for the selection, used by keys, buttons and menus. */

import { addNote } from "../document/adding";
import { type Alignment, type Axis, aligned, distributed } from "../document/aligning";
import { clipText, copied, freeShift, pasted, readClip } from "../document/copying";
import { changeNotes, disconnect, moveTasks, type Point, removeTasks } from "../document/edits";
import { tidied } from "../document/layout";
import { bodyAt, bodyOf, pathOf, taskAt } from "../document/paths";
import {
  type Box,
  type Direction,
  type Drawing,
  directionOf,
  notesOf,
  sizeOf,
} from "../document/sizes";
import type { BodyPath, Definition, TaskPath } from "../document/types";
import { announce } from "../shared/announce";
import { readOnlyReason } from "../store/readOnly";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { isFolded } from "./folding";
import { noteId } from "./graph";
import { notice } from "./notice";
import { fit, focusCanvas, middle } from "./viewport";
import { useWriting } from "./writing";

/** Return whether the document may be changed; otherwise show the reason. */
function mayEdit(): boolean {
  const refusal = readOnlyReason(useStudio.getState().page);
  if (refusal !== undefined) notice(refusal);
  return refusal === undefined;
}

/** Remove the selected tasks with their edges, the selected edges and the selected notes. */
export function removeSelected(): void {
  const { selection, edit, select } = useStudio.getState();
  const { tasks, edges, notes } = selection;
  if (tasks.length + edges.length + notes.length === 0 || !mayEdit()) return;
  edit((document) => {
    let changed = document;
    for (const { body, edge } of edges) changed = disconnect(changed, body, [edge]);
    for (const { body, id } of notes) {
      changed = changeNotes(changed, body, (all) => all.filter((note) => note.id !== id));
    }
    return removeTasks(changed, tasks);
  });
  select({});
  focusCanvas();
  notice(
    t("canvas.removedCtrlZBringsItBack", {
      things: said(tasks.length, edges.length, notes.length),
    }),
  );
}

const said = (tasks: number, edges: number, notes: number): string =>
  [
    tasks > 0 ? t("canvas.tasks", { count: tasks }) : "",
    edges > 0 && tasks === 0 ? t("canvas.connections", { count: edges }) : "",
    notes > 0 ? t("canvas.notes", { count: notes }) : "",
  ]
    .filter(Boolean)
    .reduce((one, other) => (one ? t("canvas.and", { one, other }) : other), "");

/** Return the selection as text for the clipboard; null if no task or note is selected. */
export function copySelected(): string | null {
  const { selection, history } = useStudio.getState();
  if (selection.tasks.length + selection.notes.length === 0) return null;
  const clip = copied(history.present, selection.tasks, selection.notes);
  notice(t("canvas.copied", { things: said(clip.tasks.length, 0, clip.notes.length) }));
  return clipText(clip);
}

/**
 * Paste a clip: into the selected container, unless the clip contains that container; otherwise
 * beside the selected task, or into the workflow. Returns false if the text is not a clip.
 */
export function paste(text: string): boolean {
  const clip = readClip(text);
  if (!clip) return false;
  if (!mayEdit()) return true;
  const { history, selection } = useStudio.getState();
  const body = landing(history.present, selection.tasks, new Set(clip.tasks.map((one) => one.id)));
  put(clip, body);
  return true;
}

function put(clip: NonNullable<ReturnType<typeof readClip>>, body: BodyPath): void {
  const { history, edit, select } = useStudio.getState();
  const shift = freeShift(clip, bodyAt(history.present, body) ?? { tasks: [] });
  const { document, tasks, notes } = pasted(history.present, body, clip, shift);
  edit(() => document);
  select({ tasks, notes });
  notice(t("canvas.pasted", { things: said(tasks.length, 0, notes.length) }));
}

function landing(
  document: Definition,
  selected: readonly TaskPath[],
  ids: ReadonlySet<string>,
): BodyPath {
  const [path] = selected;
  const task = path === undefined ? undefined : taskAt(document, path);
  if (path === undefined || !task) return [];
  const body = bodyOf(path);
  return selected.length === 1 && task.body && !ids.has(task.id) ? [...body, task.id] : body;
}

/** Add a copy of the selection beside the selection. */
export function duplicate(): void {
  const { selection, history } = useStudio.getState();
  const [path] = selection.tasks;
  const [note] = selection.notes;
  if ((path === undefined && !note) || !mayEdit()) return;
  const clip = copied(history.present, selection.tasks, selection.notes);
  put(clip, path === undefined ? (note?.body ?? []) : bodyOf(path));
}

/** Select all tasks and notes of the body that contains the first selected task. */
export function selectAll(): void {
  const { selection, history, select } = useStudio.getState();
  const body = bodyOf(selection.tasks[0] ?? "");
  const found = bodyAt(history.present, body);
  if (!found) return;
  const tasks = found.tasks.map((task) => pathOf(body, task.id));
  select({ tasks, notes: notesOf(found).map(({ id }) => ({ body, id })) });
  announce(t("canvas.selected", { things: t("canvas.tasks", { count: tasks.length }) }));
}

/** Lay out all tasks again, by default in the present direction. */
export function tidy(direction?: Direction): void {
  if (!mayEdit()) return;
  const { history, types, edit } = useStudio.getState();
  if (history.present.tasks.length === 0) return;
  const way = direction ?? directionOf(history.present);
  edit((document) => tidied(document, way, types));
  announce(way === "LR" ? t("canvas.laidOutToTheRight") : t("canvas.laidOutDownwards"));
  requestAnimationFrame(fit);
}

/** Add a note at the centre of the view, and start editing its text. */
export function writeNote(): void {
  if (!mayEdit()) return;
  const seen = middle();
  addNote({ at: { x: Math.round(seen.x - 110), y: Math.round(seen.y - 60) } });
  const [note] = useStudio.getState().selection.notes;
  if (note) useWriting.setState({ note: noteId(note.body, note.id) });
}

/** Return the boxes of the selected tasks that can be aligned: those in the first task's body. */
function boxes(): Map<TaskPath, Box> {
  const { selection, history, types, collapsed } = useStudio.getState();
  const document = history.present;
  const body = bodyOf(selection.tasks[0] ?? "");
  const within = bodyAt(document, body) ?? { tasks: [] };
  const folded: Drawing["folded"] = (path, task) => isFolded(collapsed, path, task);
  const drawing = { types, direction: directionOf(document), folded };
  return new Map(
    within.tasks
      .map((task) => [pathOf(body, task.id), task] as const)
      .filter(([path]) => selection.tasks.includes(path))
      .map(([path, task]) => {
        const place = { x: task.ui?.x ?? 0, y: task.ui?.y ?? 0 };
        return [path, { ...place, ...sizeOf(task, path, within, drawing) }];
      }),
  );
}

export const align = (alignment: Alignment): void => rearrange((all) => aligned(all, alignment));

export const distribute = (axis: Axis): void => rearrange((all) => distributed(all, axis));

function rearrange(change: (boxes: Map<TaskPath, Box>) => Map<TaskPath, Point>): void {
  const all = boxes();
  if (all.size < 2 || !mayEdit()) return;
  useStudio.getState().edit((document) => moveTasks(document, change(all)));
}
