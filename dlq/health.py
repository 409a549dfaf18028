"""The health of beat, whose duties write a pulse every few seconds."""

from executions.health.parts import HealthFinding, Session, register

SILENT_SECONDS = 60
QUERY = "SELECT extract(epoch FROM clock_timestamp() - ticked_at)::float8 FROM dlq_beatpulse"
EXPECTED = "a duty of beat ran in the last 60 s"


def beat(session: Session) -> HealthFinding:
    """Return whether at least one of beat's duties ran in the last 60 s, as a finding."""
    row = session.execute(QUERY).fetchone()
    if row is not None and row[0] <= SILENT_SECONDS:
        return HealthFinding(True, f"a duty ran {max(0.0, row[0]):.0f} s ago", EXPECTED)
    found = "no duty has run yet" if row is None else f"no duty has run for {row[0]:,.0f} s"
    return HealthFinding(
        False,
        found,
        EXPECTED,
        "Check that beat and a worker of the queue control are running. Both are needed.",
    )


register("beat", beat)
