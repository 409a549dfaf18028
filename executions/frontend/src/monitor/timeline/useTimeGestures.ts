import { useEffect } from "react";
import { panTime, zoomTime } from "./viewing";

/** Zoom the time axis with Ctrl and the wheel, and move it by sideways scrolling or by dragging. */
export function useTimeGestures(
  scroller: { current: HTMLElement | null },
  axis: { current: HTMLElement | null },
): void {
  useEffect(() => {
    const [box, line] = [scroller.current, axis.current];
    if (!box || !line) return;
    const turned = (event: WheelEvent): void => wheel(event, line);
    box.addEventListener("wheel", turned, { passive: false });
    const letGo = drags(line);
    return () => {
      box.removeEventListener("wheel", turned);
      letGo();
    };
  }, [scroller, axis]);
}

function wheel(event: WheelEvent, axis: HTMLElement): void {
  const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!event.ctrlKey && !event.metaKey && !sideways) return;
  event.preventDefault();
  const { left, width } = axis.getBoundingClientRect();
  if (sideways && !event.ctrlKey) panTime((event.deltaX || event.deltaY) / width);
  else {
    const point = Math.min(1, Math.max(0, (event.clientX - left) / width));
    zoomTime(Math.exp(-event.deltaY / 300), point);
  }
}

function drags(axis: HTMLElement): () => void {
  let from: number | null = null;
  const over = new AbortController();
  const { signal } = over;
  const taken = (event: PointerEvent): void => {
    from = event.clientX;
    axis.setPointerCapture(event.pointerId);
  };
  const dragged = (event: PointerEvent): void => {
    if (from === null) return;
    panTime((from - event.clientX) / axis.clientWidth);
    from = event.clientX;
  };
  const left = (): void => {
    from = null;
  };
  axis.addEventListener("pointerdown", taken, { signal });
  axis.addEventListener("pointermove", dragged, { signal });
  axis.addEventListener("pointerup", left, { signal });
  axis.addEventListener("pointercancel", left, { signal });
  return () => over.abort();
}
