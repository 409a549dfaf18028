"""Our extensions of MkDocs: pages from outside docs/, and diagrams without a network.

Links are written for readers of the repository. The site also includes the pages in `OUTSIDE`; a
link to any other file of the repository becomes plain text.
"""

import os
import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from lists import four_spaces

ROOT = Path(__file__).parents[1]
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "deploy/README.md")
OUTSIDE_PATTERN = "examples/**/README.md"
# `.ci/docs` sets it. Without it, the theme would load Mermaid from a CDN.
MERMAID = Path(os.environ.get("VALKYR_MERMAID", ""))
MERMAID_URI = "assets/mermaid.min.js"
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#|/)([^)#\s]+)(#[^)\s]+)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Draw diagrams if Mermaid is available; otherwise show their source."""
    if MERMAID.is_file():
        config.extra_javascript.append(MERMAID_URI)
        config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [_diagrams()]}
    return config


def _diagrams() -> dict[str, object]:
    from pymdownx.superfences import fence_code_format

    return {"name": "mermaid", "class": "mermaid", "format": fence_code_format}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, by their paths in the repository."""
    inner = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob(OUTSIDE_PATTERN))]
    for name in (*OUTSIDE, *inner):
        # README.md and an index.md in the same folder would have the same URL.
        uri = "about.md" if name == "README.md" else name
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    if MERMAID.is_file():
        files.append(File.generated(config, MERMAID_URI, abs_src_path=str(MERMAID)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with its links as they are on the site."""
    known = {_path(file): file.src_uri for file in files}
    here = posixpath.dirname(_path(page.file))

    def link(found: re.Match[str]) -> str:
        image, text, target, anchor = found.groups()
        path = posixpath.normpath(posixpath.join(here, target))
        if path in known:
            target = posixpath.relpath(known[path], posixpath.dirname(page.file.src_uri) or ".")
        elif (ROOT / path).exists():
            return text
        return f"{image}[{text}]({target}{anchor or ''})"

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(link, markdown[end : fence.start()]), fence.group()]
        end = fence.end()
    return four_spaces("".join([*parts, LINK.sub(link, markdown[end:])]))


def _path(file: File) -> str:
    """Return the file's path in the repository; "" if it is outside."""
    source = Path(file.abs_src_path or "")
    return source.relative_to(ROOT).as_posix() if source.is_relative_to(ROOT) else ""
