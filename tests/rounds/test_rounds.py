"""A round played by folders: identity by the organizer's word, one team's files never another's, everything committed."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.reading import attempt

from kakurenbo import testing
from kakurenbo.cli.organize import print_published, published_json
from kakurenbo.contest import read_facts, submissions
from kakurenbo.contest.commitments import BROKEN, COMMITMENTS_FILE, KEPT, commit
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.records import Refusal
from kakurenbo.contest.rounds import PublishedRound, publish_round, score_round
from kakurenbo.contest.verify import verify_round
from kakurenbo.core import ProblemCollector, Problems, json_bytes, read_folder, write_folder
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.reports import read_results, scored_document

SEED = 2**100 + 1
TEAMS = ("01", "03", "07", "12")


class Contest:
    """A small contest in a folder: four teams with gaps between their numbers, the last one the organizers' own."""

    def __init__(self, module: ModuleType, folder: Path) -> None:
        self.module, self.folder = module, folder
        self.rulebook = module.HideAndSeek()
        self.preparation, self.submissions = folder / "preparation", folder / "submissions"
        self.phase, self.guesses = folder / "phase", folder / "guesses"
        write_folder(self.preparation, prepare(self.rulebook, SEED, TEAMS, ["12"]).files())
        for team in TEAMS:
            self.hand_in(team)

    def hand_in(self, team: str, reach: int = 1, name: str = "hidden.csv") -> None:
        handout = self.rulebook.read_handout(self.preparation / "teams" / team)
        release = self.rulebook.anonymize(handout, self.module.Blur(reach=reach), stream(1, team))
        (self.submissions / team).mkdir(parents=True, exist_ok=True)
        for data in self.rulebook.release_files(handout, release).values():
            (self.submissions / team / name).write_bytes(data)

    def publish(self, **options: Any) -> PublishedRound:
        published = publish_round(self.rulebook, self.preparation, self.submissions, **options)
        shutil.rmtree(self.phase, ignore_errors=True)
        write_folder(self.phase, published.files)
        return published

    def guess(self, attacker: str, target: str, name: str | None = None) -> Path:
        read = attempt(self.rulebook.read_target, self.phase / "targets" / target)
        guess = self.rulebook.sample_attacks["sample attack"](
            read.value.knowledge, stream(2, attacker)
        )
        (self.guesses / attacker).mkdir(parents=True, exist_ok=True)
        path = self.guesses / attacker / (name or f"guess_{target}_{attacker}.csv")
        path.write_bytes(self.rulebook.guess_bytes(guess))
        return path


@pytest.fixture
def contest(hide_and_seek: ModuleType, tmp_path: Path) -> Contest:
    return Contest(hide_and_seek, tmp_path)


def states(published: PublishedRound) -> dict[str, str]:
    return {record.target: record.state for record in published.records}


# -- who is who --------------------------------------------------------------------------------------------------------


def test_a_file_that_names_another_team_than_its_folder_is_refused_and_touches_nobody(
    contest: Contest,
) -> None:
    (contest.submissions / "03" / "hidden.csv").rename(
        contest.submissions / "03" / "release_01.csv"
    )
    published = contest.publish()
    assert states(published) == {
        "01": "published",
        "03": "refused",
        "07": "published",
        "12": "published",
    }
    assert "the name says team 01, but team 03 handed it in" in published.records[1].cause


def test_what_is_published_depends_on_the_team_and_not_on_the_name_of_a_file(
    contest: Contest,
) -> None:
    contest.publish()
    before = read_folder(contest.phase / "targets" / "03")
    (contest.submissions / "03" / "hidden.csv").rename(contest.submissions / "03" / "anything.csv")
    contest.publish()
    assert read_folder(contest.phase / "targets" / "03") == before


