"""Moves of workspaces between cells."""

import executions.database.clock
import executions.database.ids
from django.db import migrations, models

import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('executions', '0010_values_inside_stored_values'),
    ]

    operations = [
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
    ]
