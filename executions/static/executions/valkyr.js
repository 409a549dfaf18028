// Small functions of the admin: copying IDs, the focus when a dialog opens or closes, and updates
// of the dashboard.
(() => {
  let opener = null;

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    event.preventDefault();
    const copied = document.querySelector("[data-copied]")?.dataset.copied;
    const done = () => {
      if (copied) button.setAttribute("aria-label", copied);
      button.querySelector("span").textContent = "check";
    };
    if (navigator.clipboard) navigator.clipboard.writeText(button.dataset.copy).then(done, () => {});
  });

  document.addEventListener("htmx:beforeRequest", (event) => {
    const from = event.target;
    if (from.getAttribute("hx-target") === "#modal-content") opener = from;
    if (from.tagName === "FORM") from.querySelectorAll("button[type=submit]").forEach((b) => (b.disabled = true));
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.target.tagName === "FORM")
      event.target.querySelectorAll("button[type=submit]").forEach((b) => (b.disabled = false));
  });
  // A user who focused a field of the dialog before it is shown is already typing there, so do not
  // move the focus. The same applies when another part of the page is updated.
  let held = null; // focused element when the content arrived
  const dialogOf = (event) => event.target.closest("#modal-content")?.querySelector("#dialog");
  document.addEventListener("htmx:afterSwap", (event) => {
    if (dialogOf(event)) held = document.activeElement;
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const dialog = dialogOf(event);
    if (!dialog) return;
    const invalid = dialog.querySelector(".errors textarea, .errors input:not([type=hidden])");
    const first = dialog.querySelector("textarea, select, input:not([type=hidden])");
    const wanted = invalid || first || dialog.querySelector("button[type=submit], [data-copy]");
    const enter = () => {
      const at = document.activeElement;
      if (at === held || !dialog.contains(at)) wanted?.focus();
    };
    // The dialog is shown shortly after its content arrives.
    requestAnimationFrame(() => requestAnimationFrame(enter));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !opener) return;
    // The page may have replaced the opener meanwhile, or the opener's menu may be closed.
    const from = document.contains(opener) ? opener : document.getElementById(opener.id);
    const menu = document.querySelector("#main button[aria-haspopup='menu']");
    (from?.checkVisibility() === false ? from.closest("details")?.querySelector("summary") || menu : from)?.focus();
    opener = null;
  });

  // Update the dashboard's figures while the page is visible, unless the user paused this.
  let paused = false;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-pause]");
    if (!button) return;
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? button.dataset.resume : button.dataset.pause;
  });
  const fetched = async (address) => {
    const answer = await fetch(address).catch(() => null);
    return answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  };
  const renew = async (asked) => {
    const figures = document.querySelector("[data-refresh]");
    if (!figures || (!asked && (paused || document.hidden || "busy" in figures.dataset))) return;
    if (!asked && document.activeElement?.closest("[data-refresh] form")) return;
    // Do not move the focus of a user who is in these figures.
    if (!asked && "keepFocus" in figures.dataset && figures.contains(document.activeElement)) return;
    const here = location.pathname + location.search;
    if (window.htmx) return htmx.ajax("GET", here, { target: "#figures", select: "#figures", swap: "outerHTML" });
    const fresh = (await fetched(here))?.getElementById("figures"); // Django's own admin has no htmx
    if (fresh) figures.replaceWith(document.importNode(fresh, true));
  };
  window.addEventListener("load", () => {
    const figures = document.querySelector("[data-refresh]");
    if (!figures) return;
    setInterval(() => renew(false), Number(figures.dataset.refresh) * 1000);
    // A script of the page, or navigation in the browser's history, requested other figures.
    document.addEventListener("valkyr:renew", () => renew(true));
    addEventListener("popstate", () => renew(true));
  });
})();
