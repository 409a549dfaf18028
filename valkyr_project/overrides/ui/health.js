// Shows a notice on every page while a process of the installation repeatedly ends. The script asks
// every 30 s while the page is visible. Without a process supervisor, the health response does not
// contain this component.
(() => {
  // The page sets the address and the texts.
  const { src, dataset: TEXTS } = document.currentScript;
  const ADDRESS = new URL(src).hash.slice(1);
  const EVERY = 30_000;
  const AGAIN = 2_000; // after a request failed, for example while the server restarts
  let hidden = ""; // text of the notice that the user closed

  const notice = () => {
    const found = document.getElementById("vk-health");
    if (found) return found;
    const made = document.createElement("div");
    made.id = "vk-health";
    made.setAttribute("role", "alert");
    const text = document.createElement("span");
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = TEXTS.hide;
    close.addEventListener("click", () => {
      hidden = text.textContent;
      made.remove();
    });
    made.append(text, close);
    document.body.append(made);
    return made;
  };

  const show = (part) => {
    const text =
      !part || part.status === "UP"
        ? ""
        : [TEXTS.failing, part.found ? `${part.found}.` : "", part.do || TEXTS.do].filter(Boolean).join(" ");
    if (!text) hidden = "";
    if (!text || text === hidden) {
      document.getElementById("vk-health")?.remove();
      return;
    }
    const span = notice().querySelector("span");
    if (span.textContent !== text) span.textContent = text;
  };

  const look = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(ADDRESS, { headers: { Accept: "application/json" } });
      show((await answer.json()).components?.processes);
    } catch {
      setTimeout(look, AGAIN); // the page itself says that the server is unreachable
    }
  };

  look();
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
})();
