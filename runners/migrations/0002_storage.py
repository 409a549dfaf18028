"""How PostgreSQL keeps the hot table: room for in-page updates, eager vacuum."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runners", "0001_initial")]
    operations = [
        migrations.RunSQL(
            """
            ALTER TABLE runners_run SET (
                fillfactor = 80,
                autovacuum_vacuum_scale_factor = 0.02,
                autovacuum_vacuum_threshold = 1000,
                autovacuum_analyze_scale_factor = 0.02,
                autovacuum_vacuum_cost_delay = 0
            )
            """,
            "ALTER TABLE runners_run RESET (fillfactor, autovacuum_vacuum_scale_factor,"
            " autovacuum_vacuum_threshold, autovacuum_analyze_scale_factor,"
            " autovacuum_vacuum_cost_delay)",
        )
    ]
