// Unfold names global functions in x-data; Alpine's CSP build only sees registered components.
document.addEventListener("alpine:init", () => {
  for (const name of ["theme", "searchForm", "searchDropdown", "searchCommand"]) {
    if (typeof window[name] === "function") Alpine.data(name, window[name]);
  }
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
