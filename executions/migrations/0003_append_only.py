"""The audit trail and its seals are append-only: the database refuses to change or remove rows.

UPDATE and DELETE are refused for each row, TRUNCATE for the statement. The tables' owner can still
drop the triggers; a head of the chain that was exported before finds what was done then
(docs/how-to/operations.md).
"""

from django.db import migrations

TABLES = ("executions_activity", "executions_auditseal")
FUNCTION = """
CREATE FUNCTION valkyr_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only: % on % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
"""
REFUSE = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION valkyr_refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION valkyr_refuse_change();
"""
ALLOW = """
DROP TRIGGER append_only_truncate ON {table};
DROP TRIGGER append_only ON {table};
"""


class Migration(migrations.Migration):
    dependencies = [("executions", "0002_defaults")]
    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION valkyr_refuse_change();"),
        *(
            migrations.RunSQL(REFUSE.format(table=table), ALLOW.format(table=table))
            for table in TABLES
        ),
    ]
