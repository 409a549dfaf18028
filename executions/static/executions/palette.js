// The command palette (Ctrl-K or Cmd-K): it finds objects by any ID, lists, and actions of the
// page.
(() => {
  if (window.vkPalette) return;
  window.vkPalette = true;
  const RECENT = "valkyr-recent";
  const KEPT = 6;
  let parts = null; // elements of the dialog, created when it first opens
  let asked = 0;
  let timer = 0;

  const opener = () => document.querySelector("[data-palette]");
  const make = (tag, more = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), more);
    element.append(...inside);
    return element;
  };

  function recent() {
    try {
      const kept = JSON.parse(localStorage.getItem(RECENT) || "[]");
      return Array.isArray(kept) ? kept.filter((one) => one.address?.startsWith("/")) : [];
    } catch {
      return [];
    }
  }

  // Store the pages of single objects in this browser.
  function remember() {
    if (!/\/change\/$/.test(location.pathname)) return;
    // Titles can contain values of a payload, which the browser must not store.
    const called = document.getElementById("monitor")?.dataset.called;
    const title = called || document.querySelector("h1")?.lastElementChild?.textContent.trim() || document.title;
    const here = { title, icon: "history", address: location.pathname };
    const others = recent().filter((one) => one.address !== here.address);
    try {
      localStorage.setItem(RECENT, JSON.stringify([here, ...others].slice(0, KEPT)));
    } catch {
      // The storage may be full or blocked; the palette works without it.
    }
  }

  // Return the actions in the page's header, menus and buttons; choosing one clicks it.
  function actions() {
    const found = document.querySelectorAll("#main [hx-get][hx-target='#modal-content'], #content a.vk-button, body > nav [hx-get]");
    const seen = new Set();
    return [...found].flatMap((one) => {
      const icon = one.querySelector(".material-symbols-outlined")?.textContent.trim() || "bolt";
      const title = one.textContent.replace(icon, "").trim().replace(/\s+/g, " ");
      if (!title || seen.has(title)) return [];
      seen.add(title);
      return [{ title, icon, press: one }];
    });
  }

  function open() {
    const from = opener();
    if (!from) return;
    parts ??= build(from.dataset);
    if (parts.dialog.open) return;
    parts.input.value = "";
    parts.dialog.showModal();
    show("", []);
    ask("");
  }

  function build(words) {
    const input = make("input", { type: "search", autocomplete: "off", placeholder: words.hint });
    const list = make("ul", { id: "vk-palette-list", role: "listbox" });
    const note = make("p", { className: "vk-subtle", role: "status" });
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-label": words.title, "aria-expanded": "true",
      "aria-controls": "vk-palette-list", "aria-autocomplete": "list",
    })) input.setAttribute(name, value);
    list.setAttribute("aria-label", words.title);
    const dialog = make("dialog", { className: "vk-dialog vk-palette" }, input, list, note);
    dialog.setAttribute("aria-label", words.title);
    document.body.append(dialog);
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => ask(input.value.trim()), 120);
    });
    dialog.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) move(step);
      else if (event.key === "Enter") parts.list.querySelector("[aria-selected='true']")?.click();
      else return;
      event.preventDefault();
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    return { dialog, input, list, note, words };
  }

  async function ask(term) {
    asked += 1;
    const mine = asked;
    try {
      const answer = await fetch(`${opener().dataset.palette}?q=${encodeURIComponent(term)}`, { headers: { Accept: "application/json" } });
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      const { results } = await answer.json();
      if (mine === asked) show(term, results);
    } catch {
      if (mine === asked) show(term, [], parts.words.failed);
    }
  }

  function show(term, results, failed = "") {
    const fits = (one) => one.title.toLowerCase().includes(term.toLowerCase());
    const here = actions().filter(fits).map((one) => ({ ...one, kind: parts.words.here }));
    const before = recent().filter(fits).map((one) => ({ ...one, kind: parts.words.recent }));
    const known = new Set(results.map((one) => one.address));
    const others = [...(term ? [] : before), ...here, ...(term ? before : [])];
    const all = [...(term ? results : []), ...others.filter((one) => !known.has(one.address)), ...(term ? [] : results)];
    parts.list.replaceChildren(...all.map(option));
    parts.note.textContent = failed || (all.length ? "" : parts.words.nothing);
    select(0);
  }

  function option(one, place) {
    const icon = make("span", { className: "material-symbols-outlined", textContent: one.icon });
    icon.setAttribute("aria-hidden", "true");
    const title = make("span", { textContent: one.title });
    const kind = make("span", { className: "vk-subtle", textContent: one.kind });
    const element = make("li", { id: `vk-palette-${place}` }, icon, title, kind);
    element.setAttribute("role", "option");
    element.addEventListener("click", () => {
      parts.dialog.close();
      if (one.press) one.press.click();
      else location.assign(one.address);
    });
    element.addEventListener("mousemove", () => select(place));
    return element;
  }

  function move(step) {
    const all = [...parts.list.children];
    const at = all.findIndex((one) => one.getAttribute("aria-selected") === "true");
    if (all.length) select((at + step + all.length) % all.length, true);
  }

  function select(place, scroll = false) {
    [...parts.list.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === place)));
    const chosen = parts.list.children[place];
    parts.input.setAttribute("aria-activedescendant", chosen?.id || "");
    if (scroll) chosen?.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    if (!opener()) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-palette]")) open();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", remember);
  else remember();
})();
