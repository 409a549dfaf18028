/** The task under the mouse or with the focus, whose node shows the task's actions. */
import { type FocusEvent, type PointerEvent, useState } from "react";

export interface Pointed {
  path: string;
  node: HTMLElement;
}

interface Pointing {
  pointed: Pointed | null;
  /** Event handlers for the element around all nodes. */
  listeners: {
    onPointerOver: (event: PointerEvent) => void;
    onPointerLeave: () => void;
    onFocus: (event: FocusEvent) => void;
    onBlur: (event: FocusEvent) => void;
  };
}

/** The task under the mouse takes precedence over the focused task; touches only move the focus. */
export function usePointed(): Pointing {
  const [hovered, setHovered] = useState<Pointed | null>(null);
  const [focused, setFocused] = useState<Pointed | null>(null);
  return {
    pointed: hovered ?? focused,
    listeners: {
      onPointerOver: (event) => {
        if (event.pointerType !== "touch" && event.buttons === 0) {
          setHovered((old) => same(old, taskUnder(event.target)));
        }
      },
      onPointerLeave: () => setHovered(null),
      onFocus: (event) => setFocused((old) => same(old, taskUnder(event.target))),
      // Keep the task when the focus moves to the buttons in its node.
      onBlur: (event) => setFocused((old) => same(old, taskUnder(event.relatedTarget))),
    },
  };
}

const same = (old: Pointed | null, next: Pointed | null): Pointed | null =>
  old?.node === next?.node && old?.path === next?.path ? old : next;

function taskUnder(target: EventTarget | null): Pointed | null {
  const node = target instanceof Element ? target.closest(".react-flow__node") : null;
  const path = node instanceof HTMLElement ? node.dataset.id : undefined;
  if (path === undefined || path.startsWith("note:")) return null;
  return { path, node: node as HTMLElement };
}
