import { Panel } from "@xyflow/react";
import { memo } from "react";
import type { Alignment, Axis } from "../document/aligning";
import { Button } from "../shared/Button";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { align, distribute, duplicate, removeSelected } from "./commands";

const ALIGNMENTS: readonly [Alignment, string, string][] = [
  ["left", t("canvas.alignLeft"), "align_horizontal_left"],
  ["centre", t("canvas.alignCentres"), "align_horizontal_center"],
  ["right", t("canvas.alignRight"), "align_horizontal_right"],
  ["top", t("canvas.alignTops"), "align_vertical_top"],
  ["middle", t("canvas.alignMiddles"), "align_vertical_center"],
  ["bottom", t("canvas.alignBottoms"), "align_vertical_bottom"],
];
const AXES: readonly [Axis, string, string][] = [
  ["across", t("canvas.equalGapsAcross"), "horizontal_distribute"],
  ["down", t("canvas.equalGapsDown"), "vertical_distribute"],
];

/** The actions for several tasks at once, shown while several are selected. */
export const SelectionBar = memo(function SelectionBar() {
  const count = useStudio((state) => state.selection.tasks.length);
  const canEdit = useStudio((state) => state.page.canEdit);
  if (count < 2 || !canEdit) return null;
  return (
    <Panel
      position="top-center"
      className="toolbar"
      role="toolbar"
      aria-label={t("canvas.selectedTasks")}
    >
      <span className="count">{t("canvas.tasks", { count })}</span>
      <span className="divider" />
      {ALIGNMENTS.map(([key, label, icon]) => (
        <Button key={key} bare icon={icon} label={label} onClick={() => align(key)} />
      ))}
      {count > 2 &&
        AXES.map(([key, label, icon]) => (
          <Button key={key} bare icon={icon} label={label} onClick={() => distribute(key)} />
        ))}
      <span className="divider" />
      <Button bare icon="file_copy" label={t("canvas.duplicateCtrlD")} onClick={duplicate} />
      <Button bare icon="delete" label={t("canvas.deleteDel")} onClick={removeSelected} />
    </Panel>
  );
});