def test_files_that_name_their_team_need_no_folders(contest: Contest, tmp_path: Path) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    for team in ("01", "07"):
        shutil.copy(contest.submissions / team / "hidden.csv", flat / f"release_{team}.csv")
    (flat / "readme.txt").write_text("hello")
    published = publish_round(contest.rulebook, contest.preparation, flat)
    assert states(published) == {
        "01": "published",
        "03": "missing",
        "07": "published",
        "12": "missing",
    }
    assert [file for file, _ in published.unassigned] == ["readme.txt"]
    assert not published.complete


def test_an_unknown_team_is_named_and_the_others_are_published(contest: Contest) -> None:
    (contest.submissions / "99").mkdir()
    (contest.submissions / "99" / "hidden.csv").write_text("x")
    published = contest.publish()
    assert [file for file, _ in published.unassigned] == ["99"]
    assert set(states(published).values()) == {"published"}


def test_team_numbers_are_checked_when_a_round_is_prepared(contest: Contest) -> None:
    for teams in ([], ["1"], ["01", "01"], ["00"], ["100"], ["xx"]):
        with pytest.raises(ParameterError):
            prepare(contest.rulebook, SEED, teams)
    with pytest.raises(
        UsageError, match=r"there is no team '12' in this round \(there are 01, 02\)"
    ):
        prepare(contest.rulebook, SEED, ["01", "02"], ["12"])


# -- nothing of one team touches another --------------------------------------------------------------------------------


def test_a_bad_a_missing_and_a_weak_release_cost_their_own_teams_alone(contest: Contest) -> None:
    (contest.submissions / "01" / "hidden.csv").write_bytes(b"\0 no table")
    contest.hand_in("03", reach=40)
    shutil.rmtree(contest.submissions / "07")
    published = contest.publish()
    assert states(published) == {
        "01": "refused",
        "03": "disqualified",
        "07": "missing",
        "12": "published",
    }
    assert not published.complete
    assert "moved is" in published.records[1].cause
    assert not (contest.phase / "targets" / "03").exists(), (
        "a release below a threshold is not published"
    )
    contest.publish(with_disqualified=True)
    assert (contest.phase / "targets" / "03").exists()


