import { useEffect, useState } from "react";

/** Renders anew every so many milliseconds while the page is seen; 0 is never. Counts the times. */
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
