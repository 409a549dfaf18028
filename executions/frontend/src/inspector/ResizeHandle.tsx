import type { KeyboardEvent, PointerEvent } from "react";
import { t } from "../words/t";
import { LEAST, MOST, setWidth, useView } from "./view";

const STEP = 20;

/** The left edge of the inspector, which can be dragged or moved with the arrow keys. */
export function ResizeHandle() {
  const width = useView((state) => state.width);
  const held = (event: PointerEvent<HTMLDivElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const moved = (event: PointerEvent<HTMLDivElement>): void => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const right = event.currentTarget.parentElement?.getBoundingClientRect().right ?? innerWidth;
    setWidth(right - event.clientX);
  };
  const pressed = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowLeft" ? STEP : event.key === "ArrowRight" ? -STEP : 0;
    if (step === 0) return;
    event.preventDefault();
    setWidth(width + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter can be moved, which a rule cannot
    <div
      className="resize"
      role="separator"
      aria-label={t("inspector.widthOfTheDetails")}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      onPointerDown={held}
      onPointerMove={moved}
      onKeyDown={pressed}
    />
  );
}
