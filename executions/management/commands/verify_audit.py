"""Verify each sealed row of the audit trail against its seal, and the hash chain of all seals."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError, CommandParser

from executions.audit.chain import ChainHead
from executions.audit.verifying import VerificationReport, verify
from executions.management.examples import CommandWithExamples

EXAMPLES = """
examples:
  manage.py verify_audit
  manage.py verify_audit --head 812:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

Without --head, the command does not find newest rows that were removed with their seals,
or a chain that was computed again.

exit codes: 0 the trail matches, 1 it does not
"""


class Command(CommandWithExamples):
    """Print the mismatches in the order in which they are found, or a summary."""

    help = "Verify the audit trail against its hash chain and against exported heads."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for exported heads and the number of archived links."""
        parser.add_argument(
            "--head", type=_head, action="append", default=[], metavar="NUMBER:DIGEST",
            help="an exported head; can be given several times",
        )  # fmt: skip
        parser.add_argument(
            "--archived", type=int, default=0, metavar="NUMBER",
            help="rows covered by this seal and earlier seals may be missing",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify the trail, and print the findings. Raises CommandError for mismatches."""
        report = verify(options["head"], archived=options["archived"])
        for problem in report.problems:
            self.stdout.write(problem)
        if report.problems:
            more = " There may be more." if report.stopped else ""
            raise CommandError(
                f"The audit trail does not match its seals: {len(report.problems)} problems, the "
                f"first of them: {report.problems[0]}{more}"
            )
        self.stdout.write(_said(report))


def _said(report: VerificationReport) -> str:
    if report.head is None:
        return f"No row is sealed yet; {report.waiting:,} rows wait for a seal."
    return (
        f"The audit trail matches its seals: {report.rows:,} rows in {report.links:,} seals, "
        f"up to {report.head}; {report.waiting:,} rows wait for the next seal."
    )


def _head(text: str) -> ChainHead:
    try:
        return ChainHead.parse(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
