"""Draw sentences of the pages at random, for an editor to judge.

python tools/sample_sentences.py --seed 24 --count 100
python tools/sample_sentences.py --seed 24 --count 100 --at 296f696b    # as a commit had them
"""

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterator

WRITTEN = ("README.md", "docs")
CODE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$|<!--.*?-->", re.MULTILINE | re.DOTALL)
END = re.compile(r"(?<=[.!?:]) +(?=[A-Z*`\[])")
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)|\n(?=\s*\|)|(?<=\|)\s*\n|\|")
LEAST = 5  # words


def git(*arguments: str) -> str:
    """Return the output of a git command."""
    command = ("git", *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page, without headings and code."""
    for block in BLOCK.split(CODE.sub("\n\n", text)):
        line = re.sub(r"^(?:[-*]|\d+\.)\s+", "", " ".join(block.split()))
        if line and not line.startswith(("#", "    ", "![")):
            yield from (part for part in END.split(line) if len(part.split()) >= LEAST)


def main() -> None:
    """Print the sample, each sentence with its page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--at", default="HEAD", metavar="COMMIT")
    options = parser.parse_args()
    names = git("ls-tree", "-r", "--name-only", options.at, *WRITTEN).splitlines()
    found = [
        (name, sentence)
        for name in names
        if name.endswith(".md") and name != "docs/contributing/writing.md"
        for sentence in sentences(git("show", f"{options.at}:{name}"))
    ]
    drawn = random.Random(options.seed).sample(found, options.count)  # noqa: S311 - no secret
    for number, (name, sentence) in enumerate(drawn, 1):
        sys.stdout.write(f"{number:3} {name.removeprefix('docs/')}: {sentence}\n")


if __name__ == "__main__":
    main()
