"""What the web may do in the database: a hole in a page can neither read an answer before the end nor rewrite the log.

The web has an account of its own. Of the schema ``secret`` it sees files and credits of contests that are over, which
everybody may have then; keys it can only add. Workers use the account that owns everything.
"""

from __future__ import annotations

import logging

from django.db import connection
from django.db.utils import ProgrammingError
from psycopg import errors, sql

WEB = "kakurenbo_web"
log = logging.getLogger(__name__)

_OVER = """EXISTS (
    SELECT 1 FROM contests_round JOIN contests_contest ON contests_contest.id = contests_round.contest_id
    WHERE contests_round.id = {round} AND contests_contest.ended_at IS NOT NULL
)"""
_RIGHTS = f"""
GRANT USAGE ON SCHEMA public, secret TO {WEB};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {WEB};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {WEB};
REVOKE UPDATE, DELETE ON trust_logentry, trust_checkpoint FROM {WEB};
REVOKE INSERT ON trust_checkpoint FROM {WEB};
REVOKE ALL ON ALL TABLES IN SCHEMA secret FROM {WEB};
GRANT SELECT ON secret.file, secret.earned TO {WEB};
GRANT INSERT ON secret.signing_key TO {WEB};
ALTER TABLE secret.file ENABLE ROW LEVEL SECURITY;
ALTER TABLE secret.earned ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS over ON secret.file;
DROP POLICY IF EXISTS over ON secret.earned;
CREATE POLICY over ON secret.file FOR SELECT TO {WEB} USING ({_OVER.format(round="round_id")});
CREATE POLICY over ON secret.earned FOR SELECT TO {WEB} USING (
    {_OVER.format(round="(SELECT round_id FROM scoring_target WHERE scoring_target.id = target_id)")}
);
"""


def make_web_role(password: str) -> bool:
    """Give the web its account, with a password that lasts until the next start; False where the database does not let us."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [WEB])
            verb = "ALTER" if cursor.fetchone() else "CREATE"
            role = sql.SQL(f"{verb} ROLE {WEB} LOGIN PASSWORD {{}}").format(sql.Literal(password))
            cursor.execute(role.as_string(cursor.cursor))
            cursor.execute(_RIGHTS)
    except ProgrammingError as error:
        if not isinstance(error.__cause__, errors.InsufficientPrivilege):
            raise
        log.warning("the account of DATABASE_URL may not make others (CREATEROLE): pages use it too")
        return False
    return True
