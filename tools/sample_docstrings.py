"""Draw docstrings of the code at random, for an editor to judge.

python -m tools.sample_docstrings --seed 24 --count 100
python -m tools.sample_docstrings --seed 24 --count 100 --at 296f696b    # as a commit had them
"""

import argparse
import ast
import random
import sys
from collections.abc import Iterator

from tools.sample_sentences import git

ROOTS = ("dlq", "executions", "runners", "valkyr", "valkyr_plugins", "valkyr_project")


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def main() -> None:
    """Print the sample, each docstring with its file and line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--at", default="HEAD", metavar="COMMIT")
    options = parser.parse_args()
    names = git("ls-tree", "-r", "--name-only", options.at, *ROOTS).splitlines()
    found = [
        (name, line, text)
        for name in names
        if name.endswith(".py") and "/tests/" not in name
        for line, text in docstrings(git("show", f"{options.at}:{name}"))
    ]
    drawn = random.Random(options.seed).sample(found, options.count)  # noqa: S311 - no secret
    for number, (name, line, text) in enumerate(drawn, 1):
        sys.stdout.write(f"{number:3} {name}:{line}: {' '.join(text.split())}\n")


if __name__ == "__main__":
    main()
