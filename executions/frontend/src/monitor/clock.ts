import { useEffect, useState } from "react";

/**
 * Render again every `period` milliseconds while the page is visible, or never if `period` is 0;
 * return the number of times.
 */
export function useTick(period: number): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    if (period === 0) return;
    const timer = setInterval(() => {
      if (!document.hidden) setTick((count) => count + 1);
    }, period);
    return () => clearInterval(timer);
  }, [period]);
  return tick;
}
