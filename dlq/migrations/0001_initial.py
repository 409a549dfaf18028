import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import executions.database.accounts
import executions.database.clock
import executions.database.migrations
import executions.database.ids
from django.conf import settings
from django.db import migrations, models


class Migration(executions.database.migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '__first__'),
        ('executions', '0001_initial'),
        ('runners', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='FailureGroup',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('rule', models.PositiveSmallIntegerField()),
                ('place', models.CharField(max_length=1000)),
                ('module', models.CharField(max_length=100)),
                ('exception', models.CharField(blank=True, default='', max_length=200)),
                ('message', models.CharField(blank=True, default='', max_length=300)),
                ('sample', models.CharField(blank=True, default='', max_length=2000)),
                ('split_on', models.CharField(blank=True, default='', help_text='The value by which the group was split, such as HTTP status 503.', max_length=400)),
                ('status', models.CharField(choices=[('NEW', 'new'), ('ACKNOWLEDGED', 'acknowledged'), ('SNOOZED', 'snoozed'), ('REDRIVING', 'redriving'), ('RESOLVED', 'resolved'), ('REGRESSED', 'regressed'), ('IGNORED', 'ignored')], default='NEW', max_length=12)),
                ('status_before', models.CharField(blank=True, default='', help_text='The status after a redrive or a snooze.', max_length=12)),
                ('status_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('snoozed_until', models.DateTimeField(blank=True, null=True)),
                ('snoozed_total', models.PositiveBigIntegerField(blank=True, help_text='The group wakes when its total reaches this number.', null=True)),
                ('snoozed_version', models.PositiveIntegerField(blank=True, help_text='The group wakes at a failure in a later version.', null=True)),
                ('resolved_in', models.PositiveIntegerField(blank=True, help_text='A failure in this version or later reopens the group as regressed.', null=True)),
                ('muted', models.BooleanField(default=False, help_text='A muted group raises no alerts.')),
                ('redriving', models.PositiveSmallIntegerField(default=0, help_text='The number of running redrives of its dead letters.')),
                ('total', models.PositiveBigIntegerField(default=0)),
                ('open', models.BigIntegerField(default=0)),
                ('first_seen', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('last_seen', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('merged_into', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dlq.failuregroup')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=executions.database.accounts.set_null, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workflow', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflow')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workspace')),
            ],
            options={
                'verbose_name': 'failure group',
                'verbose_name_plural': 'failure groups',
                'ordering': ['-last_seen', '-id'],
                'indexes': [models.Index(condition=models.Q(('merged_into', None)), fields=['workspace', 'status', 'last_seen', 'id'], name='group_list'), models.Index(condition=models.Q(('status', 'SNOOZED')), fields=['snoozed_until'], name='group_snoozed')],
            },
        ),
        migrations.CreateModel(
            name='GroupFingerprint',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('fingerprint', models.CharField(max_length=64)),
                ('split_by', models.CharField(blank=True, default='', help_text='A facet of a dead letter, such as http_status.', max_length=20)),
                ('part_of', models.CharField(blank=True, default='', max_length=64)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fingerprints', to='dlq.failuregroup')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workspace')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('part_of', ''), _negated=True), fields=['workspace', 'part_of'], name='group_parts')],
                'constraints': [models.UniqueConstraint(fields=('workspace', 'fingerprint'), name='group_fingerprint_once')],
            },
        ),
        migrations.CreateModel(
            name='GroupHour',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('count', models.PositiveBigIntegerField(default=0)),
                ('group', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='hours', to='dlq.failuregroup')),
            ],
            options={
                'indexes': [models.Index(fields=['hour'], name='group_hour_age')],
                'constraints': [models.UniqueConstraint(fields=('group', 'hour'), name='group_hour_once')],
            },
        ),
        migrations.CreateModel(
            name='GroupMove',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('fingerprint', models.CharField(blank=True, default='', max_length=64)),
                ('by', models.CharField(blank=True, default='', max_length=20)),
                ('moved', models.PositiveBigIntegerField(default=0)),
                ('after', models.DateTimeField(blank=True, help_text='Dead letters up to this one have been moved.', null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='moves', to='dlq.failuregroup')),
                ('target', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='arrivals', to='dlq.failuregroup')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='GroupNews',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('version_number', models.PositiveIntegerField(default=0)),
                ('seen', models.IntegerField(default=0)),
                ('open', models.IntegerField(default=0)),
                ('moved', models.BooleanField(default=False)),
                ('group', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dlq.failuregroup')),
            ],
        ),
        migrations.CreateModel(
            name='GroupNote',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('author_name', models.CharField(max_length=200)),
                ('at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('text', models.TextField(max_length=10000)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=executions.database.accounts.set_null, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='dlq.failuregroup')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='GroupVersion',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('count', models.PositiveBigIntegerField(default=0)),
                ('first_seen', models.DateTimeField()),
                ('last_seen', models.DateTimeField()),
                ('group', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='dlq.failuregroup')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('group', 'number'), name='group_version_once')],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('page', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=100)),
                ('query', models.CharField(max_length=4000)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('owner', models.ForeignKey(db_index=False, on_delete=executions.database.accounts.cascade, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('owner', 'page', 'name'), name='saved_view_once')],
            },
        ),
        migrations.CreateModel(
            name='BeatPulse',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('ticked_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='beat_pulse_only_one')],
            },
        ),
        migrations.CreateModel(
            name='RetentionMark',
            fields=[
                ('name', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('row', models.UUIDField()),
            ],
        ),
        migrations.CreateModel(
            name='DeadLetterEntry',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('redrives', models.PositiveIntegerField(default=0)),
                ('version_number', models.PositiveIntegerField(help_text="The number of the workflow's version that ran.")),
                ('task_id', models.UUIDField()),
                ('step_path', models.CharField(max_length=1000)),
                ('module', models.CharField(max_length=100)),
                ('failure_type', models.CharField(choices=[('MAX_RETRIES', 'retries used up'), ('PERMANENT_ERROR', 'permanent error'), ('CIRCUIT_BREAKER', 'circuit open'), ('MANUAL', 'quarantined manually')], max_length=20)),
                ('failure_reason', models.TextField()),
                ('error_type', models.CharField(blank=True, default='', max_length=12)),
                ('exception', models.CharField(blank=True, default='', max_length=200)),
                ('http_status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('target', models.CharField(blank=True, default='', help_text='The system that the step called, such as a host.', max_length=300)),
                ('worker', models.CharField(blank=True, default='', max_length=200)),
                ('fingerprint', models.CharField(max_length=64)),
                ('attempts', models.PositiveIntegerField(default=1)),
                ('original_inputs', models.JSONField(null=True)),
                ('original_config', models.JSONField(null=True)),
                ('inputs_indexed', models.BooleanField(default=True)),
                ('resolution', models.CharField(choices=[('PENDING', 'open'), ('REQUEUED', 'requeued'), ('FIXED', 'fixed'), ('SKIPPED', 'skipped'), ('DISCARDED', 'discarded')], default='PENDING', max_length=10)),
                ('quarantined_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp())),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('pinned', models.BooleanField(default=False, help_text='Never deleted by retention.')),
                ('seen_at', models.DateTimeField(blank=True, help_text='The time at which a person first opened the page.', null=True)),
                ('notes', models.TextField(blank=True, default='')),
                ('execution', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='dead_letters', to='executions.workflowexecution')),
                ('follows', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dlq.deadletterentry')),
                ('requeued_execution', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflowexecution')),
                ('requeued_run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runners.run')),
                ('reviewed_by', models.ForeignKey(blank=True, null=True, on_delete=executions.database.accounts.set_null, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='dead_letter', to='runners.run')),
                ('workflow', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflow')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workspace')),
                ('group', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='dlq.failuregroup')),
                ('labels', models.JSONField(blank=True, help_text='The labels of the execution: text by name.', null=True)),
            ],
            options={
                'verbose_name': 'dead letter',
                'verbose_name_plural': 'dead letters',
                'ordering': ['-quarantined_at', '-id'],
                'indexes': [models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['expires_at'], name='dlq_expiry'), models.Index(condition=models.Q(('expires_at__isnull', False), ('pinned', False)), fields=['group', 'expires_at'], name='dlq_group_expiry'), models.Index(fields=['workspace', 'resolution', 'quarantined_at', 'id'], name='dlq_list'), models.Index(fields=['fingerprint', 'quarantined_at'], name='dlq_fingerprint'), models.Index(fields=['group', 'resolution', 'id'], name='dlq_group'), django.contrib.postgres.indexes.GinIndex(condition=models.Q(('inputs_indexed', True)), fields=['original_inputs'], name='dlq_inputs', opclasses=['jsonb_path_ops']), models.Index(condition=models.Q(('requeued_execution__isnull', False)), fields=['requeued_execution'], name='dlq_requeued_execution'), django.contrib.postgres.indexes.GinIndex(condition=models.Q(('labels__isnull', False)), fields=['labels'], name='dlq_labels', opclasses=['jsonb_path_ops'])],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('resolution', 'PENDING'), ('resolved_at__isnull', True)), models.Q(models.Q(('resolution', 'PENDING'), _negated=True), ('resolved_at__isnull', False)), _connector='OR'), name='dead_letter_resolved_has_time')],
            },
        ),
    ]
