/** Changes of a task in the list, with their notices. */
import { notice } from "../canvas/notice";
import { refusalOf } from "../document/cycles";
import { connect, disconnect, removeTasks } from "../document/edits";
import { arranged } from "../document/layout";
import { bodyName, moved } from "../document/moving";
import { bodyOf, idOf } from "../document/paths";
import type { BodyPath, Edge, TaskPath } from "../document/types";
import { useStudio } from "../store/studio";
import { t } from "../words/t";

/** Connect two tasks of a body; return the reason if this is not possible, else null. */
export function join(from: TaskPath, to: TaskPath, on: string): string | null {
  const { history, edit } = useStudio.getState();
  const refusal = refusalOf(history.present, from, to, on);
  if (refusal !== null) {
    notice(refusal);
    return refusal;
  }
  const edge: Edge = { from: idOf(from), to: idOf(to), on };
  edit((document) => connect(document, bodyOf(to), edge));
  notice(t("nodelist.nowComesAfter", { to: idOf(to), from: idOf(from), outcome: on }));
  return null;
}

export function part(body: BodyPath, edge: Edge): void {
  useStudio.getState().edit((document) => disconnect(document, body, [edge]));
  notice(
    t("nodelist.noLongerComesAfter", {
      to: edge.to,
      from: edge.from,
      outcome: edge.on ?? "success",
    }),
  );
}

export function remove(path: TaskPath): void {
  useStudio.getState().edit((document) => removeTasks(document, [path]));
  notice(t("nodelist.deletedCtrlZBringsItBack", { id: idOf(path) }));
}

export function move(path: TaskPath, body: BodyPath): void {
  const { history, types, edit, select } = useStudio.getState();
  const result = moved(history.present, path, body);
  edit(() => arranged(result.document, types));
  select({ tasks: [result.path] });
  notice(
    t("nodelist.movedToItsConnectionsStayedBehind", { id: idOf(path), container: bodyName(body) }),
  );
}
