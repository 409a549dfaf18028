"""The tiers and the one workspace that exist from the start."""

from django.db import migrations

TIERS = {
    "free": (5, 100, 100, 1_000),
    "team": (50, 10_000, 10_000, 100_000),
    "unlimited": (None, None, None, None),
}


def create(apps, schema_editor):
    tier_model = apps.get_model("executions", "Tier")
    for name, (concurrent, pending, hour, day) in TIERS.items():
        tier_model.objects.get_or_create(
            name=name,
            defaults={
                "max_concurrent": concurrent,
                "max_pending": pending,
                "max_per_hour": hour,
                "max_per_day": day,
            },
        )
    apps.get_model("executions", "Workspace").objects.get_or_create(
        slug="default",
        defaults={"name": "Default", "tier": tier_model.objects.get(name="unlimited")},
    )


class Migration(migrations.Migration):
    dependencies = [("executions", "0001_initial")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop, elidable=False)]
