"""Backtests of definitions, and their results."""

import django.db.models.deletion
import executions.public.database
import executions.public.migrations
from django.db import migrations, models


class Migration(executions.public.migrations.Migration):

    initial = True

    dependencies = [
        ('executions', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Backtest',
            fields=[
                ('id', models.UUIDField(default=executions.public.database.uuid7, editable=False, primary_key=True, serialize=False)),
                ('source', models.CharField(choices=[('DRAFT', 'draft'), ('VERSION', 'version'), ('DEFINITION', 'given definition')], default='DRAFT', max_length=10)),
                ('version', models.PositiveIntegerField(null=True)),
                ('revision', models.PositiveIntegerField(help_text='The revision of the workflow at its start.')),
                ('definition', models.JSONField()),
                ('selection', models.JSONField(default=dict)),
                ('most', models.PositiveIntegerField(help_text='At most this many executions.')),
                ('state', models.CharField(choices=[('PENDING', 'pending'), ('RUNNING', 'running'), ('DONE', 'done'), ('CANCELLED', 'cancelled'), ('FAILED', 'failed')], default='PENDING', max_length=9)),
                ('total', models.PositiveIntegerField(help_text='Null until a worker has counted.', null=True)),
                ('done', models.PositiveIntegerField(default=0)),
                ('counts', models.JSONField(default=dict, help_text='Executions by verdict.')),
                ('by_step', models.JSONField(default=dict, help_text='Verdicts by step, and their counts.')),
                ('groups', models.JSONField(null=True)),
                ('at', models.UUIDField(editable=False, null=True)),
                ('at_time', models.DateTimeField(editable=False, null=True)),
                ('token', models.PositiveIntegerField(default=0, editable=False)),
                ('leased_until', models.DateTimeField(editable=False, null=True)),
                ('error', models.TextField(blank=True, default='')),
                ('created_by_name', models.CharField(blank=True, default='', max_length=200)),
                ('created_at', models.DateTimeField(db_default=executions.public.database.ClockTimestamp(), editable=False)),
                ('started_at', models.DateTimeField(editable=False, null=True)),
                ('finished_at', models.DateTimeField(editable=False, null=True)),
                ('workflow', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workflow')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='executions.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['workspace', 'created_at', 'id'], name='backtest_list'), models.Index(fields=['workflow', 'created_at', 'id'], name='backtest_workflow'), models.Index(condition=models.Q(('finished_at', None)), fields=['id'], name='backtest_unfinished'), models.Index(fields=['created_at'], name='backtest_age')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('finished_at', None), ('state__in', ('PENDING', 'RUNNING'))), models.Q(models.Q(('state__in', ('PENDING', 'RUNNING')), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='backtest_ended_has_time')],
            },
        ),
        migrations.CreateModel(
            name='BacktestResult',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('execution_id', models.UUIDField(help_text='It may have been deleted since.')),
                ('verdict', models.CharField(choices=[('SAME', 'same'), ('DIFFERENT_OUTPUT', 'different output'), ('DIFFERENT_PATH', 'different path'), ('WOULD_CALL', 'would call'), ('NOT_COMPARABLE', 'cannot be compared')], max_length=16)),
                ('same', models.PositiveIntegerField(default=0, help_text='The number of steps that are the same.')),
                ('steps', models.JSONField(null=True)),
                ('backtest', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='results', to='valkyr_backtest.backtest')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['backtest', 'id'], name='backtest_result_list'), models.Index(fields=['backtest', 'verdict', 'id'], name='backtest_result_verdict')],
                'constraints': [models.UniqueConstraint(fields=('backtest', 'execution_id'), name='backtest_execution_once')],
            },
        ),
    ]
