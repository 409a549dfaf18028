"""Pages of figures; importing the package registers them."""

from valkyr_plugins.figures.admin import home, workflow  # noqa: F401 - importing registers
