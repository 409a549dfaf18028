import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { EdgePanel } from "./EdgePanel";
import { ManyPanel } from "./ManyPanel";
import { NotePanel } from "./NotePanel";
import { ResizeHandle } from "./ResizeHandle";
import { TaskPanel } from "./task/TaskPanel";
import { useFieldFocus } from "./useFieldFocus";
import { useView } from "./view";
import { WorkflowPanel } from "./workflow/WorkflowPanel";
import "./inspector.css";

/** The editable details of the selected task, edge or note, or of the workflow. */
export function Inspector() {
  const width = useView((state) => state.width);
  const root = useFieldFocus();
  return (
    <aside ref={root} aria-label={t("shared.details")} className="inspector" style={{ width }}>
      <ResizeHandle />
      <Selected />
    </aside>
  );
}

function Selected() {
  const { tasks, edges, notes } = useStudio((state) => state.selection);
  const panel = useStudio((state) => state.panel);
  const count = tasks.length + edges.length + notes.length;
  const [task] = tasks;
  const [edge] = edges;
  const [note] = notes;
  if (panel === "workflow" || count === 0) return <WorkflowPanel />;
  if (count > 1) return <ManyPanel />;
  if (task !== undefined) return <TaskPanel key={task} path={task} />;
  if (edge) return <EdgePanel chosen={edge} />;
  return note ? <NotePanel key={note.id} chosen={note} /> : null;
}
