"""The numbers of PostgreSQL's advisory locks that this product takes, in one place.

A number names one job among all sessions of a database. Two jobs with one number block each other
for no reason, which is why the numbers are an enumeration whose values must differ.
"""

import enum


@enum.unique
class AdvisoryLock(enum.IntEnum):
    """One member a job. Any number will do, as long as no other member has it."""

    BEAT_ELECTION = 7_263_544_401
    SWEEP_EVERY_SECOND = 7_263_544_402
    SWEEP_EVERY_FIVE_SECONDS = 7_263_544_403
    # The seed of a hash over the workspace, not a lock by itself.
    REDRIVE_HOLDS = 7_263_544_404
    REDRIVE_DRIVER = 7_263_544_405
    FAILURE_GROUP_COUNTERS = 7_263_544_411
    ALERT_SENDING = 7_263_544_421
    ALERT_WATCHING = 7_263_544_422
    RETENTION = 7_263_544_424
    FIGURES_ROLLUP = 7_263_544_430
    MIGRATION = 7_263_544_431
    AUDIT_SEALING = 7_263_544_453
    SEALING_KEYS = 7_305_811_942_016_001
