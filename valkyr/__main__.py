"""Run the `valkyr` command as `python -m valkyr`."""

import sys

from valkyr.cli import main

if __name__ == "__main__":
    sys.exit(main())
