"""The room that tests of several processes share."""

import fcntl
import threading
from pathlib import Path

from tests.support.quiet import in_the_room
from tests.support.waiting import wait_until


def test_who_wants_to_be_alone_waits_for_all_and_nobody_goes_first(tmp_path: Path) -> None:
    came: list[str] = []

    def come(name: str, *, alone: bool) -> None:
        with in_the_room(tmp_path, alone=alone):
            came.append(name)

    with in_the_room(tmp_path, alone=False), in_the_room(tmp_path, alone=False):
        one = threading.Thread(target=come, args=("alone",), kwargs={"alone": True})
        one.start()
        wait_until(lambda: _stands_in_the_door(tmp_path), 10, "somebody in the door")
        other = threading.Thread(target=come, args=("later",), kwargs={"alone": False})
        other.start()
        assert came == []
    one.join(10)
    other.join(10)
    assert came == ["alone", "later"]


def _stands_in_the_door(folder: Path) -> bool:
    with (folder / "door").open("a") as door:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
