// Updates lists: visible rows change in place, and new rows are counted above the list.
//
// The script reloads the page's HTML while the page is visible. It does not move rows, because the
// user may be about to click one; a button shows the new rows.
(() => {
  if (window.vkLive) return;
  window.vkLive = true;
  const PAUSED = "valkyr-live-paused";
  const PAGES = ["p", "next", "previous"]; // parameters of all pages except the first
  const seen = new Map(); // each cell's HTML as the server last sent it, by row and column
  let strip = null;
  let asking = false;

  const rows = (page) => [...page.querySelectorAll("#result_list tbody tr")].filter((row) => key(row));
  const key = (row) => row.querySelector("input.action-select")?.value || row.querySelector("a[href]")?.getAttribute("href");
  let chosen = false; // where the browser blocks its storage, until the page is closed
  const paused = () => {
    try {
      return sessionStorage.getItem(PAUSED) === "1";
    } catch {
      return chosen;
    }
  };
  const pause = (pausing) => {
    chosen = pausing;
    try {
      sessionStorage.setItem(PAUSED, pausing ? "1" : "0");
    } catch {
      // The storage is full or blocked.
    }
  };
  const first = () => !PAGES.some((name) => new URLSearchParams(location.search).has(name));

  // Do not replace a cell that the user is using.
  const used = (cell) =>
    cell.contains(document.activeElement) || cell.querySelector(".action-select, [aria-expanded='true'], details[open]");

  function renew(row, fresh) {
    for (const [place, cell] of [...fresh.cells].entries()) {
      const shown = row.cells[place];
      const name = `${key(fresh)} ${place}`;
      const before = seen.get(name);
      seen.set(name, cell.innerHTML);
      const same = before === undefined ? shown?.textContent === cell.textContent : before === cell.innerHTML;
      if (same || !shown || used(shown)) continue;
      const made = document.importNode(cell, true);
      shown.replaceWith(made);
      window.htmx?.process(made);
    }
  }

  function say(added) {
    const button = strip.querySelector("[data-new]");
    const text = added === 1 ? strip.dataset.one : strip.dataset.many.replace("{number}", String(added));
    button.hidden = added === 0;
    if (added && button.textContent !== text) button.textContent = text;
  }

  // Return the rows of a list from the server; null without a response.
  async function read(address) {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return null;
    return rows(new DOMParser().parseFromString(await answer.text(), "text/html"));
  }

  async function look() {
    if (asking || paused() || document.hidden || document.querySelector("dialog[open]")) return;
    asking = true;
    try {
      const fresh = await read(location.href);
      if (!fresh) return;
      const shown = new Map(rows(document).map((row) => [key(row), row]));
      const here = new Set(fresh.map(key));
      if (first()) say(fresh.filter((row) => !shown.has(key(row))).length);
      // Rows that no longer match the filter get their present state from the unfiltered list.
      const left = location.search && [...shown.keys()].some((one) => !here.has(one));
      const others = left ? ((await read(location.pathname)) ?? []).filter((row) => !here.has(key(row))) : [];
      for (const row of [...fresh, ...others]) if (shown.has(key(row))) renew(shown.get(key(row)), row);
    } catch {
      // The network failed; the next request may succeed.
    } finally {
      asking = false;
    }
  }

  function mark(toggle) {
    toggle.setAttribute("aria-pressed", String(paused()));
    toggle.lastElementChild.textContent = paused() ? strip.dataset.paused : strip.dataset.live;
    toggle.firstElementChild.textContent = paused() ? "pause" : "sync";
  }

  document.addEventListener("DOMContentLoaded", () => {
    strip = document.querySelector("[data-live]");
    if (!strip) return;
    strip.hidden = false;
    const toggle = strip.querySelector("[data-toggle]");
    mark(toggle);
    toggle.addEventListener("click", () => {
      pause(!paused());
      mark(toggle);
      look();
    });
    strip.querySelector("[data-new]").addEventListener("click", () => location.reload());
    setInterval(look, Number(strip.dataset.seconds) * 1000);
    document.addEventListener("visibilitychange", look);
  });
})();
