"""A folder with one of everything that file steps reject."""

from pathlib import Path


def lay_out(root: Path) -> None:
    """Create the files; those that must not be reached are outside the folder."""
    root.mkdir()
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (root / "large.txt").write_text("0123456789")
    (root / "binary.bin").write_bytes(b"\xff\xfe\x00")
    (root / "folder").mkdir()
    (root / "folder" / "inside.txt").write_text("inside")
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "away").symlink_to(outside)
