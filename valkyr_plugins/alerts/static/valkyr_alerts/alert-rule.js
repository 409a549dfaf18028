// Shows the fields of an alert rule's form that belong to the chosen channel and kinds. Without
// this script, all fields are visible, and their help texts name the channel or kind.
(() => {
  const CHANNELS = { recipients: ["EMAIL"], url: ["WEBHOOK"] };
  const KINDS = {
    rate_factor: "RATE_HIGH",
    rate_least: "RATE_HIGH",
    oldest_hours: "ENTRY_OLD",
    waiting_seconds: "NO_WORKER",
    silent_seconds: "BEAT_SILENT",
  };

  const row = (name) => document.querySelector(`.field-${name}`);

  function show() {
    const channel = document.getElementById("id_channel")?.value;
    const kinds = new Set([...document.querySelectorAll("input[name=kinds]:checked")].map((box) => box.value));
    // A field with an error stays visible.
    const set = (name, wanted) => {
      const found = row(name);
      if (found) found.hidden = !wanted && !found.querySelector(".errorlist, [aria-invalid=true]");
    };
    for (const [name, wanted] of Object.entries(CHANNELS)) set(name, wanted.includes(channel));
    for (const [name, kind] of Object.entries(KINDS)) set(name, kinds.has(kind));
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!document.getElementById("id_channel")) return;
    document.addEventListener("change", show);
    show();
  });
})();
