// What is selected: a run, or a task that has none. Kept in the address, so that it can be shared.

export class Selection {
  #listeners = [];

  constructor() {
    this.#read();
    window.addEventListener("popstate", () => {
      this.#read();
      this.#tell(null);
    });
  }

  #read() {
    const query = new URLSearchParams(location.search);
    this.run = query.get("run");
    this.task = query.get("task");
  }

  /** Call `listener(from)` after each change; `from` is what was given to `choose`. */
  watch(listener) {
    this.#listeners.push(listener);
  }

  /** Select a run by id, a task by path, or nothing. */
  choose({ run = null, task = null } = {}, from = null) {
    if (run === this.run && task === this.task) return;
    Object.assign(this, { run, task });
    const address = new URL(location.href);
    for (const [name, value] of Object.entries({ run, task })) {
      if (value) address.searchParams.set(name, value);
      else address.searchParams.delete(name);
    }
    history.replaceState(null, "", address);
    this.#tell(from);
  }

  #tell(from) {
    for (const listener of this.#listeners) listener(from);
  }
}
