"""Run the whole demo: partner, stack, orders and table."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from valkyr_project.demo import report
from valkyr_project.demo.client import Api, DemoError
from valkyr_project.demo.drive import drive
from valkyr_project.demo.orders import expect, read_orders
from valkyr_project.demo.partner import PartnerServer, open_partner
from valkyr_project.demo.stack import Stack, find_or_start
from valkyr_project.up.options import UpError


class Mails:
    """Counts the emails that arrive in a folder as files."""

    def __init__(self, folder: Path) -> None:
        """Record which files exist already; the folder need not exist yet."""
        self._folder = folder
        self._before = self._names()

    def new(self) -> int | None:
        """Return how many emails arrived.

        Return None if the folder is missing, because emails are sent elsewhere.
        """
        return len(self._names() - self._before) if self._folder.is_dir() else None

    def _names(self) -> set[str]:
        return {path.name for path in self._folder.glob("*.eml")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; return 0 if all results are as expected, 1 if not, and 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m valkyr_project.demo",
        description="Run the included order-import workflow with 200 orders, over HTTP.",
        epilog="VALKYR_HOME, PORT and FLOWER_PORT have the same meaning as for `make up`.",
    )
    parser.add_argument("--stay", action="store_true", help="keep the partner until Ctrl-C")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(stay=asked.stay)
    except (DemoError, UpError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _run(*, stay: bool) -> int:
    partner = open_partner()
    stack = None
    try:
        stack = find_or_start(partner.host)
        partner.start()
        good = _tell(stack, partner, stays=stay or stack.started_here)
        if stack.started_here:
            print("\nThe stack and the partner continue to run; Ctrl-C stops both.", flush=True)
            stack.stay()
        elif stay:
            print("\nThe partner continues to run; Ctrl-C stops it.", flush=True)
            _until_interrupted()
        return 0 if good else 1
    finally:
        partner.stop()
        if stack is not None:
            stack.stop()


def _tell(stack: Stack, partner: PartnerServer, *, stays: bool) -> bool:
    """Send the orders, and print the table; return whether every figure is as expected."""
    orders = read_orders()
    mails = Mails(stack.mail_folder)
    with Api(stack.url, stack.username, stack.password) as api:
        progress = drive(api, stack, partner.url, orders)
    partner.ledger.carrier_awake = True  # so that requeueing the dead shipment succeeds
    found = report.facts(progress, partner.ledger, mails.new(), expect(orders))
    print("\n" + report.table(found, progress.seconds))
    print("\n" + report.next_steps(stack, progress.dead_letters, stays), flush=True)
    return all(fact.good for fact in found)


def _until_interrupted() -> None:
    try:
        signal.pause()
    except KeyboardInterrupt:
        return
