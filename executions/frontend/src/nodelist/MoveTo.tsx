import { bodiesFor, bodyName, containersOf } from "../document/moving";
import type { Definition, TaskPath } from "../document/types";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { move } from "./actions";

/** Moves a task into or out of a container; hidden if there is no other body. */
export function MoveTo({ path, label }: { path: TaskPath; label: string }) {
  const canEdit = useStudio((state) => state.page.canEdit);
  const containers = useStudio((state) => containerKey(state.history.present));
  const bodies = bodiesFor(containers ? containers.split(" ") : [], path);
  if (!canEdit || bodies.length === 0) return null;
  return (
    <select
      aria-label={t("nodelist.moveTo", { task: label })}
      className="move-to"
      value=""
      onChange={(event) => move(path, bodies[Number(event.target.value)] ?? [])}
    >
      <option value="">{t("nodelist.moveToChoice")}</option>
      {bodies.map((body, at) => (
        <option key={body.join(".")} value={at}>
          {bodyName(body)}
        </option>
      ))}
    </select>
  );
}

let asked: Definition | null = null;
let key = "";

/** Return all containers as one string, computed once per document, so that rows rarely render. */
function containerKey(document: Definition): string {
  if (document !== asked) key = containersOf(document).join(" ");
  asked = document;
  return key;
}
