"""A round once more, from the archive's files: data as committed, every release measured, published and attacked again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import ANONYMIZE, ATTACK, CONTEST_FILE, PreparedRound, by_number, team_of
from kakurenbo.contest.commitments import COMMITMENTS_FILE, KEPT, OPENING_FILE, digest
from kakurenbo.contest.engine import ReleaseOutcome, judge_sample_attack
from kakurenbo.contest.phases import JudgedSubmission, scored_submissions
from kakurenbo.contest.preparation import PublishedTargets
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.releases import RELEASES_FILE
from kakurenbo.contest.results import DISQUALIFIED, MISSING, PUBLISHED
from kakurenbo.contest.rounds import judge_team
from kakurenbo.contest.verify import verify_round
from kakurenbo.core import json_bytes, read_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.files import FOLDER_FILE_LIMIT
from kakurenbo.core.messages import text, translated
from kakurenbo.proofs import content_digest, judging, strict
from kakurenbo.proofs.account import check_results, in_order
from kakurenbo.proofs.archive import (
    EARNED,
    LOG,
    SUBMISSIONS,
    Archive,
    EarnedRow,
    EntryRow,
    RoundRow,
    SubmissionRow,
)
from kakurenbo.proofs.differences import Comparison, Difference
from kakurenbo.proofs.judging import SCORED
from kakurenbo.proofs.ledger import Ledger, Sealed, moment

COMPUTED = "verification.not_as_computed"
_JUDGED = frozenset({"scored", "invalid", "failed"})
_WORDS = frozenset({"en", "ja", "params", "cause", "messages"})
"""What another version of the software may say in other words about the same files; and lists of sentences."""
Told = Callable[[str], None]
Credits = list[dict[str, Any]]
EarnedKey = tuple[str | None, str, str, str]
"""Submission (None for an organizers' attack), attacker, target and file of a guess."""


class Round:
    """A round of an archive, made once more.

    Parameters
    ----------
    archive : Archive
    facts : RoundRow
        What ``contest.json`` says of it, as the log does.
    described : mapping
        The rulebook's name, and the contest's options.
    rows : sequence of SubmissionRow
        The submissions of the round, as the log says.
    ledger : Ledger
    tell : callable
        Called with the name of each thing that was checked.
    unranked : collection of str
        Teams without rank.
    """

    def __init__(
        self,
        archive: Archive,
        facts: RoundRow,
        described: Mapping[str, Any],
        rows: Sequence[SubmissionRow],
        ledger: Ledger,
        tell: Told,
        unranked: Collection[str],
    ) -> None:
        self._archive, self.facts, self._ledger, self._tell = archive, facts, ledger, tell
        teams = sorted(entry.team for entry in facts.entries)
        self.unranked = tuple(team for team in teams if team in unranked)
        request = {"rulebook": {**described, "round": facts.name}}
        self._fingerprint = judging.fingerprint(request)
        self._rules = judging.rules_for(request)
        self._folder = f"rounds/{facts.name}"
        self._preparation = archive.root / self._folder / "preparation"
        self._phase = archive.root / self._folder / "phase"
        self._rows, self._logged = rows, {row.id: ledger.submissions[row.id] for row in rows}
        self._sealed = {
            name: seal for (of, name), seal in ledger.sealed.items() if of == facts.name
        }
        self._late: set[str] = set()  # releases that were judged again after they were sealed
        self.records: list[dict[str, Any]] = []
        self.credits: Credits = []
        self.samples: Credits = []

    @property
    def began(self) -> bool:
        """Whether releases were under attack."""
        return self.facts.phase_state(ATTACK) not in ("", "waiting")

    @property
    def judged(self) -> int:
        """How many submissions have a judging in effect."""
        return sum(row.judging is not None for row in self._rows)

    @property
    def judged_by_others(self) -> int:
        """Of these, judged by other software than this: of them, words were not compared."""
        judgings = [row.judging for row in self._rows if row.judging is not None]
        return sum(judging.fingerprint != self._fingerprint for judging in judgings)

    # -- data --------------------------------------------------------------------------------------------------------

    def check_data(self, *, again: bool) -> None:
        """Check that the data and the seed are those that were committed to before the first phase."""
        logged = self._ledger.rounds[self.facts.name]
        place = f"{self._folder}/preparation"
        commitments = f"{place}/public/{COMMITMENTS_FILE}"
        if (sha256 := self._archive.sha256(commitments)) != logged["commitments"]:
            sums = sha256, logged["commitments"]
            raise Difference("verification.not_as_logged", commitments, "", *sums)
        try:
            findings = verify_round(self._rules, self._preparation, again=again)
        except UsageError as error:  # a file that nobody can read any more
            raise Difference("verification.not_kept", f"{place}/", "", str(error)) from None
        for finding in findings:
            if finding.state != KEPT:
                why = f" ({translated(finding.why)})" if finding.why else ""
                code = f"word.{finding.state.replace(' ', '_')}"
                state = f"{text(code)}{why}"
                raise Difference("verification.not_kept", f"{place}/{finding.name}", "", state)
            self._tell("commitments")
        opening = f"secret/{OPENING_FILE}"
        files = self._archive.below(place)
        content = strict.parsed(read_file(files[opening]), f"{place}/{opening}")
        strict.check_keys(content, dict.fromkeys(("scope", "seed")), f"{place}/{opening}")
        if len(files) != logged["files"]:
            counts = len(files), logged["files"]
            raise Difference("verification.not_as_logged", place, "files", *counts)
        self._archive.account(*(f"{place}/{name}" for name in files))
        self._prepared: PreparedRound[Any] = PreparedRound(self._rules, self._preparation)

    # -- releases ----------------------------------------------------------------------------------------------------

    def check_releases(self) -> None:
        """Measure every submitted release again, and publish the scored ones again."""
        outcomes: dict[str, ReleaseOutcome] = {}
        for row in self._judged(ANONYMIZE):
            body, place = self._logged[row.id].body, self._archive.root / row.folder
            outcome = judging.judged_release(
                self._prepared, place, str(body["team"]), int(body["number"])
            )
            result = judging.release_result(outcome)
            self._compare_judging(row, result, ("record", "problems", "total"))
            self._tell("releases")
            outcomes[row.id] = outcome
        check_results(f"{self._folder}/{SUBMISSIONS}", self._rows, self._ledger)
        files: dict[str, bytes] = {}
        for entry in self.facts.entries:
            published, releases = self._released(entry, outcomes)
            files |= published
            self.records += [_plain(release.record) for release in releases]
        self._compare_phase(files)

    def _released(
        self, entry: EntryRow, outcomes: Mapping[str, ReleaseOutcome]
    ) -> tuple[Mapping[str, bytes], list[ReleaseOutcome]]:
        """Return the files of a team in the phase folder, and its releases as the judge keeps them."""
        team = entry.team
        sealed = {name: seal for name, seal in self._sealed.items() if team_of(name) == team}
        if not sealed:
            if self.facts.phase_state(ANONYMIZE) != "closed":
                return {}, [outcomes[key] for key in self._scored_releases(team, sealed)]
            return {}, [ReleaseOutcome(_bare(team, MISSING, entry.excused))]
        scored = self._scored_releases(team, sealed)
        releases = [outcomes[key] for key in scored]
        last = max(seal.number for seal in sealed.values())
        late = [key for key in scored if self._logged[key].judged[-1].number > last]
        self._late |= {outcomes[key].record.target for key in late}
        reason = next((seal.reason for seal in sealed.values() if seal.passed_over), "")
        if reason:
            releases = [ReleaseOutcome(_bare(team, DISQUALIFIED, reason))]
        releases = releases or judge_team(self._prepared, team, [])
        releases.sort(key=lambda release: release.record.target)
        files = self._check_sealed(team, sealed, releases)
        return files, [self._settled(release, sealed) for release in releases]

    def _scored_releases(self, team: str, sealed: Mapping[str, Sealed]) -> list[str]:
        """Return the ids of a team's releases that count, by the judgings of the time when it was sealed."""
        rules = self._prepared.rules
        first = next((seal.number for seal in sealed.values()), None)
        submissions = []
        for row in sorted(self._of(ANONYMIZE, team), key=self._number):
            judgings = [
                judging
                for judging, logged in zip(
                    in_order(row.judgings), self._logged[row.id].judged, strict=True
                )
                if first is None or logged.number < first
            ]
            if judgings and judgings[-1].verdict == SCORED:
                record = judgings[-1].result.get("record", {})
                submissions.append(
                    JudgedSubmission(row.id, self._number(row), row.chosen_at, record)
                )
        phase = rules.phase(ANONYMIZE)
        return [key for key, _ in scored_submissions(phase, submissions, rules.utility_score)]

    def _check_sealed(
        self, team: str, sealed: Mapping[str, Sealed], releases: Sequence[ReleaseOutcome]
    ) -> dict[str, bytes]:
        """Return the files of a team's releases after comparing their digests with the log."""
        comparison = Comparison(COMPUTED, LOG)
        files: dict[str, bytes] = {}
        targets = [release.record.target for release in releases]
        comparison.check(sorted(sealed), targets, f"targets of team {team}")
        for release in releases:
            name = release.record.target
            is_late = name in self._late
            published = self._files_of(name) if is_late else release.files
            digests = {
                kind: _digest(published, f"{kind}s/{name}/") for kind in ("target", "answer")
            }
            expected: dict[str, Any] = {"state": release.record.state, "digests": digests}
            if is_late:
                del expected["state"]
            logged = {key: sealed[name].body[key] for key in expected}
            comparison.check(logged, expected, f"target {name}")
            files |= published
        return files

    def _files_of(self, name: str) -> dict[str, bytes]:
        """Return the published files of a release that was judged again: they stay, whatever would be made of it now."""
        folders = (f"targets/{name}/", f"answers/{name}/")
        below = self._archive.below(f"{self._folder}/phase")
        return {
            place: read_file(path, FOLDER_FILE_LIMIT)
            for place, path in below.items()
            if place.startswith(folders)
        }

    def _settled(self, release: ReleaseOutcome, sealed: Mapping[str, Sealed]) -> ReleaseOutcome:
        name = release.record.target
        if name not in self._late:
            return release
        record = judging.settled(msgspec.to_builtins(release.record), sealed[name].body["state"])
        return ReleaseOutcome(msgspec.convert(record, ReleaseRecord))

    def _compare_phase(self, files: Mapping[str, bytes]) -> None:
        """Compare the phase folder, file by file."""
        attackers = self._prepared.attackers.all_files()
        expected = {**files, **{f"attackers/{name}": data for name, data in attackers.items()}}
        if self.began:
            records = [msgspec.convert(record, ReleaseRecord) for record in self.records]
            records.sort(key=lambda record: by_number(record.target))
            facts = replace(self._prepared.phase_facts, unranked=self.unranked)
            public = [record.public() for record in records]
            expected |= {
                f"public/{CONTEST_FILE}": facts.as_bytes(),
                f"public/{RELEASES_FILE}": json_bytes(msgspec.to_builtins(public)),
                f"answers/{RELEASES_FILE}": json_bytes(msgspec.to_builtins(records)),
            }
        place = f"{self._folder}/phase"
        here = self._archive.below(place)
        for name, data in expected.items():
            if name not in here:
                raise Difference("verification.lacks_file", f"{place}/{name}")
            content = read_file(here[name], FOLDER_FILE_LIMIT)
            if content != data:
                self._name_difference(f"{place}/{name}", content, data)
            self._archive.account(f"{place}/{name}")
            self._tell("published")

    def _name_difference(self, place: str, here: bytes, expected: bytes) -> None:
        """Name what differs: a figure where it is JSON, else its bytes; nothing where another version words it otherwise."""
        sums = digest(here), digest(expected)
        try:
            content, should_be = strict.parsed(here, place), json.loads(expected)
            if json_bytes(should_be) == expected:
                strict.check_written(content, here, place)
        except ValueError:
            raise Difference(COMPUTED, place, "sha256", *sums) from None
        if self.judged_by_others:
            Comparison(COMPUTED, place).check(_without_words(content), _without_words(should_be))
            return
        Comparison(COMPUTED, place).check(content, should_be)
        raise Difference(COMPUTED, place, "sha256", *sums)

    # -- guesses -----------------------------------------------------------------------------------------------------

    def check_guesses(self) -> None:
        """Score every guess again, and play the organizers' attacks again."""
        sealed = self._sealed
        published = sorted(name for name, seal in sealed.items() if seal.body["state"] == PUBLISHED)
        open_targets = cache(
            lambda names: PublishedTargets.in_phase(self._rules, self._phase, names)
        )
        earned: dict[EarnedKey, Any] = {}
        for row in self._judged(ATTACK):
            logged = self._logged[row.id]
            last, team = logged.judged[-1].number, str(logged.body["team"])
            targets = open_targets(tuple(name for name in published if sealed[name].number < last))
            result = judging.guesses_result(targets, self._archive.root / row.folder, team)
            guesses = [
                {"target": guess["target"], "file": guess["file"]} for guess in result["earned"]
            ]
            names = ("targets", "refused", "notices")
            self._compare_judging(row, {**result, "targets": guesses}, names)
            for guess in result["earned"]:
                key = (row.id, team, guess["target"], guess["file"])
                earned[key] = _plain(guess["credit"])
            self._tell("guesses")
        if published:
            targets = open_targets(tuple(published))
            for attack in targets.rules.sample_attacks:
                for guess in judge_sample_attack(targets, attack).scores:
                    earned[None, attack, guess.target, ""] = _plain(guess.score)
                    self._tell("samples")
        self._compare_earned(earned)
        self._keep_credits(earned)
        self._compare_guesses()

    def _compare_earned(self, earned: Mapping[EarnedKey, Any]) -> None:
        file = f"{self._folder}/{EARNED}"
        rows = self._archive.read(file, list[EarnedRow])
        here = {(row.submission, row.attacker, row.target, row.file): row.credit for row in rows}
        if len(here) != len(rows):
            raise Difference("verification.twice", file)
        comparison = Comparison(COMPUTED, file)
        for key in dict.fromkeys((*earned, *here)):
            submission, attacker, target, guess = key
            what = f"{attacker} on {target}"
            if submission:
                what += f", submission {submission}, {guess}"
            comparison.check(here.get(key, "–"), earned.get(key, "–"), what)

    def _keep_credits(self, earned: Mapping[EarnedKey, Any]) -> None:
        """Keep the scores for the ranking: of guesses in the order in which they come to count."""
        order = {row.id: _order(row) for row in self._rows}
        guesses = sorted((key for key in earned if key[0]), key=lambda key: order[key[0] or ""])
        samples = sorted((key for key in earned if not key[0]), key=lambda key: key[1])
        for keys, credits in ((guesses, self.credits), (samples, self.samples)):
            credits += [
                {"attacker": key[1], "target": key[2], "credit": earned[key]} for key in keys
            ]

    def _compare_guesses(self) -> None:
        """Compare the folder that ``score`` takes: each attacker's scored submissions, in the order they come to count."""
        for entry in self.facts.entries if self.began else ():
            scored = [row for row in self._of(ATTACK, entry.team) if row.state == SCORED]
            for number, row in enumerate(sorted(scored, key=_order), start=1):
                for file in row.files:
                    place = f"{self._folder}/guesses/{entry.team}/{number:04d}/{file.name}"
                    if (sha256 := self._archive.sha256(place)) != file.sha256:
                        sums = sha256, file.sha256
                        raise Difference("verification.other_bytes", place, "", *sums)

    # -- what both need --------------------------------------------------------------------------------------------------

    def _of(self, kind: str, team: str) -> list[SubmissionRow]:
        place = (kind, team)
        bodies = {row.id: self._logged[row.id].body for row in self._rows}
        return [
            row
            for row in self._rows
            if (bodies[row.id]["phase"], str(bodies[row.id]["team"])) == place
        ]

    def _number(self, row: SubmissionRow) -> int:
        return int(self._logged[row.id].body["number"])

    def _judged(self, kind: str) -> list[SubmissionRow]:
        rows = [row for row in self._rows if row.state in _JUDGED]
        return [row for row in rows if self._logged[row.id].body["phase"] == kind]

    def _compare_judging(
        self, row: SubmissionRow, result: Mapping[str, Any], names: Sequence[str]
    ) -> None:
        file, what = f"{self._folder}/{SUBMISSIONS}", f"submission {row.id}"
        if row.judging is None:
            raise Difference("verification.no_judging", file, what)
        computed = {name: result[name] for name in names}
        expected: Any = _plain({"verdict": result["verdict"], "result": computed})
        here: Any = {"verdict": row.judging.verdict, "result": row.judging.result}
        if row.judging.fingerprint != self._fingerprint:
            here, expected = _without_words(here), _without_words(expected)
        Comparison(COMPUTED, file).check(here, expected, what)


def _digest(files: Mapping[str, bytes], prefix: str) -> str:
    """Of all files below a folder, as the log has it."""
    own = sorted(Path(name) for name in files if name.startswith(prefix))
    return content_digest([[path.as_posix(), digest(files[path.as_posix()])] for path in own])


def _order(row: SubmissionRow) -> tuple[str, str]:
    """In which order a team's hand-ins come to count: as handed in, then as chosen."""
    return moment(row.chosen_at) or "", moment(row.received_at) or ""


def _bare(team: str, state: str, cause: str) -> ReleaseRecord:
    """What the judge keeps of a team of which nothing was sealed, without fields that say nothing, as it writes it."""
    return msgspec.convert(
        {"target": team, "team": team, "state": state, "cause": cause}, ReleaseRecord
    )


def _plain(content: object) -> Any:
    """As it comes out of a file."""
    return json.loads(msgspec.json.encode(content, enc_hook=str).replace(*judging.UNSTORABLE))


def _without_words(content: object) -> Any:
    if isinstance(content, dict):
        return {key: _without_words(value) for key, value in content.items() if key not in _WORDS}
    if isinstance(content, list):
        return [_without_words(value) for value in content if not isinstance(value, str)]
    return content
