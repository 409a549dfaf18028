// The keys of the page. Letters act only where nothing is typed and no dialog is open.

const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;
const dialogOpen = () => {
  const box = document.querySelector("#modal-content")?.parentElement;
  return Boolean(box && box.offsetParent !== null && getComputedStyle(box).display !== "none" && box.querySelector("#dialog"));
};

/** Listen; `acts` are functions by key. */
export function listen(acts) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (typing(event.target) || dialogOpen()) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
