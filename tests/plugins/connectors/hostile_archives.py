"""Archives as an attacker or a broken transfer creates them, written with the library's own
functions.
"""

import io
import os
import stat
import struct
import warnings
import zipfile
from pathlib import Path


def pack(entries: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a plain archive of these entries; their names may be ones that no program should
    write.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a duplicate name
        for name, data in entries:
            archive.writestr(raw(name), data, method)
    return target.getvalue()


def raw(name: str) -> zipfile.ZipInfo:
    """Return an entry's header with the unchanged name."""
    info = zipfile.ZipInfo("x")
    info.filename = name
    return info


def link() -> bytes:
    """Return an archive that contains a symbolic link."""
    info = zipfile.ZipInfo("link")
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return target.getvalue()


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return an archive with some bytes replaced."""
    assert old in data
    return data.replace(old, new)


def encrypted() -> bytes:
    """Return an archive whose entry claims to be encrypted, in both of its headers."""
    data = bytearray(pack([("a.txt", b"secret")]))
    for head, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(head) + flags
        data[at] |= 1
    return bytes(data)


def liar() -> bytes:
    """Return an archive whose headers claim that a large entry is small."""
    data = bytearray(pack([("a.txt", b"0" * 5_000_000)]))
    for head, size in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(head) + size
        data[at : at + 4] = struct.pack("<I", 100)
    return bytes(data)


def endless() -> bytes:
    """Return an archive whose list of entries claims to be five MiB long."""
    data = bytearray(pack([("a.txt", b"a")]))
    at = data.rindex(b"PK\x05\x06")
    listed = bytes(5 * 1024 * 1024)
    end = bytearray(data[at:])
    end[12:16] = struct.pack("<I", len(listed))
    return bytes(data[:at]) + listed + bytes(end)


def lay_out(root: Path) -> None:
    """Write one of each archive into a folder."""
    root.mkdir()
    good = pack([("a.txt", b"aaa"), ("deep/b.csv", b"1,2\n")])
    archives = {
        "good": good,
        "cut": good[:-30],
        "crc": changed(pack([("a", b"aaaa")], zipfile.ZIP_STORED), b"aaaa", b"aaab"),
        "slip": pack([("../../x", b"")]),
        "root": pack([("/etc/x", b"")]),
        "windows": pack([("..\\x", b"")]),
        "link": link(),
        "secret": encrypted(),
        "twice": pack([("a", b"1"), ("a", b"2")]),
        "both": pack([("a", b"1"), ("a/b", b"2")]),
        "bomb": pack([("zeros", bytes(20_000_000))]),
        "liar": liar(),
        "many": pack([(f"{number}", b"") for number in range(1_001)]),
        "endless": endless(),
        "lzma": pack([("a", b"a")], zipfile.ZIP_LZMA),
        "names": changed(pack([("x.txt", b"")]), b"x.txt", b"\xff.txt"),
        "binary": pack([("a.bin", b"\xff\xfe")]),
    }
    for name, data in archives.items():
        (root / f"{name}.zip").write_bytes(data)
    (root / "random.bin").write_bytes(os.urandom(4_000_000))
