"""Judging again after a scorer was mended: what would change is previewed, then applied or cancelled; nothing is lost."""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from tests.arena.conftest import installed
from tests.calling import call
from tests.judge import making
from tests.judge.making import codes, organizer
from tests.judge.playing import Play, stage_for_playing
from tests.judge.rejudged import ready_rejudging
from tests.judge.scoring_helpers import exported
from tests.reading import attempt

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.core import json_bytes
from kakurenbo.core.messages import render
from kakurenbo.core.rng import stream
from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.scoring import queries, rejudging, rules
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.comparing import is_nothing
from kakurenbo.judge.scoring.models import (
    Earned,
    Job,
    JobKind,
    JobState,
    Judging,
    RejudgedCredit,
    Rejudging,
    StandingSnapshot,
    Target,
)
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.judge.trust.models import LogEntry
from kakurenbo.judge.trust.rules import checkpoint
from kakurenbo.methods import registry
from kakurenbo.proofs import fingerprint

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
FAULTS = re.compile("^FAULTS = .*$", re.MULTILINE)
REASON = "hits were counted the wrong way round"
GUESSES = 10
REACHES = {"01": 1, "02": 4, "03": 10}
"""How far values of each team's table move: so far in the third that a right scorer turns it down."""


@pytest.fixture(scope="module")
def site(plugin_site: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch, installed(plugin_site, patch):
        yield plugin_site


@pytest.fixture
def scorer(site: Path) -> Iterator[Callable[[bool], str]]:
    """Installs the faulty scorer, or the mended one, for the children of the fork server and for this process."""

    def install(faults: bool) -> str:
        place = site / "faulty.py"
        place.write_text(FAULTS.sub(f"FAULTS = {faults}", place.read_text()))
        sys.modules.pop("faulty", None)
        importlib.invalidate_caches()
        fingerprint._package_digest.cache_clear()
        return fingerprint.fingerprint_of({"name": "faulty", "options": {"size": 40}})

    yield install
    install(True)


@pytest.fixture
def empty_play(
    django_db_blocker: Any, fork_server: ForkServer, tmp_path: Path, scorer: Any
) -> Iterator[Play]:
    """Three teams may hand in; the faulty scorer judges until a test installs the mended one."""
    scorer(True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(django_db_blocker.unblock())
        worker = stack.enter_context(stage_for_playing(tmp_path, fork_server))
        made = Play("faulty", ("only",), tmp_path, worker, size=40)
        for name in ("foxes", "owls", "bears"):
            made.team(name)
        made.open("only", ANONYMIZE)
        yield made


@pytest.fixture
def play(empty_play: Play) -> Play:
    """Three teams have handed in, one of them a table that a right scorer would turn down."""
    for team in REACHES:
        empty_play.hand_in(team, ANONYMIZE, release(empty_play, team))
    return empty_play


def release(play: Play, team: str) -> dict[str, bytes]:
    """A team's table, its values moved as far as the team's reach at most."""
    handout = exported(play.round, f"teams/{team}/", play.folder / team)
    book = rules_of(play.contest, play.round).in_folder(handout)
    read = book.read_handout(handout)
    method = registry.build("anonymizers", f"blur:reach={REACHES[team]}")
    (data,) = book.release_files(read, book.anonymize(read, method, stream(5, team))).values()
    return {f"release_{team}.csv": data}


def attacked(play: Play) -> None:
    play.open("only", ATTACK)
    for team in ("01", "02", "03"):
        play.hand_in(team, ATTACK, play.guesses(team))


def asked(play: Play, **about: Any) -> Rejudging:
    """A rejudging whose preview is there."""
    made = rejudging.ask(organizer(), play.contest, REASON, **about)
    play.go_on()
    made.refresh_from_db()
    assert made.state == "ready", [
        (job.kind, job.state, job.cause) for job in rejudging.jobs_of(made)
    ]
    return made


def applied(play: Play, made: Rejudging) -> Rejudging:
    rejudging.apply(organizer(), made)
    play.go_on()
    made.refresh_from_db()
    return made


def standings(play: Play) -> dict[str, Any]:
    found = StandingSnapshot.objects.filter(contest=play.contest).first()
    assert found is not None
    return found.standings


def ranks(play: Play, name: str) -> dict[str, int | None]:
    return {line["team"]: line["rank"] for line in standings(play)[name]}


def as_seen_by(user: Any) -> list[bytes]:
    """Standings, overview and log as somebody gets them: pages without what differs with every answer, and the API."""
    client = Client()
    if user is not None:
        client.force_login(user)
    pages = [client.get(f"/contests/cup/{place}").content for place in ("standings/", "")]
    api = [
        client.get(f"/api/v1/contests/cup{place}").content
        for place in ("", "/standings", "/rounds/only/standings")
    ]
    return [re.sub(rb'name="csrfmiddlewaretoken" value="\w+"', b"", page) for page in pages] + api


def verified(play: Play, folder: Path) -> dict[str, Any]:
    (folder / "cup.zip").write_bytes(play.archive())
    found: dict[str, Any] = call("verify", folder / "cup.zip").json
    return found


# -- the whole way ---------------------------------------------------------------------------------------------------------


def test_a_wrong_ranking_is_previewed_cancelled_previewed_again_and_set_right_and_its_archive_holds(
    play: Play, scorer: Any, tmp_path: Path
) -> None:
    old = scorer(True)
    attacked(play)
    before, hits = (
        standings(play),
        {one.pk: one.credit["hits"] for one in Earned.objects.exclude(attacker=None)},
    )
    assert Target.objects.get(name="03").record["state"] == "published", Target.objects.get(
        name="03"
    ).record
    new = scorer(False)
    assert new != old
    assert queries.judged_by_others(play.contest) == {"only": 6}
    seen = as_seen_by(None), as_seen_by(making.user("foxes"))

    made = asked(play)
    preview = made.preview
    assert (preview["judged"], preview["fingerprints"], preview["earlier"]) == (6, [new], [old])
    credits = {
        (e["team"], c["target"]): (c["old"]["hits"], c["new"]["hits"])
        for e in preview["entries"]
        for c in e["credits"]
    }
    wrong = [one for one in Earned.objects.exclude(attacker=None) if 2 * hits[one.pk] != GUESSES]
    assert credits == {
        (one.attacker.team.number, one.target.name): (hits[one.pk], GUESSES - hits[one.pk])
        for one in wrong
    }
    bears = next(
        one for one in preview["entries"] if one["team"] == "03" and one["phase"] == ANONYMIZE
    )
    assert bears["state"] == ["published", "disqualified"]
    assert bears["scorers"] == [old, new]
    nothing, below = bears["why"]
    assert nothing is None
    assert "moved is" in below["cause"], "the threshold that it does not hold any more"
    (moved,) = bears["figures"]
    assert (moved["name"], moved["new"]) == ("moved", 2 * moved["old"])
    assert preview["ranks"]
    assert standings(play) == before
    assert (as_seen_by(None), as_seen_by(making.user("foxes"))) == seen

    rejudging.cancel(organizer(), made)
    play.go_on()
    assert (as_seen_by(None), as_seen_by(making.user("foxes"))) == seen
    assert not RejudgedCredit.objects.exists()
    assert not Judging.objects.exclude(rejudging=None).exists()
    assert set(Judging.objects.values_list("fingerprint", flat=True)) == {old}

    made = asked(play)
    assert made.preview == preview
    assert applied(play, made).state == "applied"
    assert made.preview == preview
    assert {
        one.pk: one.credit["hits"] for one in Earned.objects.exclude(attacker=None)
    }.keys().isdisjoint(hits)
    assert Target.objects.get(name="03").record["state"] == "disqualified"
    check_ranking_by_hand(play)
    changed = {(line["ranking"], line["team"]): line["rank"][1] for line in preview["ranks"]}
    assert {key: ranks(play, key[0])[key[1]] for key in changed} == changed
    assert [one["new"] for one in preview["awards"]] == [
        standings(play)["awards"][one["award"]] for one in preview["awards"]
    ]
    assert queries.judged_by_others(play.contest) == {}
    told = play.contest.announcements.first()
    assert told is not None
    assert told.text.count(REASON) == 2
    play.end()
    found = verified(play, tmp_path)
    assert (found["difference"], found["complete"], found["notices"]) == (
        None,
        True,
        [],
    )  # nothing that is in effect is older
    with zipfile.ZipFile(tmp_path / "cup.zip") as archive:
        readme = archive.read("cup/README.txt").decode()
        files = {name.split("/")[1] for name in archive.namelist()}
    assert "rejudgings.json" in files
    assert [name for name in files if readme.count(f"\n{name}") != 2] == [], (
        "the README tells of each, in both languages"
    )
    check_tampering_is_named(tmp_path / "cup.zip", tmp_path)


def check_ranking_by_hand(play: Play) -> None:
    """The rules' own sums, from the guesses and the answers themselves."""
    found: dict[str, int] = dict.fromkeys(("01", "02", "03"), 0)
    for guess in Submission.objects.filter(phase__kind=ATTACK):
        for file in guess.files.filter(target__in=("01", "02")):  # the third is out of play
            with file_bytes(file.blob_id) as rows:
                answer = (
                    exported(play.round, f"answers/{file.target}/", play.folder / "answers")
                    / "members.csv"
                )
                found[guess.entry.team.number] += len(
                    set(rows.read().split()) & set(answer.read_bytes().split())
                )
    # The mean over the releases in play of other teams: the first two attack one, the third attacks both.
    means = {team: hits / (2 if team == "03" else 1) for team, hits in found.items()}
    best = sorted(means.values(), reverse=True)
    places: dict[str, int | None] = {team: best.index(mean) + 1 for team, mean in means.items()}
    assert ranks(play, "attack") == {**places, "sample attack": None}


def file_bytes(digest: str) -> Any:
    from kakurenbo.judge.submissions import store

    return store.open_blob(digest)


def check_tampering_is_named(archive: Path, folder: Path) -> None:
    """A rejudging that says something else, in its file or in the log, is found."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "open")
    place = folder / "open" / "cup"
    for name, change in {
        "rejudgings.json": lambda rows: rows[0].update(reason="no reason"),
        "log.json": lambda log: next(
            row.update(entry=row["entry"].replace(REASON, "hits were right"))
            for row in log["entries"]
            if "rejudging.applied" in row["entry"]
        ),
    }.items():
        content = (place / name).read_bytes()
        parsed = json.loads(content)
        change(parsed)
        (place / name).write_bytes(json_bytes(parsed))
        found = call("verify", place).json["difference"]
        assert (found["file"], found["what"].split()[0]) == (
            name,
            "[0].reason" if name != "log.json" else "entry",
        )
        (place / name).write_bytes(content)


def test_uploads_go_on_and_nothing_is_lost_or_left_to_an_older_scorer_whatever_workers_do(
    play: Play, scorer: Any
) -> None:
    old = scorer(True)
    play.open("only", ATTACK)
    play.hand_in("01", ATTACK, play.guesses("01"))
    made = rejudging.ask(organizer(), play.contest, "to be sure")
    assert codes(attempt(rejudging.ask, organizer(), play.contest, "once more")) == [
        "rejudging.another"
    ]
    assert codes(attempt(rejudging.apply, organizer(), made)) == ["rejudging.not_ready"]
    lost = Job.objects.filter(kind=JobKind.REJUDGE).latest("pk")
    assert rules.lease(lost.pk, "a worker that is killed", play.now) is not None
    late = play.hand_in("02", ATTACK, play.guesses("02"))
    made.refresh_from_db()
    assert (late.judgings.count(), made.state, made.judgings.count()) == (1, "working", 3)
    rules.sweep(play.now + rules.LEASE)
    play.go_on()
    made.refresh_from_db()
    assert (made.state, made.judgings.count(), is_nothing(made.preview)) == ("ready", 4, True)
    assert rejudging.jobs_of(made).exclude(state=JobState.DONE).count() == 0

    new = scorer(False)  # a second worker has newer software
    later = play.hand_in("03", ATTACK, play.guesses("03"))
    applied(play, made)
    assert (made.state, made.preview["fingerprints"]) == ("ready", sorted((old, new)))
    assert later.judgings.count() == 2
    assert codes(attempt(rejudging.apply, organizer(), made)) == ["rejudging.several_scorers"]
    rejudging.cancel(organizer(), made)
    assert codes(attempt(rejudging.cancel, organizer(), made)) == ["rejudging.decided"]
    made = asked(play)
    scorer(True)
    latest = play.hand_in("01", ATTACK, play.guesses("01"))
    scorer(False)
    assert (
        applied(play, made).state == "ready"
    )  # what came since was judged by the older one: the organizer sees it first
    assert applied(play, made).state == "applied"
    assert [one.fingerprint for one in latest.judgings.order_by("pk")] == [old, new]
    assert set(Judging.objects.filter(in_effect=True).values_list("fingerprint", flat=True)) == {
        new
    }
    assert later.judgings.count() == 2
    assert (
        Submission.objects.filter(state="scored").count()
        == Judging.objects.filter(in_effect=True).count()
        == 7
    )


def test_a_release_found_good_is_published_while_it_can_be_attacked_and_a_rejudging_after_the_end_is_final(
    empty_play: Play, scorer: Any, tmp_path: Path
) -> None:
    play = empty_play
    for team in ("01", "02"):
        play.hand_in(team, ANONYMIZE, release(play, team))
    scorer(False)
    play.hand_in("03", ANONYMIZE, release(play, "03"))  # judged by a right scorer: it turns it down
    play.open("only", ATTACK)
    assert (Target.objects.get(name="03").published, ranks(play, "anonymization")["03"]) == (
        False,
        None,
    )
    scorer(True)
    made = asked(play, round=play.round)
    assert made.preview["published"] == ["only/03"]
    assert applied(play, made).state == "applied"
    assert Target.objects.get(name="03").published
    play.hand_in("01", ATTACK, play.guesses("01"))
    assert Earned.objects.filter(target__name="03", attacker__team__number="01").exists()
    play.end()
    first = standings(play)
    scorer(False)
    made = applied(play, asked(play))
    assert (made.state, standings(play) == first) == ("applied", False)
    assert LogEntry.objects.filter(kind="standings.final").count() == 2
    entry = making.entry(play.contest.teams.get(number="03"), "only").submissions.get()
    (told,) = [
        one
        for one in queries.scores(entry, making.user("bears"), timezone.now())["rejudged"]
        if one["changes"]
    ][-1:]
    assert (told["reason"], told["changes"]["state"]) == (REASON, ["published", "disqualified"])
    checkpoint(play.contest)
    found = verified(play, tmp_path)
    assert (found["difference"], found["complete"]) == (None, True)


# -- pages and API -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ["Before", "refused", "disqualified"]), ("ja", ["変更前", "却下", "失格"])],
)
def test_an_organizer_sees_old_beside_new_with_all_digits_in_both_languages_and_decides(
    language: str, words: list[str]
) -> None:
    contest = making.contest()
    made = ready_rejudging(contest)
    client = Client(headers={"accept-language": language})
    client.force_login(organizer(), "django.contrib.auth.backends.ModelBackend")
    page = client.get(f"/contests/cup/manage/rejudgings/{made.pk}/").content.decode()
    for told in (
        *words,
        "0.1234567890123",
        "0.9876543210987",
        "3 / 10",
        "4 / 10",
        "0.5000000000000001",
        "02, 03",
        made.reason,
    ):
        assert told in page, told
    wrong = [render(code, {}, language).message for code in ("line.empty", "text.bom")]
    for told in (f"guess_02_01.csv:3: {wrong[0]}", wrong[1], "eeeeeeeeeeee", "ffffffffffff"):
        assert told in page, "why a verdict changes"
    step = page[page.index('<details class="confirm"') : page.index("</details>")]
    effects = render(
        "page.rejudge_effects", {"entries": 2, "scores": 1, "ranks": 1, "awards": 1}, language
    ).message
    for told in (
        f"rejudgings/{made.pk}/apply",
        effects,
        render("page.rejudge_apply_hint", {}, language).message,
    ):
        assert told in step, "a second step says what follows"
    assert " sample attack<" not in page
    assert made.reason in client.get("/contests/cup/manage/rejudgings/").content.decode()
    assert client.post(f"/contests/cup/manage/rejudgings/{made.pk}/apply").status_code == 302
    made.refresh_from_db()
    assert (made.state, rejudging.jobs_of(made).get().kind) == ("applying", JobKind.SETTLE)
    assert (
        client.post(f"/contests/cup/manage/rejudgings/{made.pk}/cancel", follow=True).status_code
        == 200
    )
    made.refresh_from_db()
    assert made.state == "applying"


def test_programs_ask_look_and_decide_by_the_api() -> None:
    contest = making.contest()
    team = making.team(contest, "foxes", making.user("member"))
    entry = Submission.objects.create(
        entry=making.entry(team),
        phase=making.opened(contest),
        number=1,
        received_at=timezone.now(),
        state="scored",
    )
    Judging.objects.create(submission=entry, fingerprint="0" * 64, verdict="scored", result={})
    client = Client()

    def ask(user: Any, **given: Any) -> Any:
        token = {"Authorization": f"Bearer {accounts.new_token(user, 'of a test')[1]}"}
        address, method = given.pop("address", ""), given.pop("method", "post")
        return getattr(client, method)(
            f"/api/v1/contests/cup/rejudgings{address}", given, "application/json", headers=token
        )

    assert ask(making.user("member"), reason=REASON).status_code == 403
    for bad in (" ", "a\0b", "\ud800"):
        assert ask(organizer(), reason=bad).json()["problems"][0]["code"] == "rejudging.no_reason"
    assert ask(organizer(), reason=REASON, round="a\0b").status_code == 404
    asked = ask(organizer(), reason=REASON, submission=str(entry.pk))
    assert (asked.status_code, asked.json()["state"], asked.json()["submission"]) == (
        201,
        "working",
        str(entry.pk),
    )
    made = asked.json()["id"]
    token = {"Authorization": f"Bearer {accounts.new_token(organizer(), 'of a test')[1]}"}
    listed = client.get("/api/v1/contests/cup/rejudgings", headers=token).json()
    assert (listed["judged_by_others"], [one["id"] for one in listed["rejudgings"]]) == (
        {"pre": 1},
        [made],
    )
    for decision in ("apply", "cancel"):
        assert ask(making.user("member"), address=f"/{made}/{decision}").status_code == 403
    assert ask(organizer(), address=f"/{made}/apply").status_code == 422
    assert ask(organizer(), address=f"/{made}/cancel").json()["state"] == "cancelled"
    assert (
        client.get(f"/api/v1/contests/cup/rejudgings/{made}", headers=token).json()["changes"] == {}
    )


# -- fingerprints ------------------------------------------------------------------------------------------------------------


def test_the_fingerprint_changes_with_every_part_that_a_score_depends_on_and_with_nothing_else(
    scorer: Any, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(**described: Any) -> str:
        fingerprint._package_digest.cache_clear()
        fingerprint.own_software.cache_clear()
        return fingerprint.fingerprint_of({"name": "faulty", "options": {"size": 40}, **described})

    seen = [scorer(True), found(options={"size": 41}), found(name="hide-and-seek")]
    assert found() == seen[0]
    inherited = site / "hide_and_seek.py"
    content = inherited.read_text()
    inherited.write_text(content + "# mended\n")
    seen.append(found())
    inherited.write_text(content)
    versions = fingerprint.metadata.version
    monkeypatch.setattr(
        fingerprint.metadata, "version", lambda name: "0" if name == "numpy" else versions(name)
    )
    seen.append(found())
    monkeypatch.undo()
    monkeypatch.setattr(fingerprint, "_SCORING", ("judge/scoring/steps.py",))
    seen.append(found())
    monkeypatch.undo()
    assert found() == seen[0]
    assert len(set(seen)) == len(seen)
    files = dict(fingerprint._files_of("kakurenbo"))
    assert {
        "judge/scoring/steps.py",
        "proofs/ranking.py",
        "rulebooks/amic2020/scores.py",
    } <= set(files)
    assert not any(
        name.endswith(".pyc") or name.startswith(("cli/", "judge/pages")) for name in files
    )
