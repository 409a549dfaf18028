/** Says something to who hears the page; at most one sentence a second, the newest wins. */
let last = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

export function announce(sentence: string): void {
  if (typeof document === "undefined") return; // outside a browser nobody listens
  clearTimeout(waiting);
  const wait = Math.max(0, last + 1000 - Date.now());
  waiting = setTimeout(() => {
    last = Date.now();
    const region = document.getElementById("studio-live");
    if (region) region.textContent = sentence;
  }, wait);
}
