import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "../shared/Button";
import { t } from "../words/t";
import { closeDrawer, NARROW, type Side, useDrawers, useNarrower } from "./drawers";

const NAMES: Record<Side, string> = { palette: t("shell.modules"), inspector: t("shared.details") };
const CLOSE: Record<Side, string> = {
  palette: t("shell.closePalette"),
  inspector: t("shell.closeInspector"),
};

/**
 * A side of the studio: a column, or, below 900 px, a drawer that Escape or a click outside closes.
 *
 * The content of a hidden side stays mounted, so that typed text is not lost.
 */
export function SidePanel({ side, children }: { side: Side; children: ReactNode }) {
  const narrow = useNarrower(NARROW);
  const shown = useDrawers((state) => (narrow ? state.drawer === side : state.columns[side]));
  const panel = useRef<HTMLDivElement>(null);
  const drawn = narrow && shown;
  useEffect(() => {
    if (!drawn) return;
    const before = document.activeElement;
    const inside = panel.current;
    inside?.focus();
    const pressed = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented) closeDrawer();
    };
    inside?.addEventListener("keydown", pressed);
    return () => {
      inside?.removeEventListener("keydown", pressed);
      const at = document.activeElement;
      const lost = at === document.body || inside?.contains(at);
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [drawn]);
  return (
    <div
      ref={panel}
      className={`side ${side}-side${narrow ? " drawer" : ""}`}
      hidden={!shown}
      tabIndex={drawn ? -1 : undefined}
    >
      {drawn && (
        <div className="drawer-head">
          <strong>{NAMES[side]}</strong>
          <Button icon="close" label={CLOSE[side]} bare onClick={closeDrawer} />
        </div>
      )}
      {children}
    </div>
  );
}

/** The backdrop of an open drawer. */
export function Veil() {
  const narrow = useNarrower(NARROW);
  const drawer = useDrawers((state) => state.drawer);
  if (!narrow || drawer === null) return null;
  return <div className="veil" aria-hidden="true" onPointerDown={closeDrawer} />;
}
