import { Panel, useStore } from "@xyflow/react";
import { memo } from "react";
import { directionOf } from "../document/sizes";
import { Button } from "../shared/Button";
import { useRefusal } from "../store/readOnly";
import { useDocument, useStudio } from "../store/studio";
import { tidy, writeNote } from "./commands";
import { fit, zoomIn, zoomOut, zoomTo } from "./viewport";

/** Looking closer, laying out, finding: at the canvas' lower left. */
export const Toolbar = memo(function Toolbar() {
  const { set } = useStudio.getState();
  const chosen = useStudio((state) => state.selection.tasks);
  const direction = directionOf(useDocument());
  const refusal = useRefusal();
  const other = direction === "LR" ? "TB" : "LR";
  return (
    <Panel position="bottom-left" className="toolbar" role="toolbar" aria-label="Canvas tools">
      <Zoom />
      <Button bare icon="fit_screen" label="Show all (f)" onClick={fit} />
      <Button
        bare
        icon="center_focus_strong"
        label="Zoom to the selection (z)"
        refusal={chosen.length > 0 ? undefined : "Nothing is selected."}
        onClick={() => zoomTo(chosen)}
      />
      <span className="divider" />
      <Button bare icon="auto_fix_high" label="Tidy (t)" refusal={refusal} onClick={() => tidy()} />
      <Button
        bare
        icon={direction === "LR" ? "arrow_downward" : "arrow_forward"}
        label={direction === "LR" ? "Lay out downwards" : "Lay out to the right"}
        refusal={refusal}
        onClick={() => tidy(other)}
      />
      <Button
        bare
        icon="sticky_note_2"
        label="Add a note (n)"
        refusal={refusal}
        onClick={writeNote}
      />
      <span className="divider" />
      <Button
        bare
        icon="search"
        label="Find a task (Ctrl+F)"
        onClick={() => set({ dialog: "find" })}
      />
      <Button bare icon="keyboard" label="Keys (?)" onClick={() => set({ dialog: "keys" })} />
    </Panel>
  );
});

function Zoom() {
  const zoom = useStore((state) => Math.round(state.transform[2] * 100));
  return (
    <>
      <Button bare icon="remove" label="Zoom out (-)" onClick={zoomOut} />
      <span className="zoom">{zoom} %</span>
      <Button bare icon="add" label="Zoom in (+)" onClick={zoomIn} />
    </>
  );
}
