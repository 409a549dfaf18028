/** Typed text that is not yet part of the document; it is applied before saving and leaving. */
import { useEffect } from "react";

const waiting = new Set<() => void>();

/** Apply all pending text to the document. */
export function takePending(): void {
  for (const take of waiting) take();
}

/** Call `take` before each save while the component is mounted, and when it is unmounted. */
export function usePending(take: () => void): void {
  useEffect(() => {
    waiting.add(take);
    return () => {
      waiting.delete(take);
      take();
    };
  }, [take]);
}
