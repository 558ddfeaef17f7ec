from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0007_rejudging"),
    ]

    operations = [
        migrations.RunSQL(
            "UPDATE scoring_target SET published = TRUE WHERE record ->> 'state' = 'published'",
            migrations.RunSQL.noop,
        ),
    ]
