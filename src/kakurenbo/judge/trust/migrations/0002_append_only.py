"""No entry of the log is ever changed or taken away, whatever a program does."""

from django.db import migrations

_FORBID = """
CREATE FUNCTION trust_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the log is only ever added to';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON trust_logentry
    FOR EACH ROW EXECUTE FUNCTION trust_log_is_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON trust_checkpoint
    FOR EACH ROW EXECUTE FUNCTION trust_log_is_append_only();
"""
_ALLOW = """
DROP TRIGGER append_only ON trust_logentry;
DROP TRIGGER append_only ON trust_checkpoint;
DROP FUNCTION trust_log_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("trust", "0001_initial")]
    operations = [migrations.RunSQL(_FORBID, _ALLOW)]
