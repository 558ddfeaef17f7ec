"""A round on the judge: what comes out is what the engine makes of the same folders, and nobody learns more than they may."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.utils import timezone
from tests.judge import making
from tests.judge.scoring_helpers import (
    anonymized,
    change_phase,
    exported,
    hand_in,
    new_round,
    prepare,
)

from kakurenbo.contest import AnyRulebook, Credit
from kakurenbo.contest.rounds import publish_round, score_round
from kakurenbo.core import write_folder
from kakurenbo.judge.contests.models import Entry, Phase, PhaseState, Round, Visibility
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.contests.site import results_document
from kakurenbo.judge.scoring import queries, rules
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import (
    Earned,
    Job,
    JobKind,
    JobState,
    Judging,
    RoundFile,
    SecretFile,
    StandingSnapshot,
    Target,
)
from kakurenbo.judge.scoring.sweep import sign_logs
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import State
from kakurenbo.judge.trust import rules as trust
from kakurenbo.judge.trust.models import Checkpoint, LogEntry
from kakurenbo.reports import scored_document

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


class Watched(Worker):
    """A worker that remembers what each step was given to see."""

    def __init__(self, server: ForkServer) -> None:
        super().__init__(server=server)
        self.seen: dict[str, list[tuple[str, dict[str, bytes], list[str]]]] = {}

    def run(
        self, lease: rules.Lease, step: str, folder: Path, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        links = [path.name for path in folder.rglob("*") if path.is_symlink()]
        self.seen.setdefault(step, []).append((lease.job.subject, files, links))
        return super().run(lease, step, folder, request)


@pytest.fixture
def worker(
    judge_home: Path, plugins: Path, fork_server: ForkServer, settings: Any
) -> Iterator[Watched]:
    assert plugins
    settings.HOME = judge_home
    made = Watched(fork_server)
    yield made
    made.close()


@pytest.fixture
def prepared(worker: Watched) -> Round:
    """Hide-and-seek with three teams and a place that nobody took."""
    round = new_round("hide-and-seek", {"size": 40}, "only", teams=3, places=4)
    prepare(round, worker)
    return round


@pytest.fixture
def sealed(prepared: Round, worker: Watched, tmp_path: Path) -> Round:
    """Teams 01 and 02 have handed in; 03 has not."""
    for place, team in enumerate(("01", "02")):
        hand_in(prepared, team, anonymized(prepared, team, tmp_path / "anonymized", place))
    worker.drain()
    change_phase(prepared, "anonymize", PhaseState.SEALING)
    for team in ("01", "02", "03"):
        rules.enqueue(JobKind.SEAL, prepared.contest, prepared, subject=team)
    worker.drain()
    change_phase(prepared, "anonymize", PhaseState.CLOSED)
    change_phase(prepared, "attack", PhaseState.OPEN)
    return prepared


def guess(rows: range) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def test_each_folder_of_a_prepared_round_is_somebodys(prepared: Round) -> None:
    found = set(RoundFile.objects.filter(round=prepared).values_list("visible", "subject"))
    teams = {("team", number) for number in ("01", "02", "03", "04")}
    assert found == {("public", ""), ("attackers", ""), *teams}
    assert all(
        path.startswith("secret/") for path in SecretFile.objects.values_list("path", flat=True)
    )
    assert prepared.facts["teams"] == ["01", "02", "03", "04"]
    assert json.loads(prepared.commitments)["commitments"]
    assert LogEntry.objects.get(kind="round.prepared").body["round"] == "only"


def test_before_a_phase_opens_everybody_can_have_the_commitments_and_nobody_what_they_hide(
    prepared: Round,
) -> None:
    Phase.objects.update(state=PhaseState.WAITING)
    visitor, place = Client(), f"/contests/{prepared.contest.slug}"
    bound = visitor.get(f"{place}/rounds/only/files/public/commitments.json").getvalue()
    assert bound.decode() == prepared.commitments
    (told,) = (
        entry.body["commitments"] for entry in LogEntry.objects.filter(kind="round.prepared")
    )
    assert told == hashlib.sha256(bound).hexdigest()
    assert told in visitor.get(f"{place}/log/").content.decode()
    for path in SecretFile.objects.values_list("path", flat=True):
        assert visitor.get(f"{place}/rounds/only/files/{path}").status_code == 404


def test_a_round_is_prepared_once(prepared: Round, worker: Watched) -> None:
    rules.enqueue(JobKind.PREPARE, prepared.contest, prepared)
    worker.drain()
    before = prepared.facts, prepared.commitments, prepared.prepared_at
    prepared.refresh_from_db()
    assert (prepared.facts, prepared.commitments, prepared.prepared_at) == before


def test_what_is_published_and_what_is_earned_is_what_the_engine_makes_of_the_same_files(
    sealed: Round, worker: Watched, tmp_path: Path
) -> None:
    handed_in = {
        "02": {"guess_01_02.csv": guess(range(10))},
        "03": {"guess_01_03.csv": guess(range(5, 15))},
    }
    for team, files in handed_in.items():
        hand_in(sealed, team, files, "attack")
        write_folder(tmp_path / "guesses" / team, files)
    worker.drain()

    for prefix in ("public/", "teams/", "attackers/", "secret/"):
        exported(sealed, prefix, tmp_path / "preparation")
    book: AnyRulebook = rules_of(sealed.contest, sealed)
    releases = tmp_path / "releases"
    for entry in Entry.objects.filter(round=sealed, submissions__phase__kind="anonymize"):
        own = entry.submissions.get(phase__kind="anonymize").files.get()
        with store.open_blob(own.blob_id) as content:
            write_folder(releases / entry.team.number, {own.name: content.read()})
    published = publish_round(book, tmp_path / "preparation", releases)
    for prefix in ("targets/", "answers/"):
        mine = exported(sealed, prefix, tmp_path / "mine")
        made = {
            name: data
            for name, data in published.files.items()
            if name.startswith(prefix) and name.count("/") > 1
        }
        assert {
            path.relative_to(mine.parent).as_posix(): path.read_bytes()
            for path in mine.rglob("*.*")
        } == made
    write_folder(tmp_path / "phase", published.files)
    scored = score_round(book, tmp_path / "phase", tmp_path / "guesses")

    earned = {
        (
            one.target.name,
            one.attacker.team.number if one.attacker else one.sample,
        ): msgspec.convert(one.credit, Credit)
        for one in Earned.objects.all()
    }
    assert earned == {
        (target, attacker): found
        for target, row in scored.results.credits.items()
        for attacker, found in row.items()
    }
    snapshot = StandingSnapshot.objects.get(round=sealed)
    ours, theirs = snapshot.standings, scored_document(book, scored).standings()
    for ranking in ("anonymization", "attack"):
        without_place = [line for line in theirs[ranking] if line["team"] != "04"]
        for line in without_place:  # in a judge every team of a round may attack
            if line.get("note") == "does not attack":
                del line["note"]
        assert ours[ranking] == json.loads(json.dumps(without_place))
    assert ours["beside"]["only"]["chance"] == 0.5
    assert set(ours["beside"]["only"]["samples"]) == {"sample attack"}


@pytest.mark.parametrize("visibility", [Visibility.HIDDEN, Visibility.FROZEN, Visibility.LIVE])
def test_of_attacks_nothing_is_told_until_the_attack_is_live_or_over(
    sealed: Round, worker: Watched, visibility: Visibility
) -> None:
    def told(state: PhaseState) -> str:
        change_phase(sealed, "attack", state)
        rules.enqueue(JobKind.STANDINGS, sealed.contest, sealed)
        worker.drain()
        seen = [
            queries.standings(sealed, user, timezone.now())
            for user in (making.user("stranger"), AnonymousUser())
        ]
        pages = (
            Client().get(f"/contests/{sealed.contest.slug}/standings/?round=only").content.decode()
        )
        return pages + "".join(json.dumps(one.standings) for one in seen if one is not None)

    Phase.objects.filter(round=sealed, kind="attack").update(visibility=visibility)
    hand_in(sealed, "03", {"guess_01_03.csv": guess(range(10))}, "attack")
    assert Earned.objects.filter(attacker=None).exists()
    for state in (PhaseState.WAITING, PhaseState.OPEN, PhaseState.CLOSED):
        shown = state == PhaseState.CLOSED or (
            state == PhaseState.OPEN and visibility == Visibility.LIVE
        )
        assert ("sample attack" in told(state).lower()) is shown, state


def test_who_attacks_sees_no_answer(sealed: Round, worker: Watched, tmp_path: Path) -> None:
    rules.enqueue(JobKind.BOT, sealed.contest, sealed, subject="03")
    sealed.contest.rehearsal = True
    sealed.contest.save()
    worker.drain()
    answers = {
        file.read_bytes() for file in exported(sealed, "answers/", tmp_path).rglob("members.csv")
    }
    assert len(answers) == 2
    for step in ("sample", "attack"):
        for _, files, links in worker.seen[step]:
            assert not links
            assert not answers & set(files.values())
            folders = {name.rpartition("/")[0] for name in files}
            assert folders <= {"phase/attackers", "phase/targets/01", "phase/targets/02"}
    bot = Entry.objects.get(round=sealed, team__number="03").submissions.get()
    assert bot.state == State.SCORED
    assert set(bot.files.values_list("name", flat=True)) == {"guess_01_03.csv", "guess_02_03.csv"}


def test_a_bot_anonymizes_what_its_own_team_was_given_and_sees_nothing_else(
    prepared: Round, worker: Watched
) -> None:
    prepared.contest.rehearsal = True
    prepared.contest.save()
    rules.enqueue(JobKind.BOT, prepared.contest, prepared, subject="02")
    worker.drain()
    ((_, files, links),) = worker.seen["anonymize"]
    assert (set(files), links) == (
        {f"handout/{name}" for name in ("contest.json", "sample.csv", "README.md", "README.ja.md")},
        [],
    )
    submission = Entry.objects.get(round=prepared, team__number="02").submissions.get()
    assert submission.state == State.SCORED
    assert submission.files.get().name == "release_02.csv"


def test_a_bot_attacks_with_what_its_own_team_was_given_where_that_is_of_use_and_sees_nobody_elses(
    worker: Watched, tmp_path: Path
) -> None:
    round = new_round(
        "pwscup2024", {"scale": "small", "data": "embedded"}, "main", teams=2, places=2
    )
    prepare(round, worker)
    hand_in(round, "01", anonymized(round, "01", tmp_path / "anonymized", 2))
    worker.drain()
    change_phase(round, "anonymize", PhaseState.SEALING)
    rules.enqueue(JobKind.SEAL, round.contest, round, subject="01")
    worker.drain()
    change_phase(round, "anonymize", PhaseState.CLOSED)
    change_phase(round, "attack", PhaseState.OPEN)
    round.contest.rehearsal = True
    round.contest.save()
    rules.enqueue(JobKind.BOT, round.contest, round, subject="02")
    worker.drain()
    given = {
        team: {
            path.name: path.read_bytes()
            for path in exported(round, f"teams/{team}/", tmp_path / team).iterdir()
        }
        for team in ("01", "02")
    }
    ((_, files, links),) = worker.seen["attack"]
    assert not links
    assert {
        name.removeprefix("handout/"): data
        for name, data in files.items()
        if name.startswith("handout/")
    } == given["02"]
    assert not set(files.values()) & set(given["01"].values())
    assert {name.rpartition("/")[0] for name in files} == {
        "phase/attackers",
        "phase/targets/01",
        "handout",
    }
    assert Entry.objects.get(round=round, team__number="02").submissions.get().state == State.SCORED


def test_a_team_without_a_release_is_missing_and_nobody_attacks_it(sealed: Round) -> None:
    states = {target.name: target.record["state"] for target in Target.objects.filter(round=sealed)}
    assert states == {"01": "published", "02": "published", "03": "missing"}
    assert not RoundFile.objects.filter(round=sealed, subject="03", visible="target").exists()


def test_sealing_waits_for_what_is_still_being_judged(
    prepared: Round, worker: Watched, tmp_path: Path
) -> None:
    rules.enqueue(JobKind.SEAL, prepared.contest, prepared, subject="01")
    submission = hand_in(prepared, "01", anonymized(prepared, "01", tmp_path))
    seal = Job.objects.get(kind=JobKind.SEAL)
    assert not worker.work(seal.pk)
    seal.refresh_from_db()
    assert (seal.state, seal.attempts) == (JobState.WAITING, 0)
    worker.drain()
    assert Target.objects.get(name="01").submission == submission


def test_what_a_guess_earned_is_told_to_nobody_before_the_end(
    sealed: Round, worker: Watched, django_user_model: Any
) -> None:
    submission = hand_in(
        sealed, "02", {"guess_01_02.csv": guess(range(10)), "odd.csv": b"1\n"}, "attack"
    )
    worker.drain()
    organizer = django_user_model.objects.create_user(
        "o@example.org", "password", is_organizer=True
    )
    moment = submission.received_at
    assert moment is not None
    told = queries.scores(submission, organizer, moment)
    assert told["targets"] == [{"target": "01", "file": "guess_01_02.csv"}]
    assert [one["file"] for one in told["refused"]] == ["odd.csv"]
    assert "earned" not in told
    assert "hits" not in json.dumps(Judging.objects.get(submission=submission).result)
    contest = sealed.contest
    contest.ended_at = moment
    contest.save()
    submission.refresh_from_db()
    assert queries.scores(submission, organizer, moment)["earned"][0]["credit"]["of"] == 10


@pytest.mark.parametrize("visibility", [Visibility.FROZEN, Visibility.HIDDEN])
def test_a_board_that_is_not_live_does_not_move(
    sealed: Round, worker: Watched, visibility: str
) -> None:
    before = StandingSnapshot.objects.get(round=sealed, shown=True)
    Phase.objects.filter(round=sealed, kind="attack").update(visibility=visibility)
    hand_in(sealed, "02", {"guess_01_02.csv": guess(range(10))}, "attack")
    worker.drain()
    after = StandingSnapshot.objects.get(round=sealed, shown=True)
    assert (after.pk, after.standings, after.taken_at) == (
        before.pk,
        before.standings,
        before.taken_at,
    )
    latest = StandingSnapshot.objects.filter(round=sealed).first()
    assert latest is not None
    assert not latest.shown
    assert latest.standings != before.standings


def test_of_a_team_that_is_disqualified_the_release_is_out_and_the_rulebook_decides_on_its_guesses(
    sealed: Round, worker: Watched
) -> None:
    hand_in(sealed, "02", {"guess_01_02.csv": guess(range(10))}, "attack")
    hand_in(sealed, "03", {"guess_01_03.csv": guess(range(10))}, "attack")
    worker.drain()
    Entry.objects.filter(round=sealed, team__number="02").update(disqualified="shared its answers")
    rules.enqueue(JobKind.STANDINGS, sealed.contest, sealed)
    worker.drain()
    snapshot = StandingSnapshot.objects.get(round=sealed)
    ranks = {line["team"]: line["rank"] for line in snapshot.standings["anonymization"]}
    assert ranks == {"01": 1, "02": None, "03": None}
    assert snapshot.results["credits"]["01"]["02"] == snapshot.results["credits"]["01"]["03"]
    attack = {line["team"]: line["rank"] for line in snapshot.standings["attack"]}
    assert attack["02"] == attack["03"]


def test_standings_after_the_end_are_final_whatever_is_ranked_again(
    sealed: Round, worker: Watched
) -> None:
    hand_in(sealed, "02", {"guess_01_02.csv": guess(range(10))}, "attack")
    worker.drain()
    change_phase(sealed, "attack", PhaseState.CLOSED)
    sealed.contest.ended_at = timezone.now()
    sealed.contest.save()
    rules.enqueue(JobKind.STANDINGS, sealed.contest, sealed)
    worker.drain()
    final = StandingSnapshot.objects.get(round=sealed)
    assert final.taken_at >= sealed.contest.ended_at
    assert final.shown
    Entry.objects.filter(round=sealed, team__number="02").update(disqualified="too late")
    rules.enqueue(JobKind.STANDINGS, sealed.contest, sealed)
    worker.drain()
    assert not Job.objects.exclude(state=JobState.DONE).exists()
    kept = StandingSnapshot.objects.get(round=sealed)
    assert (kept.pk, kept.standings, kept.taken_at) == (final.pk, final.standings, final.taken_at)


def test_standings_of_an_older_format_are_shown_without_their_charts_and_made_anew_even_after_the_end(
    sealed: Round, worker: Watched
) -> None:
    sealed.contest.ended_at = timezone.now()
    sealed.contest.save()
    rules.enqueue(JobKind.STANDINGS, sealed.contest, sealed)
    worker.drain()
    made = StandingSnapshot.objects.get(round=sealed)
    old = {
        "document": {"of": "another time"},
        "results": {"of": "another time"},
        "format": made.format - 1,
    }
    StandingSnapshot.objects.filter(pk=made.pk).update(**old)
    assert results_document(sealed.contest) is None
    organizer = Client()
    organizer.force_login(making.organizer(), BACKEND)
    for client in (Client(), organizer):
        page = client.get(f"/contests/{sealed.contest.slug}/standings/")
        assert page.status_code == 200
        assert b"anonymiz" in page.content
        assert client.get(f"/contests/{sealed.contest.slug}/results-site.zip").status_code == 404
    worker.drain()
    anew = StandingSnapshot.objects.get(round=sealed)
    assert (anew.document, anew.results, anew.standings) == (
        made.document,
        made.results,
        made.standings,
    )
    assert results_document(sealed.contest) is not None


def test_where_several_tables_count_each_is_a_target_and_the_best_of_several_guesses_counts(
    worker: Watched, tmp_path: Path
) -> None:
    round = new_round("tables-and-tries", {"size": 40}, "only", teams=2, places=2)
    prepare(round, worker)
    for number in (1, 2, 3):
        hand_in(
            round,
            "01",
            {f"release_01-{number}.csv": next(iter(anonymized(round, "01", tmp_path).values()))},
        )
        worker.drain()
    change_phase(round, "anonymize", PhaseState.SEALING)
    for team in ("01", "02"):
        rules.enqueue(JobKind.SEAL, round.contest, round, subject=team)
    worker.drain()
    change_phase(round, "anonymize", PhaseState.CLOSED)
    change_phase(round, "attack", PhaseState.OPEN)
    made = {
        target.name: target.submission.number
        for target in Target.objects.all()
        if target.submission is not None
    }
    assert made == {"01-2": 2, "01-3": 3}, "the last two of three count"
    for first in (0, 10, 20):
        hand_in(round, "02", {"guess_01-2_02.csv": guess(range(first, first + 10))}, "attack")
        worker.drain()
    earned = Earned.objects.filter(target__name="01-2", attacker__team__number="02").order_by(
        "submission__number"
    )
    tries = [one.credit["hits"] for one in earned]
    results = StandingSnapshot.objects.get(round=round).results
    assert len(tries) == 3
    assert results["credits"]["01-2"]["02"]["hits"] == max(tries)
    assert [one["hits"] for one in results["tries"]["01-2"]["02"]] == tries


def test_the_log_of_a_contest_that_grew_is_signed_and_no_other(prepared: Round) -> None:
    trust.new_key(prepared.contest)
    assert sign_logs() == 1
    assert sign_logs() == 0
    assert Checkpoint.objects.get().size == LogEntry.objects.count()
