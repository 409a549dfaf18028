"""The labels of executions, and the trigger that keeps their states."""

import django.db.models.deletion
from django.db import migrations, models

import executions.database.migrations

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


def follow(apps, schema_editor):
    names = _names(apps, schema_editor)
    schema_editor.execute(
        executions.database.migrations.HOT.format(table=names["labels"]), params=None
    )
    schema_editor.execute(FOLLOW.format(**names), params=None)


def stop(apps, schema_editor):
    schema_editor.execute(STOP.format(**_names(apps, schema_editor)), params=None)


def _names(apps, schema_editor):
    def table(model):
        found = executions.database.migrations.model(apps, f"executions.{model}")
        return schema_editor.quote_name(found._meta.db_table)

    return {"labels": table("ExecutionLabel"), "executions": table("WorkflowExecution")}


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('executions', '0006_canary_versions'),
    ]

    operations = [
        migrations.AddField(
            model_name='workflowexecution',
            name='labels',
            field=models.JSONField(blank=True, help_text='What it is found by: text by name, rendered at its start.', null=True),
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
        migrations.RunPython(follow, stop),
    ]
