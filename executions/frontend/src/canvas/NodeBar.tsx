import { useStore } from "@xyflow/react";
import type { KeyboardEvent } from "react";
import { createPortal } from "react-dom";
import { taskAt } from "../document/paths";
import { runActions } from "../running/wish";
import { Button } from "../shared/Button";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { nameOf } from "./names";
import type { Pointed } from "./pointed";
import { copyTaskLink } from "./taskLink";

/** Maximum scale of the bar; it grows when the user zooms out, so that it remains easy to click. */
const LARGEST = 2.5;

/**
 * The actions of one task, above its card: run it, or copy its link.
 *
 * The bar is inside the card's node. The mouse therefore stays in the node on its way to the bar,
 * and Tab leads from the card to the bar. Only a selected task's buttons are in the tab order, so
 * that users who tab from card to card do not pass all buttons.
 */
export function NodeBar({ pointed: { path, node } }: { pointed: Pointed }) {
  const scale = useStore((state) => Math.min(LARGEST, 1 / state.transform[2]));
  const task = taskAt(useDocument(), path);
  const selected = useStudio(({ selection: { tasks } }) => tasks.length === 1 && tasks[0] === path);
  if (!task) return null;
  const reach = selected ? 0 : -1;
  return createPortal(
    <div
      className="node-bar nodrag nopan nowheel"
      role="toolbar"
      aria-label={t("canvas.actionsOf", { task: nameOf(task) })}
      style={{ transform: `scale(${scale})` }}
      onKeyDown={walk}
    >
      {runActions(path).map(({ kind, label, icon, refusal, act }) => (
        <Button
          key={kind}
          bare
          icon={icon}
          label={label}
          refusal={refusal}
          tabIndex={reach}
          onClick={act}
        />
      ))}
      <Button
        bare
        icon="link"
        label={t("canvas.copyLink")}
        tabIndex={reach}
        onClick={() => void copyTaskLink(path)}
      />
    </div>,
    node,
  );
}

/** The arrow keys move between the buttons, not the card; Escape returns the focus to the card. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  if (step !== undefined) buttons.at((at + step) % buttons.length)?.focus();
  if (event.key === "Escape")
    event.currentTarget.closest<HTMLElement>(".react-flow__node")?.focus();
  if (step !== undefined || event.key === "Escape") event.preventDefault();
}
