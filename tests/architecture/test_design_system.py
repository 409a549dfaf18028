"""Style sheets take colours, type sizes and spacing from tokens.css, which the gallery shows."""

import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
TOKENS = PROJECT / "executions" / "static" / "executions" / "tokens.css"
GALLERY = PROJECT / "executions" / "frontend" / "gallery" / "index.html"
FOLDERS = ("executions", "runners", "dlq", "valkyr_project", "valkyr_plugins")
BUILT = PROJECT / "executions" / "static" / "executions" / "studio"
# Sizes of steps and cards on the canvas depend on the zoom; its spacing is in the canvas's units.
STUDIO = PROJECT / "executions" / "frontend" / "src"
# Settings that only the scales of tokens.css use.
SCALES = re.compile(r"--vk-(?:base|violet)-\d+")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
COLOUR = re.compile(
    r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(|--color-\w+"
    r"|(?<![\w-])(?:white|black|red|green|blue|gr[ae]y|orange|yellow|purple)(?=\s*[;}!])",
    re.IGNORECASE,
)
FONT_SIZE = re.compile(r"font-size:\s*([^;}]+)")
RELATIVE = re.compile(r"var\(--vk-(?:font|icon)[\w-]*\)|inherit|[\d.]+em|clamp\(.*--scale.*")
SPACING = re.compile(
    r"(?<![\w-])(?:margin|padding|gap)(?:-[a-z-]+)?:\s*([^;}]*\d(?:\.\d+)?rem[^;}]*)"
)


def style_sheets() -> Iterator[Path]:
    """Yield every style sheet except the tokens and the built ones."""
    for folder in FOLDERS:
        for path in sorted((PROJECT / folder).rglob("*.css")):
            outside = {"node_modules", "icons", "gallery"} & set(path.relative_to(PROJECT).parts)
            if path != TOKENS and BUILT not in path.parents and not outside:
                yield path


def rules(path: Path) -> str:
    """Return a style sheet without comments."""
    return COMMENT.sub("", path.read_text())


def found(pattern: re.Pattern[str], paths: Iterator[Path]) -> list[str]:
    """Return the matches of a pattern, with their files."""
    return [
        f"{path.relative_to(PROJECT)}: {match.group().strip()}"
        for path in paths
        for match in pattern.finditer(rules(path))
    ]


def test_only_the_tokens_have_literal_colours() -> None:
    assert found(COLOUR, style_sheets()) == []
    assert found(SCALES, style_sheets()) == [], "use a role, such as --vk-accent"


def test_type_has_the_sizes_of_the_tokens() -> None:
    odd = [
        f"{path.relative_to(PROJECT)}: {size}"
        for path in style_sheets()
        for size in FONT_SIZE.findall(rules(path))
        if not RELATIVE.fullmatch(size.strip())
    ]
    assert odd == []


def test_spacing_outside_of_the_studio_has_the_steps_of_the_tokens() -> None:
    outside = (path for path in style_sheets() if STUDIO not in path.parents)
    assert found(SPACING, outside) == []


def test_every_token_in_use_is_declared_and_every_declared_one_is_used() -> None:
    tokens = rules(TOKENS)
    declared = set(re.findall(r"(--vk-[\w-]+):", tokens))
    sheets = [*style_sheets(), TOKENS, GALLERY, STUDIO / "canvas" / "Plane.tsx"]
    used = {
        name
        for path in sheets
        for name in re.findall(r"var\((--vk-[\w-]+)", COMMENT.sub("", path.read_text()))
    }

    assert used - declared == set()
    assert {name for name in declared - used if not SCALES.fullmatch(name)} == set()


def test_the_gallery_shows_every_token() -> None:
    declared = set(re.findall(r"--vk-([\w-]+):", rules(TOKENS)))
    shown = set(re.findall(r"[\w-]+", GALLERY.read_text()))

    hidden = {name for name in declared if not SCALES.fullmatch(f"--vk-{name}")} - shown
    assert {name for name in hidden if f"vk-{name}" not in shown} - {"shade", "font"} == set()
