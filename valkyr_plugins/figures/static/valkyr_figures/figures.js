// Charts of the home page and of a workflow: dragging over a chart selects a period.
//
// The period is in the URL. The server therefore applies it to the charts, the numbers and the
// links to lists, and updates of the figures keep it. Updates also keep tables that the user
// opened.
(() => {
  let open = new Set();
  let drag = null; // { plot, axis, from, to } while the pointer is down; `from` and `to` are slots
  const folds = () => [...document.querySelectorAll("details[data-keep]")];

  document.addEventListener("htmx:beforeSwap", () => {
    open = new Set(folds().filter((fold) => fold.open).map((fold) => fold.dataset.keep));
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const fold of folds()) fold.open = fold.open || open.has(fold.dataset.keep);
  });

  function slotAt({ plot, axis }, x) {
    const { left, width } = plot.getBoundingClientRect();
    const slots = Number(axis.dataset.slots);
    return Math.min(slots - 1, Math.max(0, Math.floor(((x - left) / width) * slots)));
  }

  // Return the first and the last slot of a drag.
  const bounds = ({ from, to }) => [Math.min(from, to), Math.max(from, to)];

  function draw() {
    const [first, last] = bounds(drag);
    for (const plot of drag.axis.querySelectorAll(".vk-plot-area")) {
      const all = plot.viewBox.baseVal.width;
      const slot = all / Number(drag.axis.dataset.slots);
      plot.querySelector("[data-side=before]").setAttribute("width", first * slot);
      const after = plot.querySelector("[data-side=after]");
      after.setAttribute("x", (last + 1) * slot);
      after.setAttribute("width", all - (last + 1) * slot);
    }
  }

  function select() {
    const [first, last] = bounds(drag);
    const { start, seconds } = drag.axis.dataset;
    const time = (slot) => `${new Date(Date.parse(start) + slot * seconds * 1000).toISOString().slice(0, 16)}Z`;
    const address = new URL(location.href);
    address.searchParams.set("from", time(first));
    address.searchParams.set("to", time(last + 1));
    history.pushState(null, "", address);
    document.dispatchEvent(new Event("valkyr:renew"));
  }

  // End the drag; while it lasted, the figures were not updated.
  function end() {
    document.getElementById("figures")?.removeAttribute("data-busy");
    drag = null;
  }

  document.addEventListener("pointerdown", (event) => {
    const plot = event.target.closest?.("[data-axis] .vk-plot-area");
    if (!plot || event.button !== 0) return;
    event.preventDefault();
    plot.setPointerCapture(event.pointerId);
    drag = { plot, axis: plot.closest("[data-axis]") };
    drag.from = drag.to = slotAt(drag, event.clientX);
    document.getElementById("figures")?.setAttribute("data-busy", "");
    draw();
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.to = slotAt(drag, event.clientX);
    draw();
  });
  document.addEventListener("pointerup", () => {
    if (!drag) return;
    select();
    end();
  });
  document.addEventListener("pointercancel", () => {
    if (!drag) return;
    end();
    document.dispatchEvent(new Event("valkyr:renew"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !drag) return;
    end();
    document.dispatchEvent(new Event("valkyr:renew"));
  });
})();
