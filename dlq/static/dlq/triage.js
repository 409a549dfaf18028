// Work through a list by keyboard. Off while typing, and off for who switches it off (WCAG 2.1.4).
(() => {
  const KEPT = "valkyrShortcuts";
  // Where `g g` and `g e` go: the page says it.
  const go = (key) => {
    const { groups, entries } = document.querySelector("[data-shortcuts]").dataset;
    location.assign(key === "g" ? groups : entries);
  };
  let at = -1;
  let leading = -Infinity; // when g was pressed

  const on = () => localStorage.getItem(KEPT) !== "off";
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

  // What a key does to the row one is at, else to the page: a link of the row that bears the key,
  // the operation of the row's menu, a button of the page.
  const OPERATIONS = { r: "requeue", d: "discard", a: "acknowledge", m: "note", s: "snooze" };
  function act(key) {
    const row = here();
    const pk = row?.querySelector("input.action-select")?.value;
    // A row's menu is made when its button is reached, or now.
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

  // One that is seen, else one of the menu.
  function buttons(key) {
    const all = [...document.querySelectorAll(`[data-key="${key}"]`)];
    return all.find((one) => one.offsetParent) || all[0];
  }

  function dialog() {
    const shown = document.querySelector("dialog.vk-keys");
    if (!shown || shown.open) return;
    const box = shown.querySelector("[data-keys]");
    box.checked = on();
    box.onchange = () => localStorage.setItem(KEPT, box.checked ? "on" : "off");
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
