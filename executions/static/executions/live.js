// Lists stay current: rows in sight change in place, and new rows are counted above the list.
//
// The page reads itself again while somebody looks at it. It moves no row: new ones would shift
// what is about to be clicked, so a button shows them.
(() => {
  if (window.vkLive) return;
  window.vkLive = true;
  const PAUSED = "valkyr-live-paused";
  const PAGES = ["p", "next", "previous"]; // parameters of other pages than the first
  const seen = new Map(); // a cell's HTML as the server last sent it, by row and place
  let strip = null;
  let asking = false;

  const rows = (page) => [...page.querySelectorAll("#result_list tbody tr")].filter((row) => key(row));
  const key = (row) => row.querySelector("input.action-select")?.value || row.querySelector("a[href]")?.getAttribute("href");
  const paused = () => sessionStorage.getItem(PAUSED) === "1";
  const first = () => !PAGES.some((name) => new URLSearchParams(location.search).has(name));

  // A cell that somebody uses now stays as it is.
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

  // The rows of a list as the server has them now; null without an answer.
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
      // A row that no longer fits the filter shows its present state, from the whole list.
      const left = location.search && [...shown.keys()].some((one) => !here.has(one));
      const others = left ? ((await read(location.pathname)) ?? []).filter((row) => !here.has(key(row))) : [];
      for (const row of [...fresh, ...others]) if (shown.has(key(row))) renew(shown.get(key(row)), row);
    } catch {
      // The network is away; the next look may succeed.
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
      sessionStorage.setItem(PAUSED, paused() ? "0" : "1");
      mark(toggle);
      look();
    });
    strip.querySelector("[data-new]").addEventListener("click", () => location.reload());
    setInterval(look, Number(strip.dataset.seconds) * 1000);
    document.addEventListener("visibilitychange", look);
  });
})();
