import { Panel } from "@xyflow/react";
import { memo } from "react";
import type { Alignment, Axis } from "../document/aligning";
import { Button } from "../shared/Button";
import { useStudio } from "../store/studio";
import { align, distribute, duplicate, removeSelected } from "./commands";
import { many } from "./names";

const ALIGNMENTS: readonly [Alignment, string, string][] = [
  ["left", "Align left", "align_horizontal_left"],
  ["centre", "Align centres", "align_horizontal_center"],
  ["right", "Align right", "align_horizontal_right"],
  ["top", "Align tops", "align_vertical_top"],
  ["middle", "Align middles", "align_vertical_center"],
  ["bottom", "Align bottoms", "align_vertical_bottom"],
];
const AXES: readonly [Axis, string, string][] = [
  ["across", "Equal gaps across", "horizontal_distribute"],
  ["down", "Equal gaps down", "vertical_distribute"],
];

/** What can be done with several tasks at once; there while several are selected. */
export const SelectionBar = memo(function SelectionBar() {
  const count = useStudio((state) => state.selection.tasks.length);
  const canEdit = useStudio((state) => state.page.canEdit);
  if (count < 2 || !canEdit) return null;
  return (
    <Panel position="top-center" className="toolbar" role="toolbar" aria-label="Selected tasks">
      <span className="count">{many(count, "task")}</span>
      <span className="divider" />
      {ALIGNMENTS.map(([key, label, icon]) => (
        <Button key={key} bare icon={icon} label={label} onClick={() => align(key)} />
      ))}
      {count > 2 &&
        AXES.map(([key, label, icon]) => (
          <Button key={key} bare icon={icon} label={label} onClick={() => distribute(key)} />
        ))}
      <span className="divider" />
      <Button bare icon="file_copy" label="Duplicate (Ctrl+D)" onClick={duplicate} />
      <Button bare icon="delete" label="Delete (Del)" onClick={removeSelected} />
    </Panel>
  );
});
