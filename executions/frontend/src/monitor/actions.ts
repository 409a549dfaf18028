/**
 * The parts of the page that the server renders besides the live part: the action buttons, because
 * the server knows which actions are allowed, and the facts. They are loaded again when the
 * execution's state changes.
 */
import { dialogIsOpen } from "./keys";

declare global {
  interface Window {
    htmx?: { process(element: Element): void };
  }
}

/** The buttons in Unfold's header or above the page of Django's own admin, and the facts. */
const BUTTONS = "#header-inner ul, .object-tools";
const FACTS = "#vk-facts";
/** Time until the next try while the user uses these parts, in milliseconds. */
const AGAIN = 300;

let timer: ReturnType<typeof setTimeout> | undefined;

/** Load these parts again, but wait while one of their menus or dialogs is open. */
export async function renewServed(): Promise<void> {
  clearTimeout(timer);
  if (inUse()) return later();
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (inUse()) return later();
  renew(fresh, BUTTONS);
  renew(fresh, FACTS);
  // In the next frame, after the admin's scripts moved the menu's entries to their place.
  requestAnimationFrame(() => window.htmx?.process(document.body));
}

function later(): void {
  timer = setTimeout(renewServed, AGAIN);
}

/** Whether the user is in a menu, a dialog or the facts, or waits for a dialog. */
const inUse = (): boolean =>
  dialogIsOpen() ||
  document.querySelector(".htmx-request, #header-inner [aria-expanded=true]") !== null ||
  document.querySelector(FACTS)?.contains(document.activeElement) === true;

/** Replace an element's content; the focus and open `details` are preserved. */
function renew(fresh: Document, place: string): void {
  const [old, young] = [document.querySelector(place), fresh.querySelector(place)];
  if (!old || !young) return;
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const opened = new Map(
    [...old.querySelectorAll("details")].map((one) => [nameOf(one), one.open] as const),
  );
  for (const one of young.querySelectorAll("details"))
    one.open = opened.get(nameOf(one)) ?? one.open;
  old.replaceChildren(...young.childNodes);
  if (!focused) return;
  const those = [...old.querySelectorAll<HTMLElement>("a[href], button")];
  those.find((one) => aimOf(one) === aimOf(focused))?.focus();
}

const nameOf = (one: Element): string => one.querySelector("summary")?.textContent ?? "";
/** Return the address or text that identifies a link or button. */
const aimOf = (one: Element): string => one.getAttribute("href") ?? one.textContent;
