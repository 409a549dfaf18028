// Tabs, as the ARIA practices have them: arrows move, the chosen one alone is in the tab order.
import { el } from "./elements.js";

export class Tabs {
  constructor(list, body, { label, changed }) {
    Object.assign(this, { list, body, changed, names: [], current: "" });
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", label);
    body.setAttribute("role", "tabpanel");
    body.tabIndex = 0;
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The tabs there are; the one that was chosen stays where it is among them. */
  offer(names) {
    if (names.join() === this.names.join()) return;
    this.names = names;
    if (!names.includes(this.current)) this.current = names[0];
    this.list.replaceChildren(
      ...names.map((name) => el("button", { type: "button", role: "tab", id: `vm-tab-${name.toLowerCase()}`, "aria-controls": this.body.id, text: name, on: { click: () => this.choose(name) } })),
    );
    this.#mark();
  }

  choose(name) {
    if (!this.names.includes(name)) return;
    this.current = name;
    this.#mark();
    this.changed();
  }

  #mark() {
    for (const tab of this.list.children) {
      const chosen = tab.textContent === this.current;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen) this.body.setAttribute("aria-labelledby", tab.id);
    }
  }

  #key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (this.names.indexOf(this.current) + step + this.names.length) % this.names.length;
    this.choose(this.names[next]);
    this.list.children[next].focus();
  }
}
