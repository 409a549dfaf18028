/** Announce a sentence to screen readers: one per second; newer ones replace a waiting one. */
let last = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

export function announce(sentence: string): void {
  if (typeof document === "undefined") return; // There is no page, as in tests.
  clearTimeout(waiting);
  const wait = Math.max(0, last + 1000 - Date.now());
  waiting = setTimeout(() => {
    last = Date.now();
    const region = document.getElementById("studio-live");
    if (region) region.textContent = sentence;
  }, wait);
}
