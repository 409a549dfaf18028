"""Triggers that end all sessions of an account which changes its password or loses rights.

In the database, so that no way to change an account (admin, API, single sign-on, management
commands, SQL) can forget it, and so that the change and the end are one transaction.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION valkyr_end_sessions(account bigint, reason text) RETURNS void
LANGUAGE sql AS $$
    UPDATE executions_accountsession SET ended_at = clock_timestamp(), end_reason = reason
     WHERE user_id = account AND ended_at IS NULL
$$;

CREATE FUNCTION valkyr_account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM valkyr_end_sessions(NEW.id, CASE
        WHEN OLD.is_active AND NOT NEW.is_active THEN 'SWITCHED_OFF'
        WHEN OLD.password IS DISTINCT FROM NEW.password THEN 'PASSWORD'
        ELSE 'LOST_RIGHTS' END);
    RETURN NULL;
END $$;
CREATE TRIGGER account_ends_sessions
    AFTER UPDATE OF password, is_active, is_superuser, is_staff ON auth_user
    FOR EACH ROW WHEN (
        OLD.password IS DISTINCT FROM NEW.password
        OR (OLD.is_active AND NOT NEW.is_active)
        OR (OLD.is_superuser AND NOT NEW.is_superuser)
        OR (OLD.is_staff AND NOT NEW.is_staff))
    EXECUTE FUNCTION valkyr_account_changed();

CREATE FUNCTION valkyr_role_lost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM valkyr_end_sessions(OLD.user_id, 'LOST_RIGHTS');
    RETURN NULL;
END $$;
CREATE TRIGGER membership_ends_sessions AFTER DELETE ON executions_membership
    FOR EACH ROW EXECUTE FUNCTION valkyr_role_lost();
-- Only ADMIN allows everything that each other role allows.
CREATE TRIGGER role_ends_sessions AFTER UPDATE OF role, user_id ON executions_membership
    FOR EACH ROW WHEN (
        OLD.user_id <> NEW.user_id OR (OLD.role <> NEW.role AND NEW.role <> 'ADMIN'
        -- Nor is anything lost from USER, which allows nothing by itself.
        AND OLD.role <> 'USER'))
    EXECUTE FUNCTION valkyr_role_lost();
"""
DROP = """
DROP TRIGGER role_ends_sessions ON executions_membership;
DROP TRIGGER membership_ends_sessions ON executions_membership;
DROP TRIGGER account_ends_sessions ON auth_user;
DROP FUNCTION valkyr_role_lost();
DROP FUNCTION valkyr_account_changed();
DROP FUNCTION valkyr_end_sessions(bigint, text);
"""


class Migration(migrations.Migration):
    dependencies = [("executions", "0003_append_only")]
    operations = [migrations.RunSQL(CREATE, DROP)]
