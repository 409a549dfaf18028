"""The project as the launcher of `make up` loads it; a process that imports this can be forked."""

import os

# As in the launcher: no process is forked before a role is given to it.
os.environ["VALKYR_PROCESS"] = "image"

from valkyr_project.image import contents, role  # noqa: F401 - the nurse gives the role

contents.load()
