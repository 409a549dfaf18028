/** The theme, as chosen in the admin (`adminTheme` in localStorage), else as in the system. */
export type Theme = "light" | "dark" | "auto";

const KEY = "adminTheme";
const system = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

/** Apply the theme, and follow changes here, in the admin and in the system. */
export function followTheme(): void {
  system().addEventListener("change", apply);
  addEventListener("storage", apply);
  apply();
}

/** Choose the theme of this browser, including the admin. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, JSON.stringify(theme));
  apply();
}

/** Return the chosen theme; `auto` follows the system. */
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
