/**
 * What the server draws of the page besides the live part: the buttons of what can be done now, for
 * it knows what is allowed, and the facts below. They are fetched again when the execution's state
 * changes.
 */
import { dialogIsOpen } from "./keys";

declare global {
  interface Window {
    htmx?: { process(element: Element): void };
  }
}

/** The buttons in Unfold's header or above Django's own page, and the facts. */
const BUTTONS = "#header-inner ul, .object-tools";
const FACTS = "#vk-facts";
/** How long to wait for people to leave what is to be renewed, in milliseconds. */
const AGAIN = 300;

let timer: ReturnType<typeof setTimeout> | undefined;

/** Fetch them again, once neither a menu nor a dialog of theirs is open. */
export async function renewServed(): Promise<void> {
  clearTimeout(timer);
  if (inUse()) return later();
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (inUse()) return later();
  renew(fresh, BUTTONS);
  renew(fresh, FACTS);
  // Once the admin's own scripts have put the menu's entries where they are shown.
  requestAnimationFrame(() => window.htmx?.process(document.body));
}

function later(): void {
  timer = setTimeout(renewServed, AGAIN);
}

/** Whether somebody is in a menu, a dialog or the facts, or waits for a dialog. */
const inUse = (): boolean =>
  dialogIsOpen() ||
  document.querySelector(".htmx-request, #header-inner [aria-expanded=true]") !== null ||
  document.querySelector(FACTS)?.contains(document.activeElement) === true;

/** Replace what is in a place; the keyboard stays on the same link or button, and what was opened
 * stays open. */
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
/** What tells a link or a button from the others. */
const aimOf = (one: Element): string => one.getAttribute("href") ?? one.textContent;
