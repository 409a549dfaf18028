"""All tables of the app, the rules that the database enforces, and the initial rows."""

import django.contrib.postgres.indexes
import django.db.models.deletion
import executions.database.accounts
import executions.database.clock
import executions.database.migrations
import executions.database.ids
from django.conf import settings
from django.db import migrations, models

# The tiers and the one workspace that exist from the start.
TIERS = {
    "free": (5, 100, 100, 1_000),
    "team": (50, 10_000, 10_000, 100_000),
    "unlimited": (None, None, None, None),
}


def create_defaults(apps, schema_editor):
    alias = schema_editor.connection.alias
    tiers = executions.database.migrations.model(apps, "executions.Tier").objects.using(alias)
    for name, (concurrent, pending, hour, day) in TIERS.items():
        tiers.get_or_create(
            name=name,
            defaults={
                "max_concurrent": concurrent,
                "max_pending": pending,
                "max_per_hour": hour,
                "max_per_day": day,
            },
        )
    workspaces = executions.database.migrations.model(apps, "executions.Workspace").objects
    workspaces.using(alias).get_or_create(
        slug="default",
        defaults={"name": "Default", "tier": tiers.get(name="unlimited")},
    )


def keep_plans(apps, schema_editor):
    table = executions.database.migrations.model(apps, "executions.WorkflowExecution")._meta.db_table
    schema_editor.execute(executions.database.migrations.HOT.format(table=table), params=None)


# The audit trail and its seals are append-only: the database refuses to change or remove rows.
#
# UPDATE and DELETE are refused for each row, TRUNCATE for the statement. The tables' owner can still
# drop the triggers; a head of the chain that was exported before finds what was done then
# (docs/how-to/operations.md).
APPEND_ONLY = ("activity", "auditseal")
REFUSING = """
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

# Triggers that end all sessions of an account which changes its password or loses rights, and the
# tokens of a person whose account is switched off: switched on again, it has none. A program's are
# kept, since switching service accounts off and on is how they are paused.
#
# In the database, so that no way to change an account (admin, API, single sign-on, management
# commands, SQL) can forget it, and so that the change and the end are one transaction. The model of
# accounts is the project's: a column that it lacks, or gets later, is no reason to fail.
ENDING = """
CREATE FUNCTION valkyr_end_sessions(account {user_type}, reason text) RETURNS void
LANGUAGE sql AS $$
    UPDATE {sessions} SET ended_at = clock_timestamp(), end_reason = reason
     WHERE user_id = account AND ended_at IS NULL
$$;

CREATE FUNCTION valkyr_account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb := to_jsonb(OLD);
    becomes jsonb := to_jsonb(NEW);
    account {user_type} := (becomes->>TG_ARGV[0])::{user_type};
BEGIN
    IF (was->>'is_active')::boolean AND NOT (becomes->>'is_active')::boolean THEN
        PERFORM valkyr_end_sessions(account, 'SWITCHED_OFF');
        UPDATE {tokens} SET revoked_at = clock_timestamp()
         WHERE user_id = account AND revoked_at IS NULL
           AND NOT EXISTS (SELECT FROM {programs} WHERE user_id = account);
    ELSIF was->>'password' IS DISTINCT FROM becomes->>'password' THEN
        PERFORM valkyr_end_sessions(account, 'PASSWORD');
    ELSIF (was->>'is_superuser')::boolean AND NOT (becomes->>'is_superuser')::boolean
       OR (was->>'is_staff')::boolean AND NOT (becomes->>'is_staff')::boolean THEN
        PERFORM valkyr_end_sessions(account, 'LOST_RIGHTS');
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION valkyr_role_lost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM valkyr_end_sessions(OLD.user_id, 'LOST_RIGHTS');
    RETURN NULL;
END $$;
CREATE TRIGGER membership_ends_sessions AFTER DELETE ON {memberships}
    FOR EACH ROW EXECUTE FUNCTION valkyr_role_lost();
-- Only ADMIN allows everything that each other role allows.
CREATE TRIGGER role_ends_sessions AFTER UPDATE OF role, user_id ON {memberships}
    FOR EACH ROW WHEN (
        OLD.user_id <> NEW.user_id OR (OLD.role <> NEW.role AND NEW.role <> 'ADMIN'
        -- Nor is anything lost from USER, which allows nothing by itself.
        AND OLD.role <> 'USER'))
    EXECUTE FUNCTION valkyr_role_lost();
"""
# On each table that an account has a row of: its model may inherit from others. The keys are equal.
WATCH = """
CREATE TRIGGER account_ends_sessions AFTER UPDATE ON {table}
    FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
    EXECUTE FUNCTION valkyr_account_changed({key});
