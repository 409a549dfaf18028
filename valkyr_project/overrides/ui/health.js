// A notice on every page while a process of the stack keeps ending. Asked for again every half
// minute while somebody looks; where nobody supervises processes the health answer has no such part.
(() => {
  const ADDRESS = new URL(document.currentScript.src).hash.slice(1); // the page says it
  const EVERY = 30_000;
  const AGAIN = 2_000; // after no answer, as while the server restarts
  let hidden = ""; // the notice that this person closed

  const notice = () => {
    const found = document.getElementById("vk-health");
    if (found) return found;
    const made = document.createElement("div");
    made.id = "vk-health";
    made.setAttribute("role", "alert");
    const text = document.createElement("span");
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Hide";
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
        : ["A process of this installation is failing:", part.found ? `${part.found}.` : "", part.do || "Tell an administrator."]
            .filter(Boolean)
            .join(" ");
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
      setTimeout(look, AGAIN); // the page says by itself that the server is away
    }
  };

  look();
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
})();
