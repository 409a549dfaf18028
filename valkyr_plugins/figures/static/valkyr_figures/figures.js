// Tables under charts that a person has opened stay open when the figures are renewed.
(() => {
  let open = new Set();
  const folds = () => [...document.querySelectorAll("details[data-keep]")];

  document.addEventListener("htmx:beforeSwap", () => {
    open = new Set(folds().filter((fold) => fold.open).map((fold) => fold.dataset.keep));
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const fold of folds()) fold.open = fold.open || open.has(fold.dataset.keep);
  });
})();
