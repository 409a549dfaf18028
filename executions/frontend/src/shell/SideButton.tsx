import { Button } from "../shared/Button";
import { t } from "../words/t";
import type { Key } from "../words/types";
import { NARROW, type Side, toggle, useDrawers, useNarrower } from "./drawers";

const MARKS = {
  palette: {
    hide: { icon: "left_panel_close", words: "shell.hidePalette" },
    show: { icon: "left_panel_open", words: "shell.showPalette" },
  },
  inspector: {
    hide: { icon: "right_panel_close", words: "shell.hideInspector" },
    show: { icon: "right_panel_open", words: "shell.showInspector" },
  },
} as const satisfies Record<Side, Record<"hide" | "show", { icon: string; words: Key }>>;

/** The button that shows or hides a side of the studio. */
export function SideButton({ side }: { side: Side }) {
  const narrow = useNarrower(NARROW);
  const shown = useDrawers((state) => (narrow ? state.drawer === side : state.columns[side]));
  const mark = MARKS[side][shown ? "hide" : "show"];
  return (
    <Button
      icon={mark.icon}
      label={t(mark.words)}
      aria-expanded={shown}
      bare
      onClick={() => toggle(side, narrow)}
    />
  );
}
