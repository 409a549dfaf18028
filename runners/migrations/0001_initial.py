import django.db.models.deletion
import executions.database.clock
import executions.database.migrations
import runners.states
import executions.database.ids
from django.db import migrations, models

# Room for the updates that stay in their page: renewals of leases, counters of containers.
ROOM = "ALTER TABLE {runs} SET (fillfactor = 80)"

# How much a queue has to do, as a function: what a cluster adds and removes workers by.
#
# It runs with its owner's rights, so that whoever scales may call it and read no table. It reads
# live runs only (the index `run_due`), never what has ended, and stops counting at `most`.
QUEUE_LOAD = """
CREATE FUNCTION valkyr_queue_load(of_queue text, most integer DEFAULT 10000) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT count(*)
      FROM (SELECT
              FROM {runs} r
              JOIN {executions} e ON e.id = r.execution_id
             WHERE r.finished_at IS NULL
               AND r.state IN ('PENDING', 'LEASED', 'RUNNING')
               AND r.queue = of_queue
               AND e.state = 'RUNNING'
               AND (r.retry_after IS NULL OR r.retry_after <= clock_timestamp())
             LIMIT most) AS due
$$;
REVOKE ALL ON FUNCTION valkyr_queue_load(text, integer) FROM PUBLIC;
COMMENT ON FUNCTION valkyr_queue_load IS
    'Steps of a queue that wait for a worker or are under way now, up to `most`.';
"""


def finish(apps, schema_editor):
    names = {
        "runs": executions.database.migrations.model(apps, "runners.Run")._meta.db_table,
        "executions": executions.database.migrations.model(apps, "executions.WorkflowExecution")._meta.db_table,
    }
    waiters = executions.database.migrations.model(apps, "runners.Waiter")._meta.db_table
    for table in (names["runs"], waiters):
        schema_editor.execute(executions.database.migrations.HOT.format(table=table), params=None)
    schema_editor.execute(ROOM.format(**names), params=None)
    schema_editor.execute(QUEUE_LOAD.format(**names), params=None)


def undo(apps, schema_editor):
    schema_editor.execute("DROP FUNCTION valkyr_queue_load(text, integer)")


