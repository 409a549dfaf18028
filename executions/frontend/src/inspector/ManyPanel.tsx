import { copied, pasted } from "../document/copying";
import { changeNotes, disconnect, moveTasks, type Point, removeTasks } from "../document/edits";
import { bodyOf, taskAt } from "../document/paths";
import type { Definition, TaskPath } from "../document/types";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { useRefusal } from "../store/readOnly";
import type { Selection } from "../store/selection";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { type Alignment, aligned, tooFew } from "./aligning";

const WAYS: readonly [Alignment, string, string][] = [
  ["left", t("inspector.alignLeftEdges"), "align_horizontal_left"],
  ["top", t("inspector.alignTopEdges"), "align_vertical_top"],
  ["across", t("inspector.evenDistancesAcross"), "horizontal_distribute"],
  ["down", t("inspector.evenDistancesDown"), "vertical_distribute"],
];

/** The details of a multiple selection: its size, and actions for all of it. */
export function ManyPanel() {
  const selection = useStudio((state) => state.selection);
  const { edit, select } = useStudio.getState();
  const refusal = useRefusal();
  const { tasks } = selection;
  const remove = (): void => {
    edit((document) => without(document, selection));
    select({});
    announce(t("inspector.deleted"));
  };
  return (
    <section className="panel" aria-label={t("inspector.selection")}>
      <h2>{t("inspector.selected", { things: countsOf(selection) })}</h2>
      <fieldset className="group" aria-label={t("inspector.align")}>
        {WAYS.map(([way, label, icon]) => (
          <Button
            key={way}
            bare
            icon={icon}
            label={label}
            refusal={refusal ?? tooFew(tasks.length, way)}
            onClick={() =>
              edit((document) => moveTasks(document, aligned(placesOf(document, tasks), way)))
            }
          />
        ))}
      </fieldset>
      <p className="buttons">
        <Button
          icon="content_copy"
          label={t("inspector.duplicate")}
          refusal={refusal ?? (tasks.length === 0 ? t("inspector.noTaskIsSelected") : undefined)}
          onClick={() => duplicate(tasks)}
        />
        <Button icon="delete" label={t("inspector.delete")} refusal={refusal} onClick={remove} />
      </p>
    </section>
  );
}

function countsOf({ tasks, edges, notes }: Selection): string {
  const said = [
    ["canvas.tasks", tasks.length],
    ["inspector.edges", edges.length],
    ["canvas.notes", notes.length],
  ] as const;
  return said
    .filter(([, count]) => count > 0)
    .map(([words, count]) => t(words, { count }))
    .join(", ");
}

function placesOf(document: Definition, paths: readonly TaskPath[]): Map<TaskPath, Point> {
  return new Map(
    paths.map((path) => {
      const ui = taskAt(document, path)?.ui;
      return [path, { x: ui?.x ?? 0, y: ui?.y ?? 0 }];
    }),
  );
}

function without(document: Definition, { tasks, edges, notes }: Selection): Definition {
  let changed = removeTasks(document, tasks);
  for (const { body, edge } of edges) changed = disconnect(changed, body, [edge]);
  for (const { body, id } of notes) {
    changed = changeNotes(changed, body, (all) => all.filter((note) => note.id !== id));
  }
  return changed;
}

function duplicate(paths: readonly TaskPath[]): void {
  const { history, edit, select } = useStudio.getState();
  const [first] = paths;
  if (first === undefined) return;
  const clip = copied(history.present, paths);
  const done = pasted(history.present, bodyOf(first), clip, { x: 40, y: 40 });
  edit(() => done.document);
  select({ tasks: done.tasks });
  announce(t("inspector.duplicated", { count: done.tasks.length }));
}
