"""What the web and workers may do in the database: neither is its owner.

The web has an account of its own: a hole in a page can neither read an answer before the end nor rewrite the log or a result.
Of the schema ``secret`` it sees files and credits of contests that are over, which everybody may have then; keys it can only
add. Over is what the signed log tells to be over: that the web alone says so opens nothing, not even within its transaction.

Workers on other machines have one too, or several that are its members: they seal and score, and see neither passwords, tokens
and sessions nor the keys by which logs are signed. Those beside the judge use the account that owns everything.
"""

from __future__ import annotations

import logging

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.utils import ProgrammingError
from psycopg import errors, sql

WEB, WORKER = "kakurenbo_web", "kakurenbo_worker"
log = logging.getLogger(__name__)

_ENDED = """
    SELECT round.id FROM contests_round round
    JOIN contests_contest contest ON contest.id = round.contest_id AND contest.ended_at IS NOT NULL
    JOIN trust_logentry entry ON entry.contest_id = contest.id AND entry.kind = 'contest.ended'
    JOIN (SELECT contest_id, max(size) AS size FROM trust_checkpoint GROUP BY contest_id) signed
        ON signed.contest_id = contest.id AND signed.size > entry.number
"""
_COMMON = """
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
ALTER TABLE secret.file ENABLE ROW LEVEL SECURITY;
ALTER TABLE secret.earned ENABLE ROW LEVEL SECURITY;
ALTER TABLE scoring_target ENABLE ROW LEVEL SECURITY;
"""
_RIGHTS_OF_THE_WEB = f"""
{_COMMON}
GRANT USAGE ON SCHEMA public, secret TO {WEB};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {WEB};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {WEB};
REVOKE UPDATE, DELETE ON trust_logentry, trust_checkpoint FROM {WEB};
REVOKE INSERT ON trust_checkpoint FROM {WEB};
REVOKE INSERT, UPDATE, DELETE ON scoring_judging, scoring_roundfile, scoring_standingsnapshot FROM {WEB};
REVOKE INSERT, UPDATE, DELETE ON operations_heartbeat, django_migrations FROM {WEB};
REVOKE INSERT, UPDATE ON scoring_target FROM {WEB};
REVOKE UPDATE, DELETE ON scoring_job, procrastinate_jobs, procrastinate_workers FROM {WEB};
REVOKE UPDATE, DELETE ON submissions_blob, submissions_submission FROM {WEB};
REVOKE DELETE ON contests_contest, contests_phase, contests_team, contests_entry FROM {WEB};
REVOKE UPDATE, DELETE ON contests_round FROM {WEB}; -- or it would say that a round is of a contest that is over
GRANT UPDATE (state, again, finished_at) ON scoring_job TO {WEB};
GRANT UPDATE (created_at) ON submissions_blob TO {WEB};
GRANT UPDATE (state, number, received_at, chosen_at, "user_id") ON submissions_submission TO {WEB};
REVOKE ALL ON ALL TABLES IN SCHEMA secret FROM {WEB};
GRANT SELECT ON secret.file, secret.earned TO {WEB};
GRANT INSERT ON secret.signing_key TO {WEB};
DROP POLICY IF EXISTS over ON secret.file;
DROP POLICY IF EXISTS over ON secret.earned;
DROP POLICY IF EXISTS seen_by_the_web ON scoring_target;
DROP POLICY IF EXISTS passed_over ON scoring_target;
CREATE POLICY over ON secret.file FOR SELECT TO {WEB} USING (round_id IN ({_ENDED}));
CREATE POLICY over ON secret.earned FOR SELECT TO {WEB} USING (
    target_id IN (SELECT target.id FROM scoring_target target WHERE target.round_id IN ({_ENDED}))
);
CREATE POLICY seen_by_the_web ON scoring_target FOR SELECT TO {WEB} USING (true);
CREATE POLICY passed_over ON scoring_target FOR DELETE TO {WEB} USING (submission_id IS NULL AND entry_id IN (
    SELECT entry.id FROM contests_entry entry WHERE entry.disqualified <> ''
));
"""
_RIGHTS_OF_WORKERS = f"""
GRANT USAGE ON SCHEMA public, secret TO {WORKER};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public, secret TO {WORKER};
GRANT SELECT ON django_migrations, contests_contest, contests_round, contests_phase, contests_team, contests_entry TO {WORKER};
GRANT UPDATE (facts, commitments, fingerprint, prepared_at) ON contests_round TO {WORKER};
GRANT UPDATE (id) ON contests_contest, contests_phase, contests_entry TO {WORKER}; -- to lock a row, not to change it
GRANT SELECT, INSERT ON trust_logentry, contests_announcement TO {WORKER}; -- teams are told of a rejudging
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA secret TO {WORKER};
REVOKE ALL ON secret.signing_key FROM {WORKER};
DROP POLICY IF EXISTS of_workers ON secret.file;
DROP POLICY IF EXISTS of_workers ON secret.earned;
DROP POLICY IF EXISTS of_workers ON scoring_target;
CREATE POLICY of_workers ON secret.file TO {WORKER} USING (true);
CREATE POLICY of_workers ON secret.earned TO {WORKER} USING (true);
CREATE POLICY of_workers ON scoring_target TO {WORKER} USING (true);
"""
_TABLES_OF_WORKERS = ("scoring_", "submissions_", "procrastinate_")
"""Beginnings of the names of tables that are a worker's own business."""


def make_web_role(password: str) -> bool:
    """Give the web its account, with a password that lasts until the next start; False where the database does not let us."""
    login = sql.SQL("LOGIN PASSWORD {}").format(sql.Literal(password))
    return _made(WEB, login, _RIGHTS_OF_THE_WEB)


def make_worker_role() -> bool:
    """Make the account of workers on other machines; False where the database does not let us.

    Whoever runs the database lets it log in, or makes accounts for each machine that are its members.
    """
    return _made(WORKER, None, _RIGHTS_OF_WORKERS, _TABLES_OF_WORKERS)


def _made(role: str, login: sql.Composed | None, rights: str, tables: tuple[str, ...] = ()) -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role])
            verb = "ALTER" if cursor.fetchone() else "CREATE"
            if verb == "CREATE" or login is not None:
                statement = sql.SQL(f"{verb} ROLE {role} ") + (login or sql.SQL(""))
                cursor.execute(statement.as_string(cursor.cursor))
            cursor.execute(rights)
            _grant_tables(cursor, role, tables)
    except ProgrammingError as error:
        if not isinstance(error.__cause__, errors.InsufficientPrivilege):
            raise
        log.warning(
            "the account of DATABASE_URL may not make others (CREATEROLE): pages use it too"
        )
        return False
    return True


def _grant_tables(cursor: CursorWrapper, role: str, beginnings: tuple[str, ...]) -> None:
    """Every right over the rows of tables whose names begin so, those that a later version adds too."""
    for beginning in beginnings:
        cursor.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND starts_with(tablename, %s)",
            [beginning],
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f'GRANT SELECT, INSERT, UPDATE, DELETE ON "{table}" TO {role}')
