"""`python -m valkyr_project.up.shell <command>`: run manage.py against the running stack."""

import os
import sys
from dataclasses import replace

from valkyr_project.up import environment as credentials_file
from valkyr_project.up.environment import stack_environment
from valkyr_project.up.home import running
from valkyr_project.up.options import parse


def main(arguments: list[str]) -> int:
    """Run one management command with the addresses and secrets of the running stack."""
    options = parse([])
    facts = running(options.home)
    if not facts or "database_url" not in facts:
        print(f"No stack runs in {options.home}; start it with `make up`.", file=sys.stderr)
        return 1
    options = replace(options, port=int(facts["url"].rsplit(":", 1)[1]))
    credentials = credentials_file.load(options.home)
    os.environ.update(
        stack_environment(options, credentials, facts["database_url"], facts["redis_url"])
    )
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *arguments])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