"""
DROP = (
    "DROP TRIGGER role_ends_sessions ON {memberships}",
    "DROP TRIGGER membership_ends_sessions ON {memberships}",
    "DROP FUNCTION valkyr_role_lost()",
    "DROP FUNCTION valkyr_account_changed()",
    "DROP FUNCTION valkyr_end_sessions({user_type}, text)",
    *(
        f"DROP TRIGGER {trigger} ON {{{table}}}"
        for table in APPEND_ONLY
        for trigger in ("append_only_truncate", "append_only")
    ),
    "DROP FUNCTION valkyr_refuse_change()",
)


def _names(apps, schema_editor):
    def table(model):
        name = executions.database.migrations.model(apps, f"executions.{model}")._meta.db_table
        return schema_editor.quote_name(name)

    user = apps.get_model(settings.AUTH_USER_MODEL)._meta
    return {
        "user_type": user.pk.rel_db_type(schema_editor.connection),
        "sessions": table("AccountSession"),
        "tokens": table("ApiToken"),
        "programs": table("ServiceAccount"),
        "memberships": table("Membership"),
        "activity": table("Activity"),
        "auditseal": table("AuditSeal"),
    }


def _accounts(apps):
    """Return the account model and its parent models; an account has a row in each."""
    user = apps.get_model(settings.AUTH_USER_MODEL)
    return [model._meta for model in (user, *user._meta.get_parent_list())]


def create_triggers(apps, schema_editor):
    names = _names(apps, schema_editor)
    schema_editor.execute(REFUSING, params=None)
    for model in APPEND_ONLY:
        schema_editor.execute(REFUSE.format(table=names[model]), params=None)
    schema_editor.execute(ENDING.format(**names), params=None)
    for meta in _accounts(apps):
        table = schema_editor.quote_name(meta.db_table)
        key = schema_editor.quote_value(meta.pk.column)
        schema_editor.execute(WATCH.format(table=table, key=key), params=None)


def drop_triggers(apps, schema_editor):
    names = _names(apps, schema_editor)
    for meta in _accounts(apps):
        table = schema_editor.quote_name(meta.db_table)
        schema_editor.execute(f"DROP TRIGGER account_ends_sessions ON {table}", params=None)
    for statement in DROP:
        schema_editor.execute(statement.format(**names), params=None)


# The labels' state follows the execution's, however that is written. The condition is checked
# without a call, so an execution without labels pays nothing.
FOLLOW = """
CREATE FUNCTION valkyr_labels_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE {labels} SET state = NEW.state WHERE execution_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER labels_follow_state AFTER UPDATE OF state ON {executions}
    FOR EACH ROW WHEN (NEW.labels IS NOT NULL AND OLD.state <> NEW.state)
    EXECUTE FUNCTION valkyr_labels_follow();
