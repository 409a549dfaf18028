"""The canary version of a workflow and its share, and the executions that used it."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('executions', '0005_published_from_git'),
    ]

    operations = [
        migrations.AddField(
            model_name='workflow',
            name='canary_percent',
            field=models.FloatField(editable=False, help_text='That share of the starts, in per cent.', null=True),
        ),
        migrations.AddField(
            model_name='workflow',
            name='canary_version',
            field=models.ForeignKey(blank=True, editable=False, help_text='The version that a share of the starts takes instead of the latest, if any.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='executions.workflowversion'),
        ),
        migrations.AddField(
            model_name='workflowexecution',
            name='canary',
            field=models.BooleanField(db_default=False, default=False, editable=False, help_text="It took the canary version's share of the starts."),
        ),
        migrations.AddField(
            model_name='workflowversion',
            name='withdrawn_at',
            field=models.DateTimeField(editable=False, help_text='When it was rolled back, or its canary ended without a promotion.', null=True),
        ),
        migrations.AddConstraint(
            model_name='workflow',
            constraint=models.CheckConstraint(condition=Q(Q(('canary_percent', None), ('canary_version', None)), Q(('canary_percent__gt', 0), ('canary_percent__lte', 100), ('canary_version__isnull', False)), _connector='OR'), name='workflow_canary_has_share'),
        ),
    ]