class Migration(executions.database.migrations.Migration):

    initial = True

    dependencies = [
        ('executions', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('epoch', models.IntegerField(default=0)),
                ('segment', models.CharField(max_length=1000)),
                ('step_path', models.CharField(max_length=1000)),
                ('task_id', models.UUIDField()),
                ('module_id', models.UUIDField()),
                ('module', models.CharField(max_length=100)),
                ('attempt', models.IntegerField(default=1)),
                ('budget_start', models.IntegerField(default=1, help_text='The first attempt of the current series of retries.')),
                ('state', models.CharField(choices=[('PENDING', 'pending'), ('LEASED', 'leased'), ('RUNNING', 'running'), ('WAITING', 'waiting'), ('SUCCESS', 'success'), ('FAILED', 'failed'), ('DLQ', 'dlq'), ('CANCELLED', 'cancelled'), ('SKIPPED', 'skipped')], default='PENDING', max_length=10)),
                ('superseded', models.BooleanField(default=False)),
                ('queue', models.CharField(max_length=100)),
                ('priority', models.SmallIntegerField(default=5)),
                ('lease_token', models.IntegerField(default=0)),
                ('leased_by', models.CharField(blank=True, default='', max_length=200)),
                ('lease_until', models.DateTimeField(null=True)),
                ('deadline_at', models.DateTimeField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
                ('heartbeat_details', models.JSONField(null=True)),
                ('recoveries', models.IntegerField(default=0)),
                ('crashes', models.IntegerField(db_default=0, default=0)),
                ('crash_cause', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('suspect', models.BooleanField(db_default=False, default=False)),
                ('idempotency_key', models.CharField(blank=True, default='', max_length=64)),
                ('inputs_hash', models.CharField(blank=True, default='', max_length=64)),
                ('config_hash', models.CharField(blank=True, default='', max_length=64)),
                ('overrides', models.JSONField(null=True)),
                ('inputs', models.JSONField(null=True)),
                ('secret_places', models.JSONField(help_text='Remote steps: the places of secrets in the inputs. Set when the inputs are rendered.', null=True)),
                ('outputs', models.JSONField(null=True)),
                ('outcome', models.CharField(blank=True, default='', max_length=100)),
                ('error', models.TextField(blank=True, default='')),
                ('error_type', models.CharField(blank=True, choices=[('TRANSIENT', 'TRANSIENT'), ('PERMANENT', 'PERMANENT'), ('TIMEOUT', 'TIMEOUT'), ('CIRCUIT_OPEN', 'CIRCUIT_OPEN')], default='', max_length=12)),
                ('error_details', models.JSONField(null=True)),
                ('logs', models.JSONField(null=True)),
                ('waits_for', models.CharField(blank=True, db_default='', default='', max_length=10)),
                ('progress', models.JSONField(null=True)),
                ('wake', models.JSONField(null=True)),
                ('cached_from', models.UUIDField(help_text='The run whose result was reused.', null=True)),
                ('retry_after', models.DateTimeField(null=True)),
                ('due_at', models.DateTimeField(null=True)),
                ('published_at', models.DateTimeField(null=True)),
                ('publications', models.IntegerField(default=0)),
                ('queued_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('duration_ms', models.FloatField(null=True)),
                ('cost_tokens', models.BigIntegerField(default=0)),
                ('cost_amount', models.DecimalField(decimal_places=6, default=0, max_digits=16)),
                ('execution', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='executions.workflowexecution')),
            ],
            options={
                'ordering': ['-queued_at', '-id'],
                'indexes': [models.Index(fields=['execution', 'state'], name='run_execution_state'), models.Index(condition=models.Q(('finished_at__isnull', True)), fields=['state', 'due_at'], name='run_due'), models.Index(condition=models.Q(('published_at__isnull', True), ('state', 'PENDING')), fields=['due_at'], name='run_retry'), models.Index(condition=models.Q(('secret_places__isnull', False), ('state', 'PENDING'), models.Q(('queue__in', ['control', 'default', 'io']), _negated=True)), fields=['queue', '-priority', 'id'], name='run_remote'), models.Index(condition=models.Q(('finished_at__isnull', False), ('state__in', ['FAILED', 'DLQ', 'CANCELLED'])), fields=['state', 'id'], name='run_ended_badly'), models.Index(condition=models.Q(('waits_for', 'approval')), fields=['state', 'id'], name='run_approval')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', [runners.states.RunState['LEASED'], runners.states.RunState['PENDING'], runners.states.RunState['RUNNING'], runners.states.RunState['SKIPPED'], runners.states.RunState['SUCCESS'], runners.states.RunState['WAITING']]), ('superseded', False)), fields=('execution', 'epoch', 'step_path'), name='run_one_live_or_successful'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', [runners.states.RunState['LEASED'], runners.states.RunState['RUNNING']]), _negated=True), models.Q(('lease_until__isnull', False), models.Q(('leased_by', ''), _negated=True), ('lease_token__gt', 0)), _connector='OR'), name='run_held_has_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', [runners.states.RunState['CANCELLED'], runners.states.RunState['DLQ'], runners.states.RunState['FAILED'], runners.states.RunState['SKIPPED'], runners.states.RunState['SUCCESS']])), models.Q(('state__in', [runners.states.RunState['LEASED'], runners.states.RunState['PENDING'], runners.states.RunState['RUNNING'], runners.states.RunState['WAITING']]), ('finished_at__isnull', True)), _connector='OR'), name='run_final_has_finished_at')],
            },
        ),
        migrations.CreateModel(
            name='CachedResult',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('owner', models.UUIDField()),
                ('key', models.CharField(max_length=64)),
                ('run_id', models.UUIDField(help_text='The run with this result.')),
                ('outcome', models.CharField(max_length=100)),
                ('outputs', models.JSONField(null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['expires_at'], name='cached_result_age')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'key'), name='cached_result_once')],
            },
        ),
        migrations.CreateModel(
            name='Approval',
            fields=[
            ],
            options={
                'proxy': True,
            },
            bases=('runners.run',),
        ),
        migrations.CreateModel(
            name='Runner',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=300, unique=True)),
                ('host', models.CharField(max_length=200)),
                ('pid', models.PositiveIntegerField()),
                ('pool', models.CharField(max_length=20)),
                ('queues', models.JSONField(default=list)),
                ('started_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('seen_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('leaving_at', models.DateTimeField(help_text='The time at which the process announced its shutdown.', null=True)),
                ('workspace', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workspace')),
                ('processes', models.PositiveIntegerField(db_default=1, default=1, help_text='The maximum number of concurrent steps.')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='EarlyCallback',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step_path', models.CharField(max_length=1000)),
                ('payload', models.JSONField(null=True)),
                ('received_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('execution', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workflowexecution')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('execution', 'step_path'), name='early_callback_once')],
            },
        ),
        migrations.CreateModel(
            name='Waiter',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='runners.run')),
                ('kind', models.CharField(choices=[('body', 'body'), ('timer', 'timer'), ('approval', 'approval'), ('event', 'event'), ('callback', 'callback'), ('child', 'child'), ('circuit', 'circuit'), ('quota', 'quota')], max_length=10)),
                ('key', models.CharField(blank=True, default='', max_length=300)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('unheard_since', models.DateTimeField(editable=False, null=True)),
                ('execution', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workflowexecution')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workspace')),
            ],
            options={
                'ordering': ['created_at'],
                'indexes': [models.Index(fields=['execution'], name='waiter_execution'), models.Index(fields=['kind', 'key', 'workspace', 'run'], name='waiter_key'), models.Index(condition=models.Q(('unheard_since__isnull', False)), fields=['unheard_since'], name='waiter_unheard')],
            },
        ),
        migrations.CreateModel(
            name='HeldPermit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run_id', models.UUIDField()),
                ('token', models.IntegerField()),
                ('gate', models.CharField(max_length=50)),
                ('kept', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run_id', 'token', 'gate'), name='held_permit_once')],
            },
        ),
        migrations.RunPython(finish, undo),
    ]
