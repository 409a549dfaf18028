/** Adds tasks of a module type, for the palette, the list and the canvas. */

import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { isContainer, type Where, withNewNote, withNewTask } from "./newtask";
import { bodyOf, idOf, taskAt } from "./paths";
import type { BodyPath, Definition, TaskPath } from "./types";

/** The default body of a new task, and the task that it is connected from. */
export interface Landing {
  body: BodyPath;
  after: TaskPath | null;
}

/** Return the selected container, or the place after the selected task; else only the workflow. */
export function landingOf(document: Definition, selected: readonly TaskPath[]): Landing {
  const [path] = selected;
  const task = path === undefined ? undefined : taskAt(document, path);
  if (selected.length !== 1 || path === undefined || !task) return { body: [], after: null };
  if (!task.body) return { body: bodyOf(path), after: path };
  const body = [...bodyOf(path), task.id];
  const last = endOf(task.body);
  return { body, after: last === null ? null : [...body, last].join(".") };
}

/**
 * Return the id of the only task without outgoing edges; null if there is none, or more than one.
 */
function endOf(body: { tasks: { id: string }[]; edges?: { from: string }[] }): string | null {
  const left = new Set((body.edges ?? []).map((edge) => edge.from));
  const ends = body.tasks.filter((task) => !left.has(task.id));
  return ends.length === 1 ? (ends[0]?.id ?? null) : null;
}

/**
 * Add a task of this module type and select it.
 *
 * By default, the task is added to the selected container, or after the selected task with an edge
 * from its first unused outcome.
 *
 * Returns the task's path, or null if the type is unknown or the document may not be changed.
 */
export function addModule(type: string, where: Where = {}): TaskPath | null {
  const { types, page, history, selection, edit, select } = useStudio.getState();
  const found = types.get(type);
  if (!found || !page.canEdit) return null;
  const placed = where.at !== undefined || where.body !== undefined || where.after !== undefined;
  const there: Where = placed ? where : landingOf(history.present, selection.tasks);
  const { document, path } = withNewTask(history.present, found, there, types);
  edit(() => document);
  select({ tasks: [path] });
  announce(added(found.title, path, there));
  return path;
}

function added(title: string, path: TaskPath, where: Where): string {
  const id = idOf(path);
  return where.after
    ? t("document.addedAfter", { title, id, task: idOf(where.after) })
    : t("document.added", { title, id });
}

/** Add an empty note, at a position or below everything else, and select it. */
export function addNote(where: Pick<Where, "body" | "at"> = {}): void {
  const { page, history, edit, select } = useStudio.getState();
  if (!page.canEdit) return;
  const body = where.body ?? [];
  const { document, id } = withNewNote(history.present, body, where.at);
  edit(() => document);
  select({ notes: [{ body, id }] });
  announce(t("document.addedANote"));
}

export { isContainer };