def test_a_step_that_breaks_on_one_release_does_not_stop_the_others(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = type(contest.rulebook).publish

    def publish(self: Any, secrets: Any, submission: Any) -> Any:
        if secrets.team == "03":
            raise RuntimeError("a bug that only this release shows")
        return whole(self, secrets, submission)

    monkeypatch.setattr(type(contest.rulebook), "publish", publish)
    published = contest.publish()
    assert states(published) == {
        "01": "published",
        "03": "failed",
        "07": "published",
        "12": "published",
    }
    assert "a bug that only this release shows" in published.records[1].cause


def test_a_bad_guess_file_costs_that_file_alone(contest: Contest) -> None:
    contest.publish()
    contest.guess("01", "03")
    contest.guess("01", "07").write_text("0\n" * 9)
    contest.guess("01", "12", "guess_99_01.csv")
    contest.guess("01", "12", "guess_01_01.csv")
    contest.guess("01", "12", "guess_12_03.csv")
    (contest.guesses / "01" / "readme.txt").write_text("hello")
    contest.guess("03", "01")
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    assert scored.results.credit("03", "01") is not None
    assert scored.results.credit("01", "03") is not None
    assert scored.results.credit("07", "01") is None
    refused = {refusal.file: refusal.problems[0].code for refusal in scored.refused}
    assert refused == {
        "01/guess_07_01.csv": "table.row_count",
        "01/guess_99_01.csv": "guess.unknown_target",
        "01/guess_01_01.csv": "guess.own_target",
        "01/guess_12_03.csv": "guess.other_attacker",
        "01/readme.txt": "guess.unknown_name",
    }
    assert ("01", "07") in scored.missing
    # 07 handed in nothing at all; 12 is the organizers' own team and need not.
    assert {target for attacker, target in scored.missing if attacker == "07"} == {"01", "03", "12"}
    assert "12" not in {attacker for attacker, _ in scored.missing}


def test_an_empty_folder_of_guesses_makes_nobody_an_attacker(contest: Contest) -> None:
    contest.publish()
    contest.guess("01", "03")
    (contest.guesses / "03").mkdir()
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    assert scored.results.ranked_attackers == ("01",)


def test_of_a_place_that_nobody_took_no_guess_is_missed(contest: Contest) -> None:
    contest.publish()
    contest.guess("01", "03")
    for folder in ("public", "answers"):
        told = contest.phase / folder / "releases.json"
        told.write_text(
            json.dumps([one for one in json.loads(told.read_text()) if one["target"] != "07"])
        )
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    assert "07" in scored.facts.teams
    assert {attacker for attacker, _ in scored.missing} == {"01", "03"}


def test_folders_with_numbers_are_hand_ins_one_after_the_other_each_read_for_itself(
    contest: Contest,
) -> None:
    contest.publish()
    good, late = contest.guess("01", "03"), contest.guess("01", "07")
    kept = score_round(contest.rulebook, contest.phase, contest.guesses).results
    own = contest.guesses / "01"
    bad = "\n".join(["x", *map(str, range(10))])
    for place, name, content in (
        ("0002", good.name, late.read_bytes()),
        ("0010", good.name, good.read_bytes()),  # the highest number, not the last in the alphabet
        ("9", late.name, late.read_bytes()),
        ("9", good.name, bad.encode()),
        ("notes", "a.txt", b""),
    ):
        (own / place).mkdir(exist_ok=True)
        (own / place / name).write_bytes(content)
    good.unlink()
    late.unlink()
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    assert [scored.results.credit(target, "01") for target in ("03", "07")] == [
        kept.credit("03", "01"),
        kept.credit("07", "01"),
    ]
    assert len(scored.results.tries["03"]["01"]) == 2
    assert {refusal.file for refusal in scored.refused} == {"01/notes", f"01/9/{good.name}"}
    alone = contest.guesses / "03"
    alone.mkdir()
    (alone / "1").symlink_to(own / "0010")
    refused = score_round(contest.rulebook, contest.phase, contest.guesses).refused
    assert {(one.file, one.problems[0].code) for one in refused if one.team == "03"} == {
        ("03/1", "release.link")
    }


def test_the_organizers_own_team_is_attacked_and_not_ranked(contest: Contest) -> None:
    contest.publish()
    contest.guess("01", "12")
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    assert scored.results.excluded == {"12"}
    assert scored.results.credit("12", "01") is not None
    assert "12" not in scored.results.teams


# -- the same again -----------------------------------------------------------------------------------------------------


def test_a_late_team_is_published_later_and_nobody_elses_target_changes(contest: Contest) -> None:
    shutil.move(contest.submissions / "07", contest.folder / "late")
    contest.publish()
    before = {
        name: data
        for name, data in read_folder(contest.phase).items()
        if name.startswith(("targets/01", "answers/01"))
    }
    shutil.move(contest.folder / "late", contest.submissions / "07")
    contest.publish()
    after = read_folder(contest.phase)
    assert all(after[name] == data for name, data in before.items())
    assert "targets/07/release_07.csv" in after


def test_a_target_says_which_contest_and_preparation_it_belongs_to(contest: Contest) -> None:
    contest.publish()
    facts = read_facts(contest.phase / "targets" / "07", "hide-and-seek")
    assert facts is not None
    assert (facts.folder, facts.team, facts.target, facts.round) == ("target", "07", "07", "only")
    assert facts.settings == {"size": 60}
    with pytest.raises(UsageError, match="belongs to a contest of hide-and-seek, not of amic2020"):
        read_facts(contest.phase / "targets" / "07", "amic2020")


# -- verify -------------------------------------------------------------------------------------------------------------


def test_every_byte_of_every_published_or_revealed_file_is_bound(contest: Contest) -> None:
    (contest.submissions / "01" / "hidden.csv").write_bytes(b"\0 no table")
    contest.publish()
    assert {
        finding.state
        for finding in verify_round(contest.rulebook, contest.preparation, contest.phase)
    } == {KEPT}
    for root in (contest.preparation, contest.phase):
        for name, data in read_folder(root).items():
            place = root / name
            place.write_bytes(bytes([data[0] ^ 1]) + data[1:])
            assert named(contest, place.name), f"a changed first byte of {name} is not named"
            place.write_bytes(data + b"\n")
            assert named(contest, place.name), f"a byte after {name} is not named"
            place.write_bytes(data)


def named(contest: Contest, file: str) -> bool:
    """Whether verify names the file, or cannot even read it and says so."""
    try:
        findings = verify_round(contest.rulebook, contest.preparation, contest.phase)
    except UsageError as error:
        return file in str(error)
    return any(finding.state != KEPT and finding.name.endswith(file) for finding in findings)


def test_a_file_that_nobody_committed_to_is_named(contest: Contest) -> None:
    contest.publish()
    (contest.phase / "targets" / "01" / "extra.csv").write_text("x")
    findings = verify_round(contest.rulebook, contest.preparation, contest.phase)
    assert [(one.name, one.state) for one in findings if one.state != KEPT] == [
        ("phase: targets/01/extra.csv", "not committed")
    ]


def test_a_dropped_or_emptied_commitment_is_never_kept(contest: Contest) -> None:
    place = contest.preparation / "public" / COMMITMENTS_FILE
    content = json.loads(place.read_bytes())
    whole = dict(content["commitments"])
    content["commitments"].pop("teams/01/sample.csv")
    place.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    assert any(
        (one.name, one.state) == ("teams/01/sample.csv", "not committed")
        for one in verify_round(contest.rulebook, contest.preparation)
    )
    content["commitments"] = {}
    place.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="no commitments"):
        verify_round(contest.rulebook, contest.preparation)
    assert whole


