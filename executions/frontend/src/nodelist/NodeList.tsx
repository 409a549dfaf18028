import { useEffect, useMemo, useRef, useState } from "react";
import { NoticeLine } from "../canvas/NoticeLine";
import { wantSearch } from "../palette/wanted";
import { Button } from "../shared/Button";
import { useRefusal } from "../store/readOnly";
import { useDocument, useStudio } from "../store/studio";
import { Notes } from "./Notes";
import { rowsOf } from "./rows";
import { TaskRow } from "./TaskRow";
import "./nodelist.css";

/** So many rows at once; more on demand. */
const SHOWN = 300;

/** The workflow as a table: all that the canvas can but places, for keys, ears and small screens. */
export function NodeList() {
  const document = useDocument();
  const selected = useStudio((state) => state.selection.tasks);
  const refusal = useRefusal();
  const rows = useMemo(() => rowsOf(document), [document]);
  const [shown, setShown] = useState(SHOWN);
  const root = useRef<HTMLElement>(null);
  useFocusOfNew(root, rows.length, selected);
  return (
    <section ref={root} aria-label="Tasks" className="nodelist">
      <div className="nodelist-head">
        <h2>
          {rows.length} {rows.length === 1 ? "task" : "tasks"}
        </h2>
        <span className="space" />
        <Button icon="add" label="Add a task" refusal={refusal} onClick={wantSearch} />
      </div>
      {rows.length === 0 ? (
        <p className="list-none">
          This workflow has no tasks yet. Pick a module on the left, or press / to search.
        </p>
      ) : (
        <table>
          <caption className="unseen">
            The tasks in an order in which they run; a task's name shows its details.
          </caption>
          <thead>
            <tr>
              {["Task", "Module", "After", "Outcomes", "Last run", "Problems"].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              <th scope="col">
                <span className="unseen">Actions</span>
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
          label={`Show ${Math.min(SHOWN, rows.length - shown)} more`}
          onClick={() => setShown(shown + SHOWN)}
        />
      )}
      <Notes />
      <NoticeLine />
    </section>
  );
}

/** A task that was just added gets the focus. */
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
