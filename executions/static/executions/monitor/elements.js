// Makes elements. Text is always text: nothing that came from a run is ever read as HTML.

/** An element; `on` are listeners by event, `text` its text, the rest attributes (null: none). */
export function el(tag, { on = {}, text = null, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  if (text !== null) made.textContent = text;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** An icon of the admin's font, hidden from screen readers: a word stands beside it. */
export const icon = (name) => el("span", { class: "material-symbols-outlined", "aria-hidden": "true", text: name });

/** A state's mark, as the admin's pages show it. */
export const mark = ({ word, icon: name, colour }) => el("span", { class: `vk-state vk-state-${colour}` }, icon(name), word);

/** A button with an icon whose name is told and shown on hover. */
export const iconButton = (name, label, press, more = {}) =>
  el("button", { type: "button", class: "vm-button", "aria-label": label, title: label, on: { click: press }, ...more }, icon(name));

/** A link as the admin's pages have them. */
export const link = (href, text) => el("a", { class: "vk-link", href, text });

/** Sets a text only where it changed, so that nothing is laid out in vain. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
