import { Button } from "../shared/Button";
import { NARROW, type Side, toggle, useDrawers, useNarrower } from "./drawers";

const MARKS: Record<Side, [icon: string, what: string]> = {
  palette: ["left_panel_open", "modules"],
  inspector: ["right_panel_open", "details"],
};

/** Shows and hides a side of the studio. */
export function SideButton({ side }: { side: Side }) {
  const narrow = useNarrower(NARROW);
  const shown = useDrawers((state) => (narrow ? state.drawer === side : state.columns[side]));
  const [icon, what] = MARKS[side];
  return (
    <Button
      icon={shown ? icon.replace("open", "close") : icon}
      label={`${shown ? "Hide" : "Show"} ${what}`}
      aria-expanded={shown}
      bare
      onClick={() => toggle(side, narrow)}
    />
  );
}
