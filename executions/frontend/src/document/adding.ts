/** New tasks from module types, as the palette, the list and the canvas make them. */

import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { isContainer, type Where, withNewNote, withNewTask } from "./newtask";
import { bodyOf, idOf, taskAt } from "./paths";
import type { BodyPath, Definition, TaskPath } from "./types";

/** What a new task stands in and is connected from where nothing else is said. */
export interface Landing {
  body: BodyPath;
  after: TaskPath | null;
}

/** In the selected container, or after the selected task; else by itself in the workflow. */
export function landingOf(document: Definition, selected: readonly TaskPath[]): Landing {
  const [path] = selected;
  const task = path === undefined ? undefined : taskAt(document, path);
  if (selected.length !== 1 || path === undefined || !task) return { body: [], after: null };
  if (!task.body) return { body: bodyOf(path), after: path };
  const body = [...bodyOf(path), task.id];
  const last = endOf(task.body);
  return { body, after: last === null ? null : [...body, last].join(".") };
}

/** The id of the only task that nothing comes after; null where there is none, or several. */
function endOf(body: { tasks: { id: string }[]; edges?: { from: string }[] }): string | null {
  const left = new Set((body.edges ?? []).map((edge) => edge.from));
  const ends = body.tasks.filter((task) => !left.has(task.id));
  return ends.length === 1 ? (ends[0]?.id ?? null) : null;
}

/**
 * Add a task of this module type and select it; where nothing is said it comes after the selected
 * task, connected by the first outcome nothing waits for, or into the selected container.
 *
 * Gives its path; null where the type is unknown or the document may not be changed.
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

/** Add an empty note, at a place or below everything, and select it. */
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
