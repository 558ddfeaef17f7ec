from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0004_documents"),
    ]

    operations = [
        migrations.AddField(
            model_name="standingsnapshot",
            name="format",
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]
