/** Draws edges with the mouse: which edges are allowed, and the reason if one is not. */
import type { Connection, FinalConnectionState } from "@xyflow/react";
import { refusalOf } from "../document/cycles";
import { connect, disconnect } from "../document/edits";
import { freeOutcome } from "../document/newtask";
import { SUCCESS } from "../document/outcomes";
import { bodyAt, bodyOf, idOf, taskAt } from "../document/paths";
import type { Edge, TaskPath } from "../document/types";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import type { CanvasLine } from "./graph";
import { notice } from "./notice";

/** Connect two tasks, or show why this is not possible. Returns whether they were connected. */
export function link(from: TaskPath, to: TaskPath, on: string, instead?: Edge): boolean {
  const { history, edit } = useStudio.getState();
  const body = bodyOf(from);
  const kept = instead ? disconnect(history.present, body, [instead]) : history.present;
  const refusal = refusalOf(kept, from, to, on);
  if (refusal !== null) {
    notice(refusal);
    return false;
  }
  edit(() => connect(kept, body, { from: idOf(from), to: idOf(to), on }));
  announce(t("canvas.connectedTo", { from: idOf(from), to: idOf(to), outcome: on }));
  return true;
}

/** Whether an edge that is being drawn may end at the handle under the pointer. */
export function mayLink(connection: Connection | CanvasLine): boolean {
  const { source, target, sourceHandle } = connection;
  const { history } = useStudio.getState();
  return refusalOf(history.present, source, target, sourceHandle ?? SUCCESS) === null;
}

export const onConnect = ({ source, target, sourceHandle }: Connection): void =>
  void link(source, target, sourceHandle ?? SUCCESS);

/** Handle an edge whose start or end was moved to another handle. */
export function onReconnect(line: CanvasLine, { source, target, sourceHandle }: Connection): void {
  const edge = line.data?.edge;
  const on = sourceHandle ?? SUCCESS;
  const same = source === line.source && target === line.target && on === (edge?.on ?? SUCCESS);
  if (edge && !same) link(source, target, on, edge);
}

/** Handle an edge that was released over a card: connect it, or show why this is not possible. */
export function onConnectEnd(event: MouseEvent | TouchEvent, state: FinalConnectionState): void {
  if (state.isValid || !state.fromNode) return;
  const there = state.toNode?.id ?? nodeUnder(event);
  const own = state.fromNode.id;
  if (there === undefined || taskAt(useStudio.getState().history.present, there) === undefined)
    return;
  if (there === own && !state.toHandle) return;
  if (state.fromHandle?.type === "target") {
    link(there, own, state.toHandle?.id ?? nextOutcome(there));
  } else {
    link(own, there, state.fromHandle?.id ?? SUCCESS);
  }
}

function nodeUnder(event: MouseEvent | TouchEvent): string | undefined {
  const place = "changedTouches" in event ? event.changedTouches[0] : event;
  if (!place) return undefined;
  const found = document.elementFromPoint(place.clientX, place.clientY);
  return found?.closest<HTMLElement>(".react-flow__node")?.dataset.id;
}

/** Return the default outcome for a new edge from this task. */
export function nextOutcome(path: TaskPath): string {
  const { history, types } = useStudio.getState();
  const task = taskAt(history.present, path);
  if (!task) return SUCCESS;
  return freeOutcome(bodyAt(history.present, bodyOf(path))?.edges ?? [], task, types);
}
