import { Panel, useStore } from "@xyflow/react";
import { memo } from "react";
import { directionOf } from "../document/sizes";
import { Button } from "../shared/Button";
import { useRefusal } from "../store/readOnly";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { tidy, writeNote } from "./commands";
import { fit, zoomIn, zoomOut, zoomTo } from "./viewport";

/** The buttons for zoom, layout, notes and search, at the lower left of the canvas. */
export const Toolbar = memo(function Toolbar() {
  const { set } = useStudio.getState();
  const chosen = useStudio((state) => state.selection.tasks);
  const direction = directionOf(useDocument());
  const refusal = useRefusal();
  const other = direction === "LR" ? "TB" : "LR";
  return (
    <Panel
      position="bottom-left"
      className="toolbar"
      role="toolbar"
      aria-label={t("canvas.canvasTools")}
    >
      <Zoom />
      <Button bare icon="fit_screen" label={t("canvas.showAllF")} onClick={fit} />
      <Button
        bare
        icon="center_focus_strong"
        label={t("canvas.zoomToTheSelectionZ")}
        refusal={chosen.length > 0 ? undefined : t("canvas.nothingIsSelected")}
        onClick={() => zoomTo(chosen)}
      />
      <span className="divider" />
      <Button
        bare
        icon="auto_fix_high"
        label={t("canvas.tidyT")}
        refusal={refusal}
        onClick={() => tidy()}
      />
      <Button
        bare
        icon={direction === "LR" ? "arrow_downward" : "arrow_forward"}
        label={direction === "LR" ? t("canvas.layOutDownwards") : t("canvas.layOutToTheRight")}
        refusal={refusal}
        onClick={() => tidy(other)}
      />
      <Button
        bare
        icon="sticky_note_2"
        label={t("canvas.addANoteN")}
        refusal={refusal}
        onClick={writeNote}
      />
      <span className="divider" />
      <Button
        bare
        icon="search"
        label={t("canvas.findATaskCtrlF")}
        onClick={() => set({ dialog: "find" })}
      />
      <Button
        bare
        icon="keyboard"
        label={t("canvas.keys")}
        onClick={() => set({ dialog: "keys" })}
      />
    </Panel>
  );
});

function Zoom() {
  const zoom = useStore((state) => Math.round(state.transform[2] * 100));
  return (
    <>
      <Button bare icon="remove" label={t("canvas.zoomOut")} onClick={zoomOut} />
      <span className="zoom">{zoom} %</span>
      <Button bare icon="add" label={t("canvas.zoomIn")} onClick={zoomIn} />
    </>
  );
}
