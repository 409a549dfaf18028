/**
 * Copy the theme of Django's own admin, which is an attribute of the page, to the class `dark`,
 * which Unfold and our style sheets use.
 */
export function followDjangosTheme(): void {
  if (!document.body.classList.contains("vk-plain")) return;
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const wear = (): void => {
    const { theme } = root.dataset;
    root.classList.toggle("dark", theme === "dark" || (theme !== "light" && system.matches));
  };
  wear();
  system.addEventListener("change", wear);
  new MutationObserver(wear).observe(root, { attributeFilter: ["data-theme"] });
}
