/**
 * The buttons of what can be done now, which are the server's: it knows what is allowed and why
 * the rest is not. They are fetched anew when the execution's state changes, and follow the
 * selection.
 */
import { t } from "../words/t";
import type { Run } from "./runs";

declare global {
  interface Window {
    htmx?: {
      ajax(method: string, address: string, context: Record<string, string>): void;
      process(element: Element): void;
    };
  }
}

const bar = (): HTMLElement | null => document.getElementById("vm-actions");

/** Fetch them anew. One that was just pressed is kept until its dialog is there: nobody else would
 * open it. */
export function renewActions(): void {
  if (renewedLater()) return;
  const context = { target: "#vm-actions", select: "#vm-actions", swap: "outerHTML" };
  window.htmx?.ajax("GET", location.pathname, context);
}

/** Whether one was pressed whose dialog is not there yet; they are fetched once it is. */
function renewedLater(): boolean {
  const pressed = bar()?.querySelector(".htmx-request");
  pressed?.addEventListener("htmx:afterRequest", renewActions, { once: true });
  return Boolean(pressed);
}

// One may also be pressed while they are being fetched.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event as CustomEvent<{ target: Element; shouldSwap: boolean }>;
  if (detail.target.id === "vm-actions" && renewedLater()) detail.shouldSwap = false;
});

/** With a run selected, a fork begins with its step, and the studio opens to change the workflow. */
export function pointActions(run: Run | null): void {
  const button = bar()?.querySelector<HTMLElement>("[data-fork]");
  if (button) pointFork(button, run);
  const link = bar()?.querySelector<HTMLAnchorElement>("[data-change]");
  if (!link) return;
  link.hidden = run === null;
  if (run === null) return;
  const address = new URL(link.href);
  address.searchParams.set("fork", run.stepPath);
  link.href = address.href;
}

function pointFork(button: HTMLElement, run: Run | null): void {
  const plain = button.dataset.fork ?? "";
  const address = run ? `${plain}?step=${encodeURIComponent(run.stepPath)}` : plain;
  if (button.getAttribute("hx-get") === address) return;
  button.setAttribute("hx-get", address);
  button.setAttribute("href", address);
  const words = button.lastChild;
  if (words) words.textContent = run ? t("monitor.forkFromHere") : t("monitor.fork");
  window.htmx?.process(button);
}
