"""Run the stack with `python -m valkyr_project.up`."""

import sys

from valkyr_project.up.run import main

if __name__ == "__main__":
    sys.exit(main())
