"""A round once more, from the archive's files: data as committed, every release measured, published and attacked again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import ANONYMIZE, ATTACK, CONTEST_FILE, PreparedRound, by_number, team_of
from kakurenbo.contest.commitments import COMMITMENTS_FILE, KEPT, OPENING_FILE, digest
from kakurenbo.contest.engine import ReleaseOutcome
from kakurenbo.contest.phases import JudgedSubmission, scored_submissions
from kakurenbo.contest.preparation import PublishedTargets
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.releases import RELEASES_FILE
from kakurenbo.contest.results import DISQUALIFIED, MISSING, PUBLISHED
from kakurenbo.contest.rounds import judge_team
from kakurenbo.contest.verify import verify_round
from kakurenbo.core import json_bytes, read_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import retold
from kakurenbo.core.sources import FOLDER_FILE_LIMIT
from kakurenbo.judge.scoring import steps
from kakurenbo.judge.scoring.child import OUT, SUBMITTED
from kakurenbo.proofs import content_digest
from kakurenbo.verification import strict
from kakurenbo.verification.account import check_results, in_order
from kakurenbo.verification.archive import (
    EARNED,
    LOG,
    SUBMISSIONS,
    Archive,
    EarnedRow,
    JudgingRow,
    RoundRow,
    SubmissionRow,
)
from kakurenbo.verification.differences import Comparison, Difference
from kakurenbo.verification.ledger import Ledger, Sealed, moment

COMPUTED = "verification.not_as_computed"
_JUDGED = frozenset({"scored", "invalid", "failed"})
_WORDS = frozenset({"en", "ja", "cause"})
"""What another version of the software may say in other words about the same files; and lists of sentences."""
Told = Callable[[str], None]
Credits = list[dict[str, Any]]


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
        What was handed in, as the log says.
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
        self._archive, self.facts, self._rows, self._ledger, self._tell = (
            archive,
            facts,
            rows,
            ledger,
            tell,
        )
        self.unranked = tuple(
            sorted(entry.team for entry in facts.entries if entry.team in unranked)
        )
        self._request = {"rulebook": {**described, "round": facts.name}}
        self._fingerprint, self._given_rules = (
            steps.fingerprint(self._request),
            steps.rules_for(self._request),
        )
        self._folder = f"rounds/{facts.name}"
        self._teams = {row.id: str(ledger.submissions[row.id].told["team"]) for row in rows}
        self._numbers = {row.id: int(ledger.submissions[row.id].told["number"]) for row in rows}
        self._sealed = {name: one for (of, name), one in ledger.sealed.items() if of == facts.name}
        self._later: set[str] = set()
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
        return len(self._fingerprints())

    @property
    def judged_by_others(self) -> int:
        """Of these, judged by other software than this: of them, words were not compared."""
        return sum(fingerprint != self._fingerprint for fingerprint in self._fingerprints())

    @property
    def _preparation(self) -> Path:
        return self._archive.root / self._folder / "preparation"

    @property
    def _phase(self) -> Path:
        return self._archive.root / self._folder / "phase"

    # -- data --------------------------------------------------------------------------------------------------------

    def check_data(self, *, again: bool) -> None:
        """The data of the round, and its seed, are those that were committed to before the first phase."""
        logged = self._ledger.rounds[self.facts.name]
        place = f"{self._folder}/preparation"
        if (found := self._archive.sha256(f"{place}/public/{COMMITMENTS_FILE}")) != logged[
            "commitments"
        ]:
            should_be = logged["commitments"]
            raise Difference(
                "verification.not_as_logged",
                f"{place}/public/{COMMITMENTS_FILE}",
                "",
                found,
                should_be,
            )
        try:
            findings = verify_round(self._given_rules, self._preparation, again=again)
        except UsageError as error:  # a file that nobody can read any more
            raise Difference("verification.not_kept", f"{place}/", "", str(error)) from None
        for finding in findings:
            if finding.state != KEPT:
                why = f" ({retold(finding.why)})" if finding.why else ""
                raise Difference(
                    "verification.not_kept",
                    f"{place}/{finding.name}",
                    "",
                    f"{retold(finding.state)}{why}",
                )
            self._tell("commitments")
        opening = f"secret/{OPENING_FILE}"
        files = self._archive.below(place)
        told = strict.parsed(read_file(files[opening]), f"{place}/{opening}")
        strict.check_keys(told, dict.fromkeys(("scope", "seed")), f"{place}/{opening}")
        if len(files) != logged["files"]:
            raise Difference(
                "verification.not_as_logged", place, "files", len(files), logged["files"]
            )
        self._archive.account(*(f"{place}/{name}" for name in files))
        self._prepared: PreparedRound[Any] = PreparedRound(self._given_rules, self._preparation)

    # -- releases ----------------------------------------------------------------------------------------------------

    def check_releases(self) -> None:
        """Every release that was handed in is measured again, and what counts published again."""
        counted = self._counting()
        judged: dict[str, ReleaseOutcome] = {}
        for row, told in self._judged(ANONYMIZE):
            submitted = self._archive.root / row.folder
            one = steps.judged_release(
                self._prepared, submitted, self._teams[row.id], self._numbers[row.id]
            )
            self._compare_judging(row, steps.release_result(one), ("record", "problems", "total"))
            self._tell("releases")
            if row.id in counted.get(told, ()):
                judged[row.id] = one
        check_results(f"{self._folder}/{SUBMISSIONS}", self._rows, self._ledger)
        files = self._published(counted, judged)
        self._compare_phase(files)

    def _counting(self) -> dict[str, list[str]]:
        """The releases of each team that count, by their ids."""
        rules = self._prepared.rules
        counted = {}
        for entry in self.facts.entries:
            judged = {row.id: self._counted_judging(row) for row in self._of(ANONYMIZE, entry.team)}
            own = [
                JudgedSubmission(
                    row.id, self._numbers[row.id], row.chosen_at, judging.result.get("record", {})
                )
                for row in sorted(
                    self._of(ANONYMIZE, entry.team), key=lambda row: self._numbers[row.id]
                )
                if (judging := judged[row.id]) is not None and judging.verdict == steps.SCORED
            ]
            counted[entry.team] = [
                key
                for key, _ in scored_submissions(rules.phase(ANONYMIZE), own, rules.utility_score)
            ]
        return counted

    def _counted_judging(self, row: SubmissionRow) -> JudgingRow | None:
        """The judging of a release by which it was sealed or passed over; the one in effect where nothing was sealed yet."""
        sealed = [
            one.number for name, one in self._sealed.items() if team_of(name) == self._teams[row.id]
        ]
        logged = self._ledger.submissions[row.id].judged
        known = [
            one
            for one, told in zip(in_order(row.judgings), logged, strict=True)
            if not sealed or told.number < sealed[0]
        ]
        return known[-1] if known else None

    def _published(
        self, counted: Mapping[str, Sequence[str]], judged: Mapping[str, ReleaseOutcome]
    ) -> dict[str, bytes]:
        """The releases and answers of the phase folder; what became of everybody goes to ``records``."""
        files: dict[str, bytes] = {}
        closed = self.facts.phase_state(ANONYMIZE) == "closed"
        for entry in self.facts.entries:
            own = [judged[key] for key in counted[entry.team]]
            self._later |= {
                judged[key].record.target
                for key in counted[entry.team]
                if self._rejudged(key, entry.team)
            }
            sealed = {
                name: one for name, one in self._sealed.items() if team_of(name) == entry.team
            }
            reason = next((one.reason for one in sealed.values() if one.passed_over), "")
            if reason:
                own = [ReleaseOutcome(_bare(entry.team, DISQUALIFIED, reason))]
            elif not own and sealed:
                own = judge_team(self._prepared, entry.team, [])
            if sealed:
                own.sort(key=lambda one: one.record.target)
                files |= self._check_sealed(entry.team, sealed, own)
                own = [self._settled(one, sealed) for one in own]
            elif closed:
                own = [ReleaseOutcome(_bare(entry.team, MISSING, entry.excused))]
            self.records += [_plain(one.record) for one in own]
        return files

    def _check_sealed(
        self, team: str, sealed: Mapping[str, Sealed], own: Sequence[ReleaseOutcome]
    ) -> dict[str, bytes]:
        """The files of a team's releases, which are those of which the log has the digests."""
        comparison = Comparison(COMPUTED, LOG)
        files: dict[str, bytes] = {}
        comparison.check(
            sorted(sealed), [one.record.target for one in own], f"targets of team {team}"
        )
        for one in own:
            name = one.record.target
            later = name in self._later
            made = self._files_of(name) if later else one.files
            digests = {part: _digest(made, f"{part}s/{name}/") for part in ("target", "answer")}
            should_be = {**({} if later else {"state": one.record.state}), "digests": digests}
            comparison.check(
                {key: sealed[name].told[key] for key in should_be}, should_be, f"target {name}"
            )
            files |= made
        return files

    def _rejudged(self, submission: str, team: str) -> bool:
        """Whether a release that counts was judged once more after it was sealed."""
        sealed = [one.number for name, one in self._sealed.items() if team_of(name) == team]
        return bool(sealed) and self._ledger.submissions[submission].judged[-1].number > max(sealed)

    def _files_of(self, name: str) -> dict[str, bytes]:
        """What was published of a release that was judged again: what is out there stays, whatever would be made of it now."""
        below = self._archive.below(f"{self._folder}/phase")
        own = {
            place: path
            for place, path in below.items()
            if place.startswith((f"targets/{name}/", f"answers/{name}/"))
        }
        return {place: read_file(path, FOLDER_FILE_LIMIT) for place, path in own.items()}

    def _settled(self, one: ReleaseOutcome, sealed: Mapping[str, Sealed]) -> ReleaseOutcome:
        name = one.record.target
        if name not in self._later:
            return one
        record = steps.settled(msgspec.to_builtins(one.record), sealed[name].told["state"])
        return ReleaseOutcome(msgspec.convert(record, ReleaseRecord))

    def _compare_phase(self, files: dict[str, bytes]) -> None:
        """The phase folder, file by file."""
        should_be = dict(files)
        attackers = self._preparation / "attackers"
        should_be |= {
            f"attackers/{path.relative_to(attackers).as_posix()}": read_file(
                path, FOLDER_FILE_LIMIT
            )
            for path in sorted(attackers.rglob("*"))
            if path.is_file()
        }
        if self.began:
            records = [msgspec.convert(one, ReleaseRecord) for one in self.records]
            records.sort(key=lambda one: by_number(one.target))
            facts = replace(self._prepared.phase_facts, unranked=self.unranked)
            should_be[f"public/{CONTEST_FILE}"] = facts.as_bytes()
            should_be[f"public/{RELEASES_FILE}"] = json_bytes(
                msgspec.to_builtins([one.public() for one in records])
            )
            should_be[f"answers/{RELEASES_FILE}"] = json_bytes(msgspec.to_builtins(records))
        place = f"{self._folder}/phase"
        here = self._archive.below(place)
        for name, made in should_be.items():
            if name not in here:
                raise Difference("verification.lacks_file", f"{place}/{name}")
            content = read_file(here[name], FOLDER_FILE_LIMIT)
            if content != made:
                self._name_difference(f"{place}/{name}", content, made)
            self._archive.account(f"{place}/{name}")
            self._tell("published")

    def _name_difference(self, place: str, here: bytes, made: bytes) -> None:
        """Name what differs: a figure where it is JSON, else its bytes; nothing where another version words it otherwise."""
        try:
            parsed = strict.parsed(here, place), json.loads(made)
            if json_bytes(parsed[1]) == made:
                strict.check_written(parsed[0], here, place)
        except ValueError:
            raise Difference(COMPUTED, place, "sha256", digest(here), digest(made)) from None
        words = not self.judged_by_others
        Comparison(COMPUTED, place).check(*(parsed if words else map(_without_words, parsed)))
        if words:
            raise Difference(COMPUTED, place, "sha256", digest(here), digest(made))

    # -- guesses -----------------------------------------------------------------------------------------------------

    def check_guesses(self) -> None:
        """Every guess is credited again, and the organizers' attacks are played again."""
        sealed = self._sealed
        published = [name for name, one in sealed.items() if one.told["state"] == PUBLISHED]
        targets = cache(
            lambda names: PublishedTargets.in_phase(self._given_rules, self._phase, names)
        )
        earned: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row, team in self._judged(ATTACK):
            logged = self._ledger.submissions[row.id].judged[-1].number
            there = tuple(sorted(name for name in published if sealed[name].number < logged))
            found = steps.guesses_result(targets(there), self._archive.root / row.folder, team)
            at = [{"target": one["target"], "file": one["file"]} for one in found["earned"]]
            self._compare_judging(row, {**found, "targets": at}, ("targets", "refused", "notices"))
            for one in found["earned"]:
                earned[row.id, team, one["target"], one["file"]] = _plain(one["credit"])
            self._tell("guesses")
        for target in sorted(published):
            for attack, credit in self._sampled(target):
                earned[None, attack, target, ""] = credit
                self._tell("samples")
        self._compare_earned(
            self._archive.read(f"{self._folder}/{EARNED}", list[EarnedRow]), earned
        )
        self._keep_credits(earned)
        self._compare_guesses()

    def _sampled(self, target: str) -> Iterator[tuple[str, dict[str, Any]]]:
        with tempfile.TemporaryDirectory(prefix="kakurenbo-") as name:
            folder = Path(name)
            (folder / "phase").symlink_to(self._phase.resolve(), target_is_directory=True)
            played = steps.sample(folder, {**self._request, "target": target})
            (folder / OUT).mkdir(exist_ok=True)
            (folder / OUT).rename(folder / SUBMITTED)
            credited = steps.credit(
                folder, {**self._request, "target": target, "attacks": played["attacks"]}
            )
        for attack, credit in credited["earned"].items():
            yield attack, _plain(credit)

    def _compare_earned(
        self, rows: Sequence[EarnedRow], earned: Mapping[tuple[Any, ...], Any]
    ) -> None:
        file = f"{self._folder}/{EARNED}"
        here = {(row.submission, row.attacker, row.target, row.file): row.credit for row in rows}
        if len(here) != len(rows):
            raise Difference("verification.twice", file)
        comparison = Comparison(COMPUTED, file)
        for key in [*earned, *(key for key in here if key not in earned)]:
            submission, attacker, target, guess = key
            what = f"{attacker} on {target}" + (
                f", submission {submission}, {guess}" if submission else ""
            )
            comparison.check(here.get(key, "–"), earned.get(key, "–"), what)

    def _keep_credits(self, earned: Mapping[tuple[Any, ...], Any]) -> None:
        order = {row.id: _order(row) for row in self._rows}
        for key in sorted(
            (key for key in earned if key[0] is not None), key=lambda key: order[key[0]]
        ):
            self.credits.append({"attacker": key[1], "target": key[2], "credit": earned[key]})
        for key in sorted((key for key in earned if key[0] is None), key=lambda key: key[1]):
            self.samples.append({"attacker": key[1], "target": key[2], "credit": earned[key]})

    def _compare_guesses(self) -> None:
        """The folder that ``score`` takes: the hand-ins of each attacker that were scored, in the order they come to count."""
        place = f"{self._folder}/guesses"
        should_be: dict[str, str] = {}
        for entry in self.facts.entries if self.began else ():
            scored = [row for row in self._of(ATTACK, entry.team) if row.state == steps.SCORED]
            for number, row in enumerate(sorted(scored, key=_order), start=1):
                should_be |= {
                    f"{entry.team}/{number:04d}/{file.name}": file.sha256 for file in row.files
                }
        for name, sha256 in should_be.items():
            if (found := self._archive.sha256(f"{place}/{name}")) != sha256:
                raise Difference("verification.other_bytes", f"{place}/{name}", "", found, sha256)

    # -- what both need --------------------------------------------------------------------------------------------------

    def _of(self, kind: str, team: str = "") -> list[SubmissionRow]:
        logged = self._ledger.submissions
        rows = [row for row in self._rows if logged[row.id].told["phase"] == kind]
        return [row for row in rows if not team or self._teams[row.id] == team]

    def _judged(self, kind: str) -> Iterator[tuple[SubmissionRow, str]]:
        for row in self._of(kind):
            if row.state in _JUDGED:
                yield row, self._teams[row.id]

    def _compare_judging(
        self, row: SubmissionRow, found: Mapping[str, Any], names: Sequence[str]
    ) -> None:
        judging = row.judging
        if judging is None:
            raise Difference(
                "verification.no_judging", f"{self._folder}/{SUBMISSIONS}", f"submission {row.id}"
            )
        should_be: Any = _plain(
            {"verdict": found["verdict"], "result": {name: found[name] for name in names}}
        )
        here: Any = {"verdict": judging.verdict, "result": judging.result}
        if judging.fingerprint != self._fingerprint:
            here, should_be = _without_words(here), _without_words(should_be)
        Comparison(COMPUTED, f"{self._folder}/{SUBMISSIONS}").check(
            here, should_be, f"submission {row.id}"
        )

    def _fingerprints(self) -> list[str]:
        return [row.judging.fingerprint for row in self._rows if row.judging is not None]


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
    return json.loads(msgspec.json.encode(content).replace(*steps.UNSTORABLE))


def _without_words(content: object) -> Any:
    if isinstance(content, dict):
        return {key: _without_words(value) for key, value in content.items() if key not in _WORDS}
    if isinstance(content, list):
        return [_without_words(value) for value in content if not isinstance(value, str)]
    return content
