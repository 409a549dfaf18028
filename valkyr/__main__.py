"""`python -m valkyr` is the command `valkyr`."""

import sys

from valkyr.cli import main

if __name__ == "__main__":
    sys.exit(main())
