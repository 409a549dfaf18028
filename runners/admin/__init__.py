"""Admin pages of this app; importing the package registers them."""

from runners.admin import approvals, explain, panels, run, runner  # noqa: F401 - importing registers
