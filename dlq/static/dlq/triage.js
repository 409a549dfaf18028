// Keyboard shortcuts for lists. They do not work while the user types, and can be disabled (WCAG
// 2.1.4).
(() => {
  const KEPT = "valkyrShortcuts";
  // `g g` and `g e` go to the addresses in the page.
  const go = (key) => {
    const { groups, entries } = document.querySelector("[data-shortcuts]").dataset;
    location.assign(key === "g" ? groups : entries);
  };
  let at = -1;
  let leading = -Infinity; // time when `g` was pressed, in milliseconds

  let chosen = true; // where the browser blocks its storage, until the page is closed
  const on = () => {
    try {
      return localStorage.getItem(KEPT) !== "off";
    } catch {
      return chosen;
    }
  };
  const choose = (checked) => {
    chosen = checked;
    try {
      localStorage.setItem(KEPT, checked ? "on" : "off");
    } catch {
      // The storage is full or blocked.
    }
  };
  const rows = () => [...document.querySelectorAll("#result_list tr.data-row")];
  const typing = (element) =>
    element.closest("input:not([type=checkbox]), textarea, select, [contenteditable=true], dialog, [role=dialog], [role=menu]");

  function move(step) {
    const all = rows();
    if (!all.length) return;
    const held = all.findIndex((row) => row.contains(document.activeElement));
    at = Math.max(0, Math.min(all.length - 1, (held >= 0 ? held : at) + step));
    all.forEach((row, index) => row.classList.toggle("vk-here", index === at));
    all[at].querySelector("th a, td a")?.focus({ preventScroll: true });
    all[at].scrollIntoView({ block: "center" });
  }

  const here = () => rows().find((row) => row.contains(document.activeElement)) || rows()[at];

  // A key acts on the current row, else on the page. It clicks the row's link with this key, the
  // operation in the row's menu, or a button of the page.
  const OPERATIONS = { r: "requeue", d: "discard", a: "acknowledge", m: "note", s: "snooze" };
  function act(key) {
    const row = here();
    const pk = row?.querySelector("input.action-select")?.value;
    // A row's menu is created when its button is reached, so create it now.
    const menu = OPERATIONS[key] && row?.querySelector("[data-menu]:empty");
    if (menu) {
      menu.parentElement.dispatchEvent(new Event("pointerenter"));
      if (menu.hasChildNodes()) {
        setTimeout(() => act(key));
        return;
      }
    }
    const found =
      row?.querySelector(`[data-row-key="${key}"]`) ||
      (pk && OPERATIONS[key] && document.querySelector(`a[hx-get*="/${pk}/${OPERATIONS[key]}"]`)) ||
      buttons(key);
    found?.click();
  }

  // Return the visible button, or else the one in a menu.
  function buttons(key) {
    const all = [...document.querySelectorAll(`[data-key="${key}"]`)];
    return all.find((one) => one.offsetParent) || all[0];
  }

  function dialog() {
    const shown = document.querySelector("dialog.vk-keys");
    if (!shown || shown.open) return;
    const box = shown.querySelector("[data-keys]");
    box.checked = on();
    box.onchange = () => choose(box.checked);
    shown.querySelector("[data-close]").onclick = () => shown.close();
    shown.showModal();
  }

  const KEYS = {
    j: () => move(1),
    k: () => move(-1),
    x: () => here()?.querySelector("input.action-select")?.click(),
    o: () => here()?.querySelector("th a, td a")?.click(),
    "/": () => document.getElementById("searchbar")?.focus(),
    "?": dialog,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !on() || typing(event.target)) return;
    if (event.key === "g" || (event.key === "e" && Date.now() - leading < 1000)) {
      if (Date.now() - leading < 1000) go(event.key);
      leading = Date.now();
      return;
    }
    const known = KEYS[event.key];
    if (known) {
      event.preventDefault();
      known();
    } else if (/^[a-z0-9]$/.test(event.key)) act(event.key);
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-shortcuts]")) dialog();
  });
  document.documentElement.classList.add("vk-scripted");
})();
