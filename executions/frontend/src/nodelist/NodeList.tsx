import { useEffect, useMemo, useRef, useState } from "react";
import { NoticeLine } from "../canvas/NoticeLine";
import { wantSearch } from "../palette/wanted";
import { Button } from "../shared/Button";
import { useRefusal } from "../store/readOnly";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { Notes } from "./Notes";
import { rowsOf } from "./rows";
import { TaskRow } from "./TaskRow";
import "./nodelist.css";

/** Number of rows that are shown at first, and added on demand. */
const SHOWN = 300;

/**
 * The workflow as a table with all functions of the canvas except positions, for keyboards, screen
 * readers and small screens.
 */
export function NodeList() {
  const document = useDocument();
  const selected = useStudio((state) => state.selection.tasks);
  const refusal = useRefusal();
  const rows = useMemo(() => rowsOf(document), [document]);
  const [shown, setShown] = useState(SHOWN);
  const root = useRef<HTMLElement>(null);
  useFocusOfNew(root, rows.length, selected);
  return (
    <section ref={root} aria-label={t("nodelist.tasks")} className="nodelist">
      <div className="nodelist-head">
        <h2>{t("canvas.tasks", { count: rows.length })}</h2>
        <span className="space" />
        <Button icon="add" label={t("nodelist.addATask")} refusal={refusal} onClick={wantSearch} />
      </div>
      {rows.length === 0 ? (
        <p className="list-none">{t("nodelist.thisWorkflowHasNoTasksYet")}</p>
      ) : (
        <table>
          <caption className="unseen">{t("nodelist.theTasksInAnOrder")}</caption>
          <thead>
            <tr>
              {[
                t("nodelist.task"),
                t("nodelist.module"),
                t("nodelist.after"),
                t("nodelist.outcomes"),
                t("nodelist.lastRun"),
                t("nodelist.problemsColumn"),
              ].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              <th scope="col">
                <span className="unseen">{t("nodelist.actions")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <TaskRow key={row.path} row={row} selected={selected.includes(row.path)} />
            ))}
          </tbody>
        </table>
      )}
      {rows.length > shown && (
        <Button
          label={t("nodelist.showMore", { count: Math.min(SHOWN, rows.length - shown) })}
          onClick={() => setShown(shown + SHOWN)}
        />
      )}
      <Notes />
      <NoticeLine />
    </section>
  );
}

/** Focus a task that was just added. */
function useFocusOfNew(
  root: React.RefObject<HTMLElement | null>,
  count: number,
  selected: readonly string[],
): void {
  const before = useRef(count);
  const [path] = selected;
  useEffect(() => {
    const grown = count > before.current;
    before.current = count;
    if (!grown || path === undefined) return;
    const row = root.current?.querySelector(`[data-task="${CSS.escape(path)}"]`);
    row?.querySelector<HTMLElement>(".task-name")?.focus();
    row?.scrollIntoView({ block: "nearest" });
  }, [root, count, path]);
}
