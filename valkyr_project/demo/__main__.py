"""Run the demo with `python -m valkyr_project.demo`."""

import sys

from valkyr_project.demo.run import main

if __name__ == "__main__":
    sys.exit(main())
