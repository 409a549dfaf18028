/** What is typed but not yet part of the document; asked for before anything is saved or left. */
import { useEffect } from "react";

const waiting = new Set<() => void>();

/** Make all that is typed part of the document now. */
export function takePending(): void {
  for (const take of waiting) take();
}

/** While the component is shown, `take` is called before saving, and when the component goes. */
export function usePending(take: () => void): void {
  useEffect(() => {
    waiting.add(take);
    return () => {
      waiting.delete(take);
      take();
    };
  }, [take]);
}