def test_lines_cannot_move_from_a_file_into_its_salt(contest: Contest) -> None:
    """Salts are derived from the seed and have 32 bytes: there is nothing an organizer could put into them."""
    opening = json.loads((contest.preparation / "secret" / "opening.json").read_bytes())
    assert set(opening) == {"scope", "seed"}


def test_everything_is_made_again_from_the_revealed_seed(contest: Contest) -> None:
    contest.hand_in("03", reach=40)
    contest.publish()
    findings = verify_round(contest.rulebook, contest.preparation, contest.phase, again=True)
    assert {finding.state for finding in findings} == {KEPT}
    assert any(finding.name == "made again: phase: answers/01/members.csv" for finding in findings)


def test_a_phase_of_another_preparation_is_named(contest: Contest, tmp_path: Path) -> None:
    contest.publish()
    other = tmp_path / "other"
    write_folder(other, prepare(contest.rulebook, SEED + 1, TEAMS).files())
    findings = verify_round(contest.rulebook, other, contest.phase)
    assert any("another preparation" in finding.why for finding in findings)


def test_the_commitments_that_were_published_decide(contest: Contest, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    shutil.copy(contest.preparation / "public" / COMMITMENTS_FILE, kept)
    shutil.rmtree(contest.preparation)
    write_folder(contest.preparation, prepare(contest.rulebook, SEED + 1, TEAMS).files())
    assert {finding.state for finding in verify_round(contest.rulebook, contest.preparation)} == {
        KEPT
    }
    findings = verify_round(contest.rulebook, contest.preparation, published=kept)
    assert any(finding.state != KEPT for finding in findings)


def forge(contest: Contest, change: Callable[[dict[str, bytes]], None]) -> set[str]:
    """States that verify --again finds after an organizer changed a phase folder and committed to it once more."""
    files = read_folder(contest.phase)
    files.pop("public/commitments.json")
    files.pop("answers/opening.json")
    change(files)
    committed, opening = commit(SEED, files, contest.rulebook.scope("publication"))
    shutil.rmtree(contest.phase)
    write_folder(
        contest.phase,
        {**files, "public/commitments.json": committed, "answers/opening.json": opening},
    )
    return {
        finding.state
        for finding in verify_round(
            contest.rulebook, contest.preparation, contest.phase, again=True
        )
    }


def edit_records(files: dict[str, bytes], change: Callable[[list[dict[str, Any]]], object]) -> None:
    for name in ("public/releases.json", "answers/releases.json"):
        records = json.loads(files[name])
        change(records)
        files[name] = json_bytes(records)


def remove(files: dict[str, bytes], *folders: str) -> None:
    for name in [name for name in files if name.startswith(folders)]:
        del files[name]


def superseded(files: dict[str, bytes]) -> None:
    edit_records(files, lambda records: records[1].update(state="superseded"))
    remove(files, "targets/03/")


def invented(files: dict[str, bytes]) -> None:
    edit_records(
        files,
        lambda records: records[2].update(
            state="published", measurements=records[0]["measurements"]
        ),
    )


def forgotten(files: dict[str, bytes]) -> None:
    edit_records(files, lambda records: records.pop(1))
    remove(files, "targets/03/", "answers/03/")


def answered(files: dict[str, bytes]) -> None:
    rows = files["answers/01/members.csv"].splitlines()
    files["answers/01/members.csv"] = b"\n".join([rows[1], rows[0], *rows[2:]]) + b"\n"


def added(files: dict[str, bytes]) -> None:
    files["targets/01/extra.csv"] = b"1"


@pytest.mark.parametrize("forgery", [superseded, invented, forgotten, answered, added])
def test_an_organizer_who_forges_the_publication_is_found_out(
    contest: Contest, forgery: Callable[[dict[str, bytes]], None]
) -> None:
    shutil.rmtree(contest.submissions / "07")
    contest.publish()
    assert forge(contest, lambda _: None) == {KEPT}
    assert BROKEN in forge(contest, forgery)


def test_the_announced_commitments_of_a_phase_decide(contest: Contest, tmp_path: Path) -> None:
    contest.publish()
    announced = tmp_path / "announced.json"
    shutil.copy(contest.phase / "public" / COMMITMENTS_FILE, announced)
    forge(contest, answered)
    findings = verify_round(
        contest.rulebook, contest.preparation, contest.phase, phase_published=announced
    )
    assert "phase: answers/01/members.csv" in {
        finding.name for finding in findings if finding.state == BROKEN
    }


def test_commitments_of_something_else_are_told_in_a_sentence(contest: Contest) -> None:
    contest.publish()
    other = contest.phase / "public" / COMMITMENTS_FILE
    with pytest.raises(
        UsageError, match="the commitments of 'hide-and-seek only publication', not of"
    ):
        verify_round(contest.rulebook, contest.preparation, contest.phase, published=other)


def test_results_of_another_round_are_refused(contest: Contest, tmp_path: Path) -> None:
    contest.publish()
    contest.guess("01", "03")
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    (tmp_path / "results.json").write_bytes(scored_document(contest.rulebook, scored).as_bytes())
    read = attempt(read_results, contest.rulebook, tmp_path / "results.json", "only")
    assert not isinstance(read, Problems)
    assert [entry.name for entry in read.value.rounds] == ["only"]
    refused = attempt(read_results, contest.rulebook, tmp_path / "results.json", "main")
    assert isinstance(refused, Problems)
    assert [problem.code for problem in refused] == ["results.other_round"]


def test_a_link_in_a_contests_folder_is_named(contest: Contest) -> None:
    contest.publish()
    (contest.phase / "targets" / "99").symlink_to(contest.phase / "targets" / "01")
    findings = verify_round(contest.rulebook, contest.preparation, contest.phase)
    assert [(one.name, one.why) for one in findings if one.state != KEPT] == [
        ("phase: targets/99", "this is a link")
    ]
    contest.guesses.mkdir()
    assert "99" not in score_round(contest.rulebook, contest.phase, contest.guesses).results.credits


def test_links_pipes_and_empty_folders_are_listed_with_all_other_findings(contest: Contest) -> None:
    contest.publish()
    for root in (contest.preparation, contest.phase):
        (root / "public" / "link.csv").symlink_to("nowhere")
        os.mkfifo(root / "public" / "pipe")
        (root / "empty" / "inside").mkdir(parents=True)
        (root / "public" / "extra.csv").write_text("x")
    (contest.phase / "targets" / "01" / "contest.json").write_text("{}")
    found = verify_round(contest.rulebook, contest.preparation, contest.phase, again=True)
    told = {
        (one.name, one.state, one.why)
        for one in found
        if one.state != KEPT and not one.name.startswith("made again")
    }
    strays = {
        ("public/link.csv", "this is a link"),
        ("public/pipe", "this is a pipe, a socket or a device"),
        ("empty/inside/", "this folder is empty"),
        ("public/extra.csv", ""),
    }
    expected = {
        (f"{place}{name}", "not committed", why)
        for place in ("", "phase: ")
        for name, why in strays
    }
    assert told == expected | {("phase: targets/01/contest.json", "broken", "")}


# -- hostile folders ------------------------------------------------------------------------------------------------------


def test_names_that_cannot_be_written_links_pipes_and_folders_cost_that_file_alone(
    contest: Contest,
) -> None:
    folder = contest.submissions / "01"
    for name in (b"D\xff.csv", b"a\nevery commitment was kept\n.csv", b"a\x1b[31m.csv"):
        (folder / os.fsdecode(name)).write_bytes(b"x")
    (folder / "link.csv").symlink_to(contest.preparation / "secret" / "opening.json")
    os.mkfifo(folder / "pipe.csv")
    (folder / "folder.csv").mkdir()
    published = contest.publish()
    assert set(states(published).values()) == {"published"}
    codes = {name: problems[0].code for name, problems in published.unassigned}
    assert codes == {
        "01/D\\udcff.csv": "release.bad_name",
        "01/a\\nevery commitment was kept\\n.csv": "release.bad_name",
        "01/a\\x1b[31m.csv": "release.bad_name",
        "01/link.csv": "release.link",
        "01/pipe.csv": "release.not_a_file",
        "01/folder.csv": "release.not_a_file",
    }
    assert all(
        text.isprintable() for _, problems in published.unassigned for text in map(str, problems)
    )


@pytest.mark.parametrize("make", ["link", "folder", "linked folder"])
def test_a_team_that_hands_in_a_link_or_a_folder_alone_is_refused_with_that_sentence(
    contest: Contest, make: str
) -> None:
    folder = contest.submissions / "03"
    shutil.rmtree(folder)
    if make == "linked folder":
        folder.symlink_to(contest.submissions / "01")
    else:
        folder.mkdir()
        file = folder / "hidden.csv"
        file.symlink_to(
            contest.submissions / "01" / "hidden.csv"
        ) if make == "link" else file.mkdir()
    published = contest.publish()
    (record,) = [record for record in published.records if record.team == "03"]
    said = "this is a folder, a pipe or a device" if make == "folder" else "this is a link"
    named = "03" if make == "linked folder" else "03/hidden.csv"
    assert record.state == "refused"
    assert record.cause.startswith(f"{named}: {said}")
    assert published.unassigned == ()
    findings = verify_round(contest.rulebook, contest.preparation, contest.phase, again=True)
    assert {finding.state for finding in findings} == {KEPT}


def test_what_a_file_manager_puts_beside_a_release_is_left_aside(contest: Contest) -> None:
    for place in (contest.submissions, contest.submissions / "03"):
        for name in ("Thumbs.db", "desktop.ini", ".DS_Store"):
            (place / name).write_bytes(b"x")
        (place / "__MACOSX").mkdir()
    published = contest.publish()
    assert published.complete


def test_a_bad_guess_is_named_with_its_folder_and_told_in_english(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest.publish()
    contest.guess("01", "03")
    (contest.guesses / "01" / "notes.txt").write_text("x")
    (contest.guesses / "01" / "link.csv").symlink_to(contest.guesses / "01" / "notes.txt")
    documents = set()
    for language in ("en", "ja"):
        monkeypatch.setenv("KAKURENBO_LANG", language)
        scored = score_round(contest.rulebook, contest.phase, contest.guesses)
        assert {refusal.file for refusal in scored.refused} == {"01/notes.txt", "01/link.csv"}
        assert all(
            str(refusal.problems[0]).startswith(f"{refusal.file}: ") for refusal in scored.refused
        )
        documents.add(scored_document(contest.rulebook, scored).as_bytes())
    assert len(documents) == 1


def test_more_files_or_bytes_than_a_contest_needs_are_refused_unread(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MAX_FILES", 3)
    monkeypatch.setattr(submissions, "MAX_BYTES", 5000)
    for number in range(5):
        (contest.submissions / "01" / f"x{number}.csv").write_bytes(b"")
    (contest.submissions / "03" / "zz.csv").write_bytes(b"0" * 5000)
    published = contest.publish()
    codes = [problems[0].code for _, problems in published.unassigned]
    assert sorted(set(codes)) == ["release.too_many_bytes", "release.too_many_files"]
    assert states(published)["03"] == "published"


@pytest.mark.parametrize(
    "stray", ["release_01.csv", "release_01.zip.csv", "01.csv", "release_99.csv"]
)
def test_a_stray_file_beside_the_folder_of_a_team_is_nobodys_and_leaves_the_folder_valid(
    contest: Contest, stray: str
) -> None:
    alone = contest.publish()
    (contest.submissions / stray).write_bytes(b"1\n")
    published = contest.publish()
    assert states(published) == states(alone) == dict.fromkeys(TEAMS, "published")
    assert [file for file, _ in published.unassigned] == [stray]
    assert not published.complete


def test_a_stray_guess_beside_the_folder_of_an_attacker_is_nobodys_and_leaves_the_folder_valid(
    contest: Contest,
) -> None:
    contest.publish()
    shutil.copy(contest.guess("01", "03"), contest.guesses / "guess_03_01.csv")
    contest.guess("01", "07")
    (contest.guesses / "guess_07_01.csv").write_bytes(b"stray\n")
    scored = score_round(contest.rulebook, contest.phase, contest.guesses, sample_attacks=False)
    assert {target for target in TEAMS if scored.results.credit(target, "01") is not None} == {
        "03",
        "07",
    }
    assert [
        (refusal.team, refusal.file, refusal.problems[0].code) for refusal in scored.refused
    ] == [("", name, "guess.beside_folder") for name in ("guess_03_01.csv", "guess_07_01.csv")]


def test_of_thousands_of_junk_files_the_first_are_named_and_the_others_counted(
    contest: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    contest.publish()
    contest.guess("01", "03")
    for folder in (contest.guesses / "01", contest.submissions / "01", contest.submissions):
        for number in range(2000):
            (folder / f"junk-{number:04d}.csv").touch()
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    listed = [refusal for refusal in scored.refused if refusal.team == "01"]
    assert len(listed) == 21
    assert (listed[-1].file, listed[-1].as_json()["problem_count"]) == ("01", 1)
    assert str(listed[-1].problems[0]).startswith("01: further files that are refused: 1,980")
    assert len(scored_document(contest.rulebook, scored).as_bytes()) < 50_000
    published = contest.publish()
    print_published(published, contest.phase)
    printed = capsys.readouterr().err.splitlines()
    of_nobody, of_team = (line for line in printed if "junk-" in line)
    assert of_nobody.startswith("junk-0000.csv, junk-0001.csv, junk-0002.csv and 1,997 more: ")
    assert of_team.startswith("01/junk-0199.csv, 01/junk-0200.csv, ")
    assert of_team.partition(": ")[0].endswith(" more")
    told = published_json(published)["unassigned"]
    more = [re.search(r"further files that are refused: ([0-9,]+)", one["problem"]) for one in told]
    counts = [int(number[1].replace(",", "")) if number else 1 for number in more]
    assert sum(counts) == len(published.unassigned)


def test_a_team_of_junk_alone_is_refused_in_few_words(contest: Contest) -> None:
    shutil.rmtree(contest.submissions / "01")
    (contest.submissions / "01").mkdir()
    for number in range(300):
        (contest.submissions / "01" / f"{number}.csv").symlink_to("nothing")
    record = next(record for record in contest.publish().records if record.team == "01")
    assert (record.state, len(record.problems), len(record.files)) == ("refused", 21, 20)
    assert record.problems[-1].startswith("01: further files that are refused: 280")


def test_a_refused_file_with_very_many_problems_lists_twenty_and_tells_their_number() -> None:
    found = ProblemCollector("guess_03_01.csv")
    for row in range(1, 3001):
        found.add("darc2019.no_share", row=row, column="01", value=str(row))
    told = Refusal.of("01", "guess_03_01.csv", found.problems()).as_json()
    assert (len(told["problems"]), told["problem_count"]) == (20, 3000)


def test_only_teams_of_the_round_attack(contest: Contest) -> None:
    contest.publish()
    contest.guess("01", "03")
    for name in ("99", "０３", "1"):
        shutil.copytree(contest.guesses / "01", contest.guesses / name)
    (contest.guesses / "07").symlink_to(contest.guesses / "01")
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    assert scored.results.ranked_attackers == ("01",)
    refused = {refusal.file: refusal.problems[0].code for refusal in scored.refused}
    strangers = dict.fromkeys(("99", "０３", "1"), "guess.unknown_attacker")
    assert refused == {**strangers, "07": "guess.no_folder"}


def test_what_is_public_of_a_release_tells_scores_and_no_difference_from_the_data(
    contest: Contest,
) -> None:
    (contest.submissions / "01" / "hidden.csv").write_bytes(b"secret-looking text\n")
    contest.publish()
    content = (contest.phase / "public" / "releases.json").read_bytes()
    assert b"secret-looking" not in content
    measured = [one for record in json.loads(content) for one in record["measurements"]]
    assert measured
    assert all(one["limit"] == {} and one["parts"] == {} for one in measured)
    kept = json.loads((contest.phase / "answers" / "releases.json").read_bytes())
    assert any(one["parts"] for record in kept for one in record["measurements"])


# -- conformance ----------------------------------------------------------------------------------------------------------


def test_the_example_passes_every_check_that_kakurenbo_testing_ships(
    hide_and_seek: ModuleType,
) -> None:
    from kakurenbo.anonymizers.tables.randomized_response import RandomizedResponse
    from kakurenbo.attacks.membership.nearest import Nearest

    rulebook, blur = hide_and_seek.HideAndSeek(), hide_and_seek.Blur()
    checks = testing.rulebook_checks(rulebook, blur)
    checks += testing.anonymizer_checks(RandomizedResponse(), rulebook)
    checks += testing.attack_checks(Nearest(), rulebook, blur)
    for check in checks:
        check()


def test_a_rulebook_that_leaks_its_answer_fails_the_conformance_check(
    hide_and_seek: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = hide_and_seek.HideAndSeek.publish

    def publish(self: Any, secrets: Any, submission: Any) -> Any:
        publication = whole(self, secrets, submission)
        parts = {"02": ({"oops.csv": publication.answer["members.csv"]}, publication.answer)}
        return type(publication)(publication.target, publication.answer, parts)

    monkeypatch.setattr(hide_and_seek.HideAndSeek, "publish", publish)
    checks = {
        str(check): check
        for check in testing.rulebook_checks(
            hide_and_seek.HideAndSeek(size=50), hide_and_seek.Blur()
        )
    }
    with pytest.raises(AssertionError, match=r"oops\.csv is a copy of a secret file"):
        checks["no secret stands in a folder that others may see"]()
