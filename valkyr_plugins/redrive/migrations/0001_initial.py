import django.db.models.deletion
import executions.public.database
import executions.public.migrations
from django.conf import settings
from django.db import migrations, models

# Code that deletes these rows need not know of redrives, whose tables stay if the plugin is
# removed. Table, constraint, column, the referenced model (else accounts), the action on deletion.
KEYS = (
    ('dlq_redrive', 'redrive_created_by', 'created_by_id', '', 'SET NULL'),
    ('dlq_redrive', 'redrive_group', 'group_id', 'dlq.FailureGroup', 'SET NULL'),
    ('dlq_redriveitem', 'redrive_item_entry', 'entry_id', 'dlq.DeadLetterEntry', 'CASCADE'),
    ('dlq_redriveitem', 'redrive_item_again', 'again_id', 'dlq.DeadLetterEntry', 'SET NULL'),
)
ADD = (
    'ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) REFERENCES {to} '
    'ON DELETE {then} DEFERRABLE INITIALLY DEFERRED'
)


def add_keys(apps, schema_editor):
    user = apps.get_model(settings.AUTH_USER_MODEL)
    for table, name, column, model, then in KEYS:
        to = (executions.public.migrations.model(apps, model) if model else user)._meta
        schema_editor.execute(
            ADD.format(table=table, name=f'{name}_key', column=column, then=then,
                       to=f'{schema_editor.quote_name(to.db_table)} ({to.pk.column})')
        )


class Migration(executions.public.migrations.Migration):

    initial = True

    dependencies = [
        ('dlq', '0001_initial'),
        ('executions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Redrive',
            fields=[
                ('id', models.UUIDField(default=executions.public.database.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_by_name', models.CharField(max_length=200)),
                ('reason', models.TextField(blank=True, default='')),
                ('selection', models.JSONField()),
                ('scope', models.CharField(choices=[('STEP', 'the failed step, in its execution'), ('FROM', 'from a chosen step on, in a new execution'), ('EXECUTION', 'the whole execution, again')], default='STEP', max_length=10)),
                ('from_step', models.CharField(blank=True, default='', max_length=1000)),
                ('version', models.CharField(default='pinned', help_text='For new executions: pinned, latest or a version number.', max_length=10)),
                ('overrides', models.JSONField(blank=True, help_text='A JSON merge patch.', null=True)),
                ('expression', models.TextField(blank=True, default='', help_text="A template that returns the patch for each dead letter.")),
                ('rate', models.FloatField(blank=True, null=True)),
                ('max_in_flight', models.PositiveIntegerField(blank=True, null=True)),
                ('canary', models.PositiveIntegerField(default=0)),
                ('stop_above', models.FloatField(blank=True, null=True)),
                ('stop_window', models.PositiveIntegerField(default=100)),
                ('state', models.CharField(choices=[('DRAFT', 'draft'), ('RUNNING', 'running'), ('PAUSED', 'paused'), ('STOPPED', 'stopped by its failures'), ('DONE', 'done'), ('ABORTED', 'aborted')], default='DRAFT', max_length=8)),
                ('stop_reason', models.TextField(blank=True, default='')),
                ('total', models.PositiveIntegerField(default=0)),
                ('truncated', models.BooleanField(default=False, help_text='Whether there were more dead letters than one redrive can have.')),
                ('sent', models.PositiveIntegerField(default=0)),
                ('running', models.PositiveIntegerField(default=0, help_text='The number of items that were sent and have not ended.')),
                ('succeeded', models.PositiveIntegerField(default=0)),
                ('failed_again', models.PositiveIntegerField(default=0)),
                ('skipped', models.PositiveIntegerField(default=0)),
                ('pace_since', models.DateTimeField(blank=True, null=True)),
                ('pace_sent', models.PositiveIntegerField(default=0)),
                ('recent', models.TextField(blank=True, default='', help_text='The latest results, oldest first: S for succeeded, F for failed.')),
                ('settled_to', models.BigIntegerField(default=0, help_text='The last item whose result was read.')),
                ('busy', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=executions.public.database.ClockTimestamp())),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=executions.public.database.set_null, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('group', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='redrives', to='dlq.failuregroup')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workspace')),
            ],
            options={
                'db_table': 'dlq_redrive',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['workspace', 'created_at', 'id'], name='redrive_list'), models.Index(condition=models.Q(('busy', True)), fields=['id'], name='redrive_busy'), models.Index(condition=models.Q(('state', 'DRAFT')), fields=['created_at'], name='redrive_drafts')],
            },
        ),
        migrations.CreateModel(
            name='RedriveItem',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('QUEUED', 'queued'), ('RUNNING', 'running'), ('SUCCEEDED', 'succeeded'), ('FAILED_AGAIN', 'failed again'), ('SKIPPED', 'skipped'), ('ABORTED', 'not sent: the redrive was aborted')], default='QUEUED', max_length=12)),
                ('active', models.BooleanField(default=None, null=True)),
                ('reason', models.CharField(blank=True, default='', max_length=2000)),
                ('run_id', models.UUIDField(blank=True, null=True)),
                ('execution_id', models.UUIDField(blank=True, null=True)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('again', models.ForeignKey(blank=True, db_constraint=False, db_index=False, help_text='The new dead letter, if the step failed again.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dlq.deadletterentry')),
                ('entry', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='redrive_items', to='dlq.deadletterentry')),
                ('redrive', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='valkyr_redrive.redrive')),
            ],
            options={
                'db_table': 'dlq_redriveitem',
                'indexes': [models.Index(fields=['redrive', 'state', 'id'], name='redrive_item_state'), models.Index(fields=['redrive', 'id'], name='redrive_item_list'), models.Index(condition=models.Q(('again__isnull', False)), fields=['again'], name='redrive_item_again')],
                'constraints': [models.UniqueConstraint(fields=('redrive', 'entry'), name='redrive_item_once'), models.UniqueConstraint(condition=models.Q(('active', True)), fields=('entry',), name='redrive_entry_held_once')],
            },
        ),
        migrations.RunPython(add_keys, migrations.RunPython.noop),
    ]
