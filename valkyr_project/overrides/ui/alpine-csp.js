// Unfold names global functions in x-data; Alpine's CSP build only sees registered components.
document.addEventListener("alpine:init", () => {
  // What first-sight.js has set: Alpine sets it again at once, and removes only its own classes.
  document.documentElement.classList.remove("dark", "vk-wide");
  // For what is made after htmx has gone through the page.
  Alpine.directive("htmx", (element) => htmx.process(element));
  for (const name of ["theme", "searchForm", "searchDropdown", "searchCommand"]) {
    if (typeof window[name] === "function") Alpine.data(name, window[name]);
  }
  // The menu of a list's rows, made for a row when its button is reached. Rows are renewed later, so
  // the template is found now.
  const menu = document.getElementById("vk-row-menu");
  Alpine.data("rowMenu", () => ({
    isOpen: false,
    make() {
      const place = this.$root.querySelector("[data-menu]");
      if (!menu || place.hasChildNodes()) return;
      place.innerHTML = menu.innerHTML.replaceAll("vk-row", encodeURIComponent(this.$root.dataset.pk));
    },
  }));
  Alpine.data("unfoldBody", () => ({
    activeTab: "general",
    sidebarMobileOpen: false,
    sidebarDesktopOpen: localStorage.getItem("sidebarDesktopOpen") !== "0",
    // change_form.html binds the form's action to window.location.
    get window() {
      return { location: { pathname: location.pathname, search: location.search } };
    },
    init() {
      const current = typeof getCurrentTab === "function" ? getCurrentTab() : null;
      this.activeTab = current || this.$el.dataset.tab || "general";
      this.$watch("sidebarDesktopOpen", (open) =>
        localStorage.setItem("sidebarDesktopOpen", open ? "1" : "0"),
      );
    },
  }));
});
