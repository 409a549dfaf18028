"""The audit trail is append-only: the database itself refuses to change or delete its rows."""

from django.db import migrations

REFUSE = """
CREATE FUNCTION valkyr_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only: % on % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER activity_append_only BEFORE UPDATE OR DELETE ON executions_activity
    FOR EACH ROW EXECUTE FUNCTION valkyr_refuse_change();
"""
ALLOW = """
DROP TRIGGER activity_append_only ON executions_activity;
DROP FUNCTION valkyr_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("executions", "0002_defaults")]
    operations = [migrations.RunSQL(REFUSE, ALLOW)]
