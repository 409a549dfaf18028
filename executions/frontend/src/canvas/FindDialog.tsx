import { lastUse } from "../document/modules";
import { everyTask } from "../document/paths";
import { Dialog } from "../shared/Dialog";
import { iconOf } from "../shared/moduleIcon";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { nameOf, typeLine } from "./names";
import { type Found, SearchList } from "./SearchList";
import { zoomTo } from "./viewport";

/** Finds a task by its name, id or module, and zooms to it. */
export function FindDialog() {
  const document = useDocument();
  const types = useStudio((state) => state.types);
  const { set, goTo } = useStudio.getState();
  const rows = everyTask(document).map(
    ({ path, task }): Found => ({
      id: path,
      name: nameOf(task),
      line: `${path} · ${typeLine(task)}`,
      icon: iconOf(types.get(lastUse(task))),
    }),
  );
  const choose = (path: string): void => {
    set({ dialog: null });
    goTo(path);
    // Two frames later, because the containers around the task must expand first.
    requestAnimationFrame(() => requestAnimationFrame(() => zoomTo([path])));
  };
  return (
    <Dialog title={t("canvas.findATask")} onClose={() => set({ dialog: null })}>
      <SearchList label={t("canvas.nameIdOrModule")} rows={rows} onChoose={choose} />
    </Dialog>
  );
}
