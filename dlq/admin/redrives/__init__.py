"""The pages of redrives: make one, see what it would do, start it, watch it."""

from dlq.admin.redrives import many, pages  # noqa: F401 - importing registers