"""
STOP = """
DROP TRIGGER labels_follow_state ON {executions};
DROP FUNCTION valkyr_labels_follow();
"""


def follow_states(apps, schema_editor):
    names = _label_names(apps, schema_editor)
    hot = executions.database.migrations.HOT.format(table=names["labels"])
    schema_editor.execute(hot, params=None)
    schema_editor.execute(FOLLOW.format(**names), params=None)


def stop_following(apps, schema_editor):
    schema_editor.execute(STOP.format(**_label_names(apps, schema_editor)), params=None)


def _label_names(apps, schema_editor):
    def table(model):
        found = executions.database.migrations.model(apps, f"executions.{model}")
        return schema_editor.quote_name(found._meta.db_table)

    return {"labels": table("ExecutionLabel"), "executions": table("WorkflowExecution")}


class Migration(executions.database.migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Tier',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.SlugField(unique=True)),
                ('max_concurrent', models.PositiveIntegerField(blank=True, null=True)),
                ('max_pending', models.PositiveIntegerField(blank=True, null=True)),
                ('max_per_hour', models.PositiveIntegerField(blank=True, null=True)),
                ('max_per_day', models.PositiveIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('key', models.CharField(max_length=200)),
                ('operation', models.CharField(help_text='The method and path of the request.', max_length=300)),
                ('request_hash', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField()),
                ('headers', models.JSONField(default=dict)),
                ('sealed', models.BinaryField()),
                ('key_id', models.BigIntegerField(db_index=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='kept_answer_age')],
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='kept_answer_once')],
            },
        ),
        migrations.CreateModel(
            name='Keyset',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('sealed', models.BinaryField()),
                ('key_uri', models.CharField(max_length=500)),
                ('version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='keyset_only_one')],
            },
        ),
        migrations.CreateModel(
            name='Workspace',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('egress_hosts', models.JSONField(blank=True, default=list)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('archived_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('tier', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='workspaces', to='executions.tier')),
                ('publish_from_git', models.BooleanField(db_default=False, default=False, help_text='On: only `valkyr apply` publishes and archives workflows.')),
            ],
            options={
                'ordering': ['slug'],
                'permissions': [('view_payloads', 'view inputs, outputs and variables'), ('reveal', 'reveal masked values (recorded)'), ('redrive', 'requeue and fix dead letters'), ('redrive_with_overrides', 'requeue dead letters with other inputs'), ('bulk', 'act on many objects at once'), ('discard', 'discard dead letters'), ('configure', "set credentials, quotas and triggers' secrets"), ('deploy', 'apply definitions where only Git publishes')],
            },
        ),
        migrations.CreateModel(
            name='ServiceAccount',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.SlugField(max_length=80)),
                ('description', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('disabled_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('user', models.OneToOneField(on_delete=executions.database.accounts.cascade, related_name='valkyr_service_account', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='service_accounts', to='executions.workspace')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('workspace', 'name'), name='service_account_once')],
            },
        ),
        migrations.CreateModel(
            name='RateCount',
            fields=[
                ('key', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('used', models.IntegerField()),
                ('ends_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['ends_at'], name='rate_count_age')],
            },
        ),
        migrations.CreateModel(
            name='QuotaUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(db_constraint=False, db_index=False, help_text='Empty for the counter of the whole workspace.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('resource', models.CharField(max_length=20)),
                ('target', models.CharField(blank=True, default='', max_length=100)),
                ('window', models.CharField(choices=[('hour', 'hour'), ('day', 'day')], max_length=4)),
                ('starts_at', models.DateTimeField()),
                ('used', models.BigIntegerField(default=0)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workspace')),
            ],
            options={
                'indexes': [models.Index(fields=['starts_at'], name='quota_use_age')],
                'constraints': [models.UniqueConstraint(fields=('workspace', 'user', 'resource', 'target', 'window', 'starts_at'), name='quota_use_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('used__gte', 0)), name='quota_use_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('ADMIN', 'administrator'), ('USER', 'user'), ('SYSTEM', 'system'), ('WORKFLOW', 'workflow author')], default='USER', max_length=10)),
                ('permissions', models.JSONField(blank=True, default=list, help_text='Permissions in addition to those of the role.')),
                ('source', models.CharField(blank=True, default='', editable=False, max_length=200)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('user', models.ForeignKey(on_delete=executions.database.accounts.cascade, related_name='valkyr_memberships', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='executions.workspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'workspace'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['ADMIN', 'USER', 'SYSTEM', 'WORKFLOW'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('event_id', models.CharField(help_text="The sender's id. A repeated id starts nothing.", max_length=200)),
                ('name', models.CharField(max_length=200)),
                ('payload', models.JSONField(null=True)),
                ('started', models.JSONField(default=list, help_text='The result of each trigger.')),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('delivered_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workspace')),
                ('delivered_to', models.UUIDField(editable=False, null=True)),
                ('looked_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['workspace', 'created_at', 'id'], name='event_list'), models.Index(condition=models.Q(('delivered_at__isnull', True)), fields=['created_at'], name='event_new')],
                'constraints': [models.UniqueConstraint(fields=('workspace', 'event_id'), name='event_once')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(help_text='The beginning of the token, by which to recognize it.', max_length=16)),
                ('digest', models.CharField(help_text='SHA-256 in hex.', max_length=64, unique=True)),
                ('scopes', models.JSONField(default=list)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('last_used_from', models.GenericIPAddressField(blank=True, editable=False, null=True)),
                ('created_by', models.CharField(blank=True, default='', editable=False, max_length=200)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('user', models.ForeignKey(on_delete=executions.database.accounts.cascade, related_name='valkyr_api_tokens', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to='executions.workspace')),
            ],
            options={
                'verbose_name': 'API token',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['workspace', 'created_at', 'id'], name='token_list')],
                'constraints': [models.CheckConstraint(condition=models.Q(('digest', ''), _negated=True), name='token_has_digest')],
            },
        ),
        migrations.CreateModel(
            name='Activity',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('actor_name', models.CharField(help_text='Kept after the account is deleted.', max_length=200)),
                ('via', models.CharField(blank=True, default='', help_text="How the change was made: admin, api, an API token's name, or engine.", max_length=120)),
                ('address', models.GenericIPAddressField(blank=True, null=True)),
                ('action', models.CharField(max_length=60)),
                ('object_type', models.CharField(max_length=60)),
                ('object_id', models.CharField(max_length=64)),
                ('reason', models.TextField(blank=True, default='')),
                ('before', models.JSONField(blank=True, null=True)),
                ('after', models.JSONField(blank=True, null=True)),
                ('details', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('transaction', models.BigIntegerField(db_default=executions.database.clock.CurrentTransaction(), editable=False)),
                ('actor', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workspace')),
            ],
            options={
                'verbose_name_plural': 'activity',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['created_at', 'id'], name='activity_all'), models.Index(fields=['transaction', 'id'], name='activity_transaction'), models.Index(fields=['workspace', 'created_at', 'id'], name='activity_list'), models.Index(fields=['object_id', 'created_at'], name='activity_object'), models.Index(fields=['actor_name', 'created_at'], name='activity_actor'), models.Index(fields=['action', 'created_at'], name='activity_action')],
            },
        ),
        migrations.CreateModel(
            name='AuditSeal',
            fields=[
                ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                ('previous', models.BinaryField(max_length=32)),
                ('digest', models.BinaryField(max_length=32)),
                ('count', models.PositiveIntegerField()),
                ('leaves', models.BinaryField()),
                ('last_transaction', models.BigIntegerField()),
                ('last_row', models.UUIDField()),
                ('since', models.DateTimeField()),
                ('sealed_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='seal_counts_from_one')],
            },
        ),
        migrations.CreateModel(
            name='AccountSession',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('TOKEN', 'tokens'), ('BROWSER', 'browser')], max_length=7)),
                ('refresh_digest', models.CharField(blank=True, default='', editable=False, max_length=64)),
                ('user_agent', models.CharField(blank=True, default='', max_length=300)),
                ('address', models.GenericIPAddressField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('last_used_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('last_used_from', models.GenericIPAddressField(blank=True, editable=False, null=True)),
                ('expires_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('end_reason', models.CharField(blank=True, choices=[('SIGNED_OUT', 'signed out'), ('REVOKED', 'ended from the list of sessions'), ('REUSED', 'a refresh token was reused'), ('PASSWORD', 'the password changed'), ('SWITCHED_OFF', 'the account was disabled'), ('LOST_RIGHTS', 'the account lost a role or status')], default='', editable=False, max_length=12)),
                ('user', models.ForeignKey(db_index=False, on_delete=executions.database.accounts.cascade, related_name='valkyr_sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'session',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['user', 'created_at', 'id'], name='session_list'), models.Index(fields=['expires_at'], name='session_age')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('kind', 'TOKEN'), models.Q(('refresh_digest', ''), _negated=True)), models.Q(('kind', 'BROWSER'), ('refresh_digest', '')), _connector='OR'), name='session_refreshes_by_token'), models.CheckConstraint(condition=models.Q(models.Q(('end_reason', ''), ('ended_at', None)), models.Q(('ended_at__isnull', False), models.Q(('end_reason', ''), _negated=True)), _connector='OR'), name='session_ends_for_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Workflow',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('slug', models.SlugField(max_length=80)),
                ('description', models.TextField(blank=True, default='')),
                ('origin', models.CharField(blank=True, default='', editable=False, help_text='The code that publishes the workflow, such as `shop.flows:fulfil`. Empty if people edit it.', max_length=200)),
                ('origin_line', models.PositiveIntegerField(editable=False, help_text='The line at which that code begins, at the last publishing.', null=True)),
                ('enabled', models.BooleanField(default=True, help_text='If it is off, no trigger starts the workflow.')),
                ('definition', models.JSONField(default=dict, help_text='The draft, as written by its author.')),
                ('revision', models.PositiveIntegerField(default=1, editable=False, help_text='Increases with each change; the ETag of the draft.')),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('archived_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='workflows', to='executions.workspace')),
                ('canary_percent', models.FloatField(editable=False, help_text='That share of the starts, in per cent.', null=True)),
            ],
            options={
                'ordering': ['name'],
                'permissions': [('read_workflow', 'READ: view the workflow and its executions'), ('write_workflow', 'WRITE: edit and publish the workflow, operate its executions'), ('execute_workflow', 'EXECUTE: start, replay, fork and signal its executions')],
                'indexes': [models.Index(fields=['workspace', 'created_at', 'id'], name='workflow_list')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('archived_at__isnull', True)), fields=('workspace', 'slug'), name='workflow_slug_once')],
            },
        ),
        migrations.CreateModel(
            name='Trigger',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('type', models.CharField(choices=[('MANUAL', 'manual'), ('CRON', 'schedule'), ('EVENT', 'event'), ('WEBHOOK', 'webhook'), ('QUEUE', 'queue')], max_length=10)),
                ('settings', models.JSONField(default=dict)),
                ('beat', models.JSONField(editable=False, help_text='The periodic task of beat for this schedule, if there is one.', null=True)),
                ('enabled', models.BooleanField(default=True)),
                ('secret_version', models.PositiveIntegerField(default=1, help_text="The number of the webhook's current secret. Secrets are derived, never stored.")),
                ('former_secret_until', models.DateTimeField(blank=True, editable=False, help_text='The time until which the previous secret is also accepted.', null=True)),
                ('paused_until', models.DateTimeField(blank=True, editable=False, help_text='The time until which a schedule is paused. Empty if it was never paused.', null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('enabled_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('retired_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('next_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('workflow', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='triggers', to='executions.workflow')),
            ],
            options={
                'ordering': ['created_at'],
                'indexes': [models.Index(condition=models.Q(('enabled', True)), fields=['next_at'], name='trigger_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('retired_at__isnull', True), ('enabled', False), _connector='OR'), name='trigger_retired_off')],
            },
        ),
        migrations.CreateModel(
            name='WorkflowGroupPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='group_permissions', to='executions.workflow')),
                ('group', models.ForeignKey(on_delete=executions.database.accounts.cascade, to='auth.group')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
            ],
            options={
                'verbose_name': 'workflow shared with a group',
                'verbose_name_plural': 'workflows shared with groups',
                'abstract': False,
                'unique_together': {('group', 'permission', 'content_object')},
            },
        ),
        migrations.CreateModel(
            name='WorkflowUserPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='user_permissions', to='executions.workflow')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=executions.database.accounts.cascade, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'workflow shared with a person',
                'verbose_name_plural': 'workflows shared with people',
                'abstract': False,
                'unique_together': {('user', 'permission', 'content_object')},
            },
        ),
        migrations.CreateModel(
            name='WorkflowVersion',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('published', 'published'), ('test', 'test')], default='published', max_length=10)),
                ('source', models.JSONField(help_text='The definition, as written by its author.')),
                ('definition', models.JSONField(help_text='The definition that executions run, with all defaults written out.')),
                ('checksum', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('published_by', models.ForeignKey(null=True, on_delete=executions.database.accounts.set_null, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workflow', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='executions.workflow')),
                ('withdrawn_at', models.DateTimeField(editable=False, help_text='When it was rolled back, or its canary ended without a promotion.', null=True)),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('workflow', 'number'), name='version_number_once')],
            },
        ),
        migrations.CreateModel(
            name='WorkflowExecution',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('parent_run_id', models.UUIDField(blank=True, help_text='The run of the parent that started this execution and waits for it.', null=True)),
                ('depth', models.PositiveSmallIntegerField(default=0, help_text='The number of ancestors.')),
                ('origin_point', models.CharField(blank=True, default='', help_text='The point from which the execution was forked.', max_length=1000)),
                ('state', models.CharField(choices=[('PENDING', 'pending'), ('RUNNING', 'running'), ('PAUSED', 'paused'), ('SUCCESS', 'succeeded'), ('FAILED', 'failed'), ('CANCELLED', 'cancelled'), ('TIMEOUT', 'timed out')], default='PENDING', max_length=10)),
                ('epoch', models.PositiveIntegerField(default=0)),
                ('trigger_type', models.CharField(choices=[('MANUAL', 'manual'), ('CRON', 'schedule'), ('EVENT', 'event'), ('WEBHOOK', 'webhook'), ('QUEUE', 'queue')], default='MANUAL', max_length=10)),
                ('trigger_payload', models.JSONField(null=True)),
                ('context_data', models.JSONField(default=dict)),
                ('priority', models.PositiveSmallIntegerField(default=5, help_text='From 0 (last) to 9 (first).')),
                ('place', models.CharField(choices=[('HELD', 'held'), ('FREE', 'released while all its steps wait'), ('WANTED', 'resumed; waiting for a free slot'), ('ASKED', "started in its caller's transaction; not counted yet")], db_default='HELD', default='HELD', max_length=6)),
                ('concurrency_key', models.CharField(blank=True, max_length=300, null=True)),
                ('concurrency_limit', models.PositiveIntegerField(blank=True, help_text='The maximum number of executions of the workflow with this key at once.', null=True)),
                ('idempotency_key', models.CharField(blank=True, max_length=200, null=True)),
                ('request_hash', models.CharField(blank=True, default='', max_length=64)),
                ('timeout_seconds', models.FloatField(blank=True, null=True)),
                ('deadline_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('output', models.JSONField(blank=True, null=True)),
                ('error_message', models.TextField(blank=True, default='')),
                ('error_stack_trace', models.TextField(blank=True, default='')),
                ('metrics_snapshot', models.JSONField(blank=True, null=True)),
                ('trace_id', models.CharField(blank=True, default='', max_length=32)),
                ('compensation', models.CharField(blank=True, choices=[('', 'none'), ('WAITING', 'waits for running steps'), ('RUNNING', 'undoing'), ('DONE', 'undone'), ('FAILED', 'undo failed')], db_default='', default='', max_length=7)),
                ('ending', models.CharField(blank=True, db_default='', default='', help_text='The final state, after the undo steps have run.', max_length=10)),
                ('failure_of', models.ForeignKey(blank=True, db_index=False, help_text='The failed execution for which this error workflow was started.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='error_executions', to='executions.workflowexecution')),
                ('origin', models.ForeignKey(blank=True, db_index=False, help_text='The execution that this one replays, or from which it was forked.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='descendants', to='executions.workflowexecution')),
                ('parent', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='executions.workflowexecution')),
                ('trigger', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='executions', to='executions.trigger')),
                ('workflow', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='executions', to='executions.workflow')),
                ('version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='executions', to='executions.workflowversion')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workspace')),
                ('principal', models.ForeignKey(blank=True, db_constraint=False, db_index=False, help_text='The user who started the execution or its root. Empty for triggers.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('canary', models.BooleanField(db_default=False, default=False, editable=False, help_text="It took the canary version's share of the starts.")),
                ('labels', models.JSONField(blank=True, help_text='What it is found by: text by name, rendered at its start.', null=True)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['created_at', 'id'], name='execution_list'), models.Index(condition=models.Q(('finished_at__isnull', False), ('state__in', ['FAILED', 'TIMEOUT', 'CANCELLED'])), fields=['workspace', 'id'], name='execution_ended_badly'), models.Index(fields=['workspace', 'created_at', 'id'], name='execution_workspace_list'), models.Index(fields=['workflow', 'created_at', 'id'], name='execution_workflow_list'), models.Index(condition=models.Q(('concurrency_key__isnull', True), ('state', 'PENDING')), fields=['workspace', '-priority', 'created_at'], name='execution_waiting'), models.Index(condition=models.Q(('concurrency_key__isnull', False), ('state', 'PENDING')), fields=['workspace', 'workflow', 'concurrency_key', '-priority', 'created_at'], name='execution_waiting_key'), models.Index(condition=models.Q(('finished_at__isnull', True), ('state__in', ['PENDING', 'RUNNING', 'PAUSED'])), fields=['state', 'place', 'workspace', 'id'], name='execution_live'), models.Index(condition=models.Q(('concurrency_key__isnull', False), ('state__in', ['PENDING', 'RUNNING', 'PAUSED'])), fields=['workflow', 'concurrency_key', 'state'], name='execution_concurrency'), models.Index(condition=models.Q(('place', 'WANTED')), fields=['workspace', '-priority', 'created_at'], name='execution_wants_place'), models.Index(condition=models.Q(('place', 'ASKED')), fields=['workspace', '-priority', 'created_at'], name='execution_asked'), models.Index(condition=models.Q(('trigger__isnull', False)), fields=['trigger', 'finished_at'], name='execution_trigger'), models.Index(condition=models.Q(('origin__isnull', False)), fields=['origin'], name='execution_origin'), models.Index(condition=models.Q(('parent__isnull', False)), fields=['parent'], name='execution_child'), models.Index(condition=models.Q(('finished_at__isnull', True), ('parent__isnull', False)), fields=['parent'], name='execution_child_unfinished'), models.Index(condition=models.Q(('failure_of__isnull', False)), fields=['failure_of'], name='execution_failure_of'), models.Index(condition=models.Q(('compensation', 'WAITING')), fields=['id'], name='execution_waits_to_undo'), models.Index(condition=models.Q(('deadline_at__isnull', False), ('finished_at__isnull', True)), fields=['deadline_at'], name='execution_deadline'), models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at'], name='execution_ended'), django.contrib.postgres.indexes.HashIndex(fields=['trace_id'], name='execution_trace'), models.Index(condition=models.Q(('canary', True)), fields=['version', 'id'], name='execution_canary')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('idempotency_key__isnull', False)), fields=('workflow', 'idempotency_key'), name='execution_key_once'), models.CheckConstraint(condition=models.Q(('state__in', ['PENDING', 'RUNNING', 'PAUSED', 'SUCCESS', 'FAILED', 'CANCELLED', 'TIMEOUT'])), name='execution_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('compensation', ''), ('ending', '')), models.Q(('compensation__in', ['DONE', 'FAILED', 'RUNNING', 'WAITING']), ('ending__in', ['CANCELLED', 'FAILED', 'TIMEOUT'])), _connector='OR'), name='execution_compensation_known'), models.CheckConstraint(condition=models.Q(('priority__gte', 0), ('priority__lte', 9)), name='execution_priority_range'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ['CANCELLED', 'FAILED', 'SUCCESS', 'TIMEOUT'])), models.Q(models.Q(('state__in', ['CANCELLED', 'FAILED', 'SUCCESS', 'TIMEOUT']), _negated=True), ('finished_at__isnull', True)), _connector='OR'), name='execution_final_has_finished_at'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['RUNNING', 'PAUSED', 'SUCCESS']), _negated=True), ('started_at__isnull', False), _connector='OR'), name='execution_running_has_started_at')],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('signature', models.CharField(help_text='SHA-256 of the signed content, in hex.', max_length=64)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('trigger', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='executions.trigger')),
                ('execution', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='executions.workflowexecution')),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [models.Index(fields=['created_at'], name='delivery_age')],
                'constraints': [models.UniqueConstraint(fields=('trigger', 'signature'), name='delivery_once')],
            },
        ),
        migrations.CreateModel(
            name='RefusedMessage',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('body', models.TextField(blank=True, default='', help_text='The original message, truncated at 64 KiB.')),
                ('headers', models.JSONField(default=dict)),
                ('code', models.CharField(max_length=60)),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('resolution', models.CharField(blank=True, default='', max_length=20)),
                ('trigger', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refused', to='executions.trigger')),
                ('execution', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflowexecution')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['trigger', 'created_at', 'id'], name='refused_list'), models.Index(condition=models.Q(('execution__isnull', False)), fields=['execution'], name='refused_execution')],
            },
        ),
        migrations.CreateModel(
            name='CronTick',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('fire_at', models.DateTimeField()),
                ('status', models.CharField(choices=[('FIRED', 'started an execution'), ('QUEUED', 'queued'), ('SKIPPED', 'skipped'), ('MISSED', 'missed during an outage'), ('REFUSED', 'could not be started')], default='FIRED', max_length=8)),
                ('start_at', models.DateTimeField(blank=True, null=True)),
                ('reason', models.CharField(blank=True, default='', max_length=200)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('trigger', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ticks', to='executions.trigger')),
                ('execution', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflowexecution')),
            ],
            options={
                'ordering': ['-fire_at'],
                'indexes': [models.Index(condition=models.Q(('status', 'QUEUED')), fields=['trigger', 'fire_at'], name='tick_queued'), models.Index(fields=['status', 'id'], name='tick_status')],
                'constraints': [models.UniqueConstraint(fields=('trigger', 'fire_at'), name='tick_once'), models.CheckConstraint(condition=models.Q(('execution__isnull', False), models.Q(('reason', ''), _negated=True), _connector='OR'), name='tick_explained'), models.CheckConstraint(condition=models.Q(models.Q(('execution__isnull', False), ('status', 'FIRED')), models.Q(models.Q(('status', 'FIRED'), _negated=True), ('execution__isnull', True)), _connector='OR'), name='tick_fired_has_execution'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'QUEUED'), _negated=True), ('start_at__isnull', False), _connector='OR'), name='tick_queued_has_start_at')],
            },
        ),
        migrations.AddField(
            model_name='Workflow',
            name='latest_version',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflowversion'),
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=40)),
                ('subject', models.UUIDField(help_text='The id of the object that the job is for, such as an execution.')),
                ('requested_by', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('QUEUED', 'queued'), ('RUNNING', 'running'), ('SUCCESS', 'succeeded'), ('FAILED', 'failed')], default='QUEUED', editable=False, max_length=7)),
                ('result', models.JSONField(null=True)),
                ('error_code', models.CharField(blank=True, default='', max_length=100)),
                ('error', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('sent_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('deadline_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['kind', 'subject', '-created_at'], name='job_of_subject'), models.Index(fields=['created_at'], name='job_age'), models.Index(condition=models.Q(('state__in', ['QUEUED', 'RUNNING'])), fields=['workspace'], name='job_unfinished')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['QUEUED', 'RUNNING'])), fields=('kind', 'subject'), name='job_one_unfinished'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['QUEUED', 'RUNNING'])), models.Q(('finished_at__isnull', False), ('state__in', ['FAILED', 'SUCCESS'])), _connector='OR'), name='job_final_has_finished_at')],
            },
        ),
        migrations.CreateModel(
            name='CredentialUse',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('credential_id', models.UUIDField(null=True)),
                ('name', models.CharField(max_length=80)),
                ('version', models.PositiveIntegerField(null=True)),
                ('workflow_id', models.UUIDField()),
                ('execution_id', models.UUIDField()),
                ('run_id', models.UUIDField()),
                ('step_path', models.TextField()),
                ('attempt', models.PositiveIntegerField()),
                ('module', models.CharField(max_length=100)),
                ('remote', models.BooleanField(default=False)),
                ('host', models.CharField(blank=True, default='', max_length=300)),
                ('allowed', models.BooleanField(default=True)),
                ('reason', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('workspace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='executions.workspace')),
            ],
            options={
                'verbose_name': 'credential use',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['workspace', 'created_at', 'id'], name='credential_use_list'), models.Index(fields=['credential_id', 'created_at', 'id'], name='credential_use_of'), models.Index(condition=models.Q(('allowed', False)), fields=['workspace', 'created_at', 'id'], name='credential_use_refused')],
            },
        ),
        migrations.CreateModel(
            name='Credential',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('type', models.CharField(default='secret', max_length=40)),
                ('description', models.TextField(blank=True, default='')),
                ('fields', models.JSONField(default=list, help_text='The names of the fields, without values.')),
                ('hosts', models.JSONField(default=list)),
                ('modules', models.JSONField(default=list)),
                ('workflows', models.JSONField(default=list)),
                ('remote', models.BooleanField(default=False)),
                ('sealed', models.BinaryField()),
                ('key_id', models.BigIntegerField(db_index=True, editable=False)),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_by', models.CharField(blank=True, default='', editable=False, max_length=200)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credentials', to='executions.workspace')),
                ('refreshing_until', models.DateTimeField(blank=True, editable=False, null=True)),
                ('issued_until', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'ordering': ['name'],
                'indexes': [models.Index(fields=['workspace', 'created_at', 'id'], name='credential_list')],
                'constraints': [models.UniqueConstraint(fields=('workspace', 'name'), name='credential_once')],
            },
        ),
        migrations.CreateModel(
            name='PayloadKey',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('seals', models.BooleanField(default=False)),
                ('sealed', models.BinaryField()),
                ('key_id', models.BigIntegerField(db_index=True, editable=False)),
                ('marks', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='payload_keys', to='executions.workspace')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['workspace', 'id'], name='payload_key_list')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('seals', True)), fields=('workspace',), name='payload_key_seals_once')],
            },
        ),
        migrations.CreateModel(
            name='AppliedBundle',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='applied_bundle', serialize=False, to='executions.workspace')),
                ('repository', models.CharField(blank=True, default='', max_length=300)),
                ('commit', models.CharField(blank=True, default='', max_length=80)),
                ('ref', models.CharField(blank=True, default='', max_length=200)),
                ('keys', models.JSONField(default=list)),
                ('applied_by', models.CharField(blank=True, default='', max_length=200)),
                ('applied_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
            ],
        ),
        migrations.AddField(
            model_name='workflow',
            name='canary_version',
            field=models.ForeignKey(blank=True, editable=False, help_text='The version that a share of the starts takes instead of the latest, if any.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflowversion'),
        ),
        migrations.AddConstraint(
            model_name='workflow',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('canary_percent', None), ('canary_version', None)), models.Q(('canary_percent__gt', 0), ('canary_percent__lte', 100), ('canary_version__isnull', False)), _connector='OR'), name='workflow_canary_has_share'),
        ),
        migrations.CreateModel(
            name='ExecutionLabel',
            fields=[
                ('pk', models.CompositePrimaryKey('execution_id', 'name', blank=True, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=40)),
                ('value', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('PENDING', 'pending'), ('RUNNING', 'running'), ('PAUSED', 'paused'), ('SUCCESS', 'succeeded'), ('FAILED', 'failed'), ('CANCELLED', 'cancelled'), ('TIMEOUT', 'timed out')], max_length=10)),
                ('execution', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='label_rows', to='executions.workflowexecution')),
                ('workflow', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='executions.workflow')),
                ('workspace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='executions.workspace')),
            ],
            options={
                'indexes': [models.Index(fields=['name', 'value', 'workflow', 'state', 'execution'], name='label_newest')],
            },
        ),
        migrations.CreateModel(
            name='StoredPayload',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64)),
                ('sealing_key', models.BigIntegerField(default=0)),
                ('size', models.BigIntegerField()),
                ('stored_at', models.DateTimeField(null=True)),
                ('checked_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('deleting_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('workspace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='executions.workspace')),
                ('refers_to', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), null=True, size=None)),
                ('content_digest', models.CharField(blank=True, db_default='', default='', max_length=64)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['checked_at', 'id'], name='stored_payload_check')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('deleting_at', None)), fields=('workspace', 'digest', 'sealing_key'), name='stored_payload_once')],
            },
        ),
        migrations.CreateModel(
            name='StoredPayloadUse',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('holder_id', models.UUIDField(db_column='execution_id')),
                ('payload', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='executions.storedpayload')),
            ],
            options={
                'indexes': [models.Index(fields=['holder_id'], name='stored_payload_use_of')],
                'constraints': [models.UniqueConstraint(fields=('payload', 'holder_id'), name='stored_payload_use_once')],
            },
        ),
        migrations.CreateModel(
            name='WorkspaceMove',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('workspace_id', models.UUIDField(db_index=True)),
                ('source', models.CharField(blank=True, max_length=16)),
                ('target', models.CharField(blank=True, max_length=16)),
                ('state', models.CharField(default='COPYING', max_length=10)),
                ('mark', models.UUIDField(null=True)),
                ('mark_at', models.DateTimeField(null=True)),
                ('copied', models.BigIntegerField(default=0)),
                ('started_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('pause_ms', models.PositiveIntegerField(null=True)),
                ('switched_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('workspace_id',), name='workspace_moves_once')],
            },
        ),
        migrations.RunPython(keep_plans, migrations.RunPython.noop),
        migrations.RunPython(create_triggers, drop_triggers),
        migrations.RunPython(follow_states, stop_following),
        migrations.RunPython(create_defaults, migrations.RunPython.noop, elidable=False),
    ]
