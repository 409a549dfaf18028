#!/usr/bin/env python
"""Django's command line for this project; while a stack of `make up` runs, it uses that stack."""

import os
import sys


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
    if sys.argv[1:2] == ["consume"]:  # the command runs permanently and serves no pages
        os.environ.setdefault("VALKYR_PROCESS", "consumer")
    from valkyr_project.up.options import UpError
    from valkyr_project.up.running_stack import use_running_stack

    try:
        use_running_stack()
    except UpError as error:
        sys.exit(f"manage.py: {error}")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    main()
