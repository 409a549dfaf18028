/** Light or dark: as chosen in the admin (`adminTheme` in localStorage), else as the system is. */
export type Theme = "light" | "dark" | "auto";

const KEY = "adminTheme";
const system = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

/** Keep the page's look as chosen, here, in the admin or in the system. */
export function followTheme(): void {
  system().addEventListener("change", apply);
  addEventListener("storage", apply);
  apply();
}

/** Choose for this browser, the admin included. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, JSON.stringify(theme));
  apply();
}

/** What was chosen; `auto` follows the system. */
export function chosenTheme(): Theme {
  try {
    const chosen: unknown = JSON.parse(localStorage.getItem(KEY) ?? '"auto"');
    return chosen === "dark" || chosen === "light" ? chosen : "auto";
  } catch {
    return "auto";
  }
}

function apply(): void {
  const chosen = chosenTheme();
  const dark = chosen === "dark" || (chosen === "auto" && system().matches);
  document.documentElement.classList.toggle("dark", dark);
}
