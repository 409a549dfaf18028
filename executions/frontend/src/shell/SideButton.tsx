import { Button } from "../shared/Button";
import { t } from "../words/t";
import type { Key } from "../words/types";
import { NARROW, type Side, toggle, useDrawers, useNarrower } from "./drawers";

const MARKS = {
  palette: { icon: "left_panel_open", hide: "shell.hidePalette", show: "shell.showPalette" },
  inspector: {
    icon: "right_panel_open",
    hide: "shell.hideInspector",
    show: "shell.showInspector",
  },
} as const satisfies Record<Side, { icon: string; hide: Key; show: Key }>;

/** Shows and hides a side of the studio. */
export function SideButton({ side }: { side: Side }) {
  const narrow = useNarrower(NARROW);
  const shown = useDrawers((state) => (narrow ? state.drawer === side : state.columns[side]));
  const { icon, hide, show } = MARKS[side];
  return (
    <Button
      icon={shown ? icon.replace("open", "close") : icon}
      label={t(shown ? hide : show)}
      aria-expanded={shown}
      bare
      onClick={() => toggle(side, narrow)}
    />
  );
}
