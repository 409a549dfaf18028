// What a screen reader is told: at most one sentence a second, the newest of each kind.

export class Announcer {
  #waiting = [];
  #timer = 0;

  constructor(element) {
    this.element = element;
  }

  say(sentence) {
    this.#waiting.push(sentence);
    if (!this.#timer) this.#next();
  }

  #next() {
    const waiting = this.#waiting.splice(0);
    this.#timer = 0;
    if (!waiting.length) return;
    const rest = waiting.length - 3;
    this.element.textContent = waiting.slice(-3).join(" ") + (rest > 0 ? ` And ${rest} more changes.` : "");
    this.#timer = setTimeout(() => this.#next(), 1000);
  }
}
