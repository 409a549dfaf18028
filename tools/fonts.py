"""Write the small fonts of the stand-alone platform, cut from the fonts of django-unfold.

    python -m venv /tmp/fonts && /tmp/fonts/bin/pip install fonttools brotli
    /tmp/fonts/bin/python tools/fonts.py .venv/lib/python3.*/site-packages/unfold

Inter has a file for Western European letters and one for the other Latin letters; other scripts
come from Unfold's own files. Material Symbols keeps the icons that our or Unfold's sources name.
"""

import re
import shutil
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

PROJECT = Path(__file__).parents[1]
TARGET = PROJECT / "valkyr_project" / "overrides" / "unfold" / "fonts"
SOURCES = ("executions", "runners", "dlq", "valkyr_project", "valkyr_plugins")
SUFFIXES = {".py", ".html", ".js", ".ts", ".tsx", ".css"}
# In code, names of icons are in quotation marks; in style sheets, their underscores are escaped; in
# templates, any word can be a name.
QUOTED, WORD = re.compile(r"""["'>]\s*([a-z0-9_]{2,40})\s*["'<]"""), re.compile(r"[a-z0-9_]{2,40}")
WEIGHTS = {"Regular": 400, "Medium": 500, "SemiBold": 600, "Bold": 700}
# Western European letters, punctuation, arrows and some signs; then the other Latin letters and
# currencies, and the rest. A browser fetches only the files whose characters a page has.
RANGES = {
    "-Latin": (
        "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC,"
        "U+2122,U+2190-2193,U+2212,U+2215,U+25B8,U+25BE"
    ),
    "-Latin-Extended": (
        "U+0100-0130,U+0132-0151,U+0154-017F,U+02BD-02C5,U+02C7-02D9,U+02DB,U+20A0-20AB,U+20AD-20CF"
    ),
    "": "U+0180-02BA,U+02DD-1FFF,U+2070-209F,U+20D0-2121,U+2123-218F,U+2194-2211,U+2213-2214,"
    "U+2216-25B7,U+25B9-25BD,U+25BF-10FFFF",
}
FACE = """@font-face {{
  font-family: "Inter";
  font-style: normal;
  font-weight: {weight};
  font-display: swap;
  src: url("{file}") format("woff2");
  unicode-range: {range};
}}
"""


def main(unfold: Path) -> None:
    """Write both fonts below the overrides."""
    fonts = unfold / "static" / "unfold" / "fonts"
    for name in ("inter", "material-symbols"):
        (TARGET / name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fonts / name / "LICENSE", TARGET / name / "LICENSE")
    inter(fonts / "inter", TARGET / "inter")
    symbols(unfold, fonts / "material-symbols", TARGET / "material-symbols")


def inter(source: Path, target: Path) -> None:
    """Write two Latin files for each weight, and the style sheet that names all files."""
    faces = []
    for name, weight in WEIGHTS.items():
        for part, range_ in RANGES.items():
            file = f"Inter-{name}{part}.woff2"
            if part:  # the rest comes from Unfold's file
                cut(source / f"Inter-{name}.woff2", target / file, unicodes=range_)
            faces.append(FACE.format(weight=weight, file=file, range=range_.replace(",", ", ")))
    (target / "styles.css").write_text("\n".join(faces))


def symbols(unfold: Path, source: Path, target: Path) -> None:
    """Write the icons whose names occur in any source, even as an ordinary word."""
    original = source / "Material-Symbols-Outlined.woff2"
    known = ligatures(TTFont(original))
    folders = [*(PROJECT / name for name in SOURCES), unfold]
    files = (path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES)
    named = {
        word
        for path in files
        if "node_modules" not in path.parts
        for word in (WORD if path.suffix == ".html" else QUOTED).findall(
            path.read_text(errors="ignore").replace("\\_", "_")
        )
    }
    kept = sorted(named & known.keys())
    letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
    cut(original, target / original.name, glyphs=[known[name] for name in kept], text=letters)
    (target / "icons.txt").write_text("\n".join(kept) + "\n")


def ligatures(font: TTFont) -> dict[str, str]:
    """Return the glyph of each name, according to the font's ligatures.

    Some glyphs have several names.
    """
    letters = {glyph: chr(code) for code, glyph in font.getBestCmap().items()}
    found = {}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            inner = getattr(table, "ExtSubTable", table)
            for first, rules in getattr(inner, "ligatures", {}).items():
                for rule in rules:
                    name = "".join(letters.get(one, "?") for one in (first, *rule.Component))
                    found[name] = rule.LigGlyph
    return found


def cut(source: Path, target: Path, **what: object) -> None:
    """Write a font with only some characters or glyphs."""
    options = subset.Options(flavor="woff2", layout_features=["*"], layout_closure=False)
    font = subset.load_font(str(source), options)
    cutter = subset.Subsetter(options)
    unicodes = subset.parse_unicodes(str(what["unicodes"])) if "unicodes" in what else []
    cutter.populate(glyphs=what.get("glyphs", []), unicodes=unicodes, text=what.get("text", ""))
    cutter.subset(font)
    subset.save_font(font, str(target), options)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
