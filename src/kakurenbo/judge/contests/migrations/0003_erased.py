"""When the files of a contest were deleted, long after its end."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contests", "0002_key_order")]

    operations = [
        migrations.AddField(
            model_name="contest", name="erased_at", field=models.DateTimeField(null=True)
        )
    ]
