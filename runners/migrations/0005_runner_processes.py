"""A worker says how many steps it works on at once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runners", "0004_queue_load")]

    operations = [
        migrations.AddField(
            model_name="runner",
            name="processes",
            field=models.PositiveIntegerField(
                db_default=1,
                default=1,
                help_text="How many steps it works on at once at most.",
            ),
        ),
    ]
