"""`Amic2020`: the steps of PWS Cup 2020 in order, each a call into the module that holds its rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kakurenbo.attacks.membership import MembershipGuess, MembershipKnowledge
from kakurenbo.attacks.membership.nearest import Nearest
from kakurenbo.contracts import (
    Anonymizer,
    Credit,
    Files,
    Player,
    Preparation,
    Release,
    RoundResults,
    Rulebook,
    Standings,
    Target,
    Utility,
)
from kakurenbo.datasets.adult import SCHEMA
from kakurenbo.errors import UsageError
from kakurenbo.parameters import parameter
from kakurenbo.rulebooks.amic2020 import files, preparation, scores, utility
from kakurenbo.rulebooks.amic2020.files import Answer, Handout, Submission
from kakurenbo.rulebooks.amic2020.preparation import json_bytes, personal_data
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire, computed_claims, read_questionnaire
from kakurenbo.tables import Layout, Problem, Problems, Source, Table, read_table, table_bytes
from kakurenbo.tables.transitional import plain, taken

DEFAULT_PLAYERS = (
    Player("uniform noise", "rr:p=0.97", "nearest"),
    Player("medium noise", "rrp:p=0.95", "nearest"),
    Player("noisy jobs", "rrp:p=0.8,columns=workclass,education,occupation", "nearest:metric=onehot"),
    Player("rare suppressed", "kanony:k=3,columns=age,education", "nearest"),
    Player("synthetic", "synthetic", "nearest"),
    Player("synthetic, as in 2020", "synthetic:generator=omth17", "nearest:metric=onehot"),
    Player("light noise", "rrp:p=0.99", "likelihood"),
    Player("strong noise", "rrp:p=0.7", "nearest"),
    Player("nearly nothing", "rr:p=0.999", "nearest:metric=onehot"),
    Player("noisy families", "rrp:p=0.8,columns=marital-status,relationship", "nearest"),
    Player("rarer suppressed", "kanony:k=10,columns=age,education", "nearest:metric=onehot"),
    Player("synthetic, half", "synthetic:rows=5000", "blind"),
)


@dataclass(frozen=True)
class Amic2020(Rulebook[Handout, Submission, MembershipKnowledge, Answer, MembershipGuess]):
    """PWS Cup 2020: membership inference against anonymized samples of census records."""

    name: ClassVar[str] = "amic2020"
    title: ClassVar[str] = "PWS Cup 2020, membership inference against samples of census records"
    rounds: ClassVar[tuple[str, ...]] = ("pre", "main")
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "prepare": ("round", "scale", "generator", "data", "edition", "positive"),
        "measure": ("round", "edition", "positive", "test"),
        "standings": ("rounding",),
        "run": ("round", "scale", "generator", "data", "edition", "positive", "rounding"),
    }

    demo_settings: ClassVar[Mapping[str, Any]] = {"data": "embedded", "round": "main"}
    default_players: ClassVar[tuple[Player, ...]] = DEFAULT_PLAYERS

    round: str = parameter("pre", "which round's files and thresholds", choices=("pre", "main", "trial"))
    scale: str = parameter("full", "row counts of the contest, or about a tenth", choices=("full", "small"))
    generator: str = parameter("moments", "how B is generated from A", choices=("moments", "omth17"))
    data: str = parameter("auto", "where A comes from; auto takes imported files", choices=("auto", "embedded", "imported"))
    edition: int = parameter(1, "edition of the rules whose covariance figure decides", low=1, high=2)
    positive: str = parameter("<=50K", "income class of the tree's F-measure", choices=("<=50K", ">50K"))
    rounding: str = parameter("cut", "how shown points lose their decimals", choices=("cut", "round"))
    test: str = parameter("", "file of test rows, where the handout has none beside it")

    # -- the organizer prepares ------------------------------------------------------------------------------------

    def prepare(self, seed: int, teams: Sequence[str]) -> Preparation[Handout]:
        return preparation.prepare(
            seed,
            teams,
            round_=self.round,
            scale=self.scale,
            generator=self.generator,
            data=self.data,
            settings=self.settings(),
        )

    def read_preparation(self, path: Path) -> Preparation[Handout] | Problems:
        facts = _read_facts(path / "public")
        round_ = facts.get("round", self.round)
        if not (path / "secret").is_dir():
            raise UsageError(f"{path}: give the organizer's folder, which prepare wrote with -o; it has a folder 'secret'")
        population = taken(read_table(Source.of(path / "attackers" / files.population_file(round_)), SCHEMA))
        if isinstance(population, Problems):
            return population
        answers, handouts = {}, {}
        for folder in sorted((path / "teams").iterdir()):
            handout = self.read_handout(folder)
            answer = files.read_answer(path / "secret" / files.answer_file(round_, folder.name))
            if isinstance(handout, Problems) or isinstance(answer, Problems):
                return Problems.of(handout, answer)
            handouts[folder.name], answers[folder.name] = handout, answer.rows
        return Preparation(handouts, {}, facts, preparation.Secrets(population, answers))

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def read_handout(self, path: Path) -> Handout | Problems:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        facts = _read_facts(path if path.is_dir() else path.parent)
        sample_path = files.find_file(path, r".*_samplingdata_\d\d\.csv") if path.is_dir() else path
        if isinstance(sample_path, Problems):
            return sample_path
        sample = taken(read_table(Source.of(sample_path), SCHEMA))
        test = self._test_rows(sample_path.parent)
        if isinstance(sample, Problems) or isinstance(test, Problems):
            return Problems.of(sample, test)
        team = str(facts.get("team") or files.team_of(sample_path.name) or "01")
        return Handout(team, sample, test, facts)

    def _test_rows(self, folder: Path) -> Table | Problems | None:
        """The rows for the trees, where they are named or lie beside the sample."""
        beside = [folder / name for name in (files.TEST_FILE, files.TEST_FILE + ".gz")]
        for path in [Path(self.test)] if self.test else beside:
            if self.test or path.exists():
                return files.read_test_rows(Source.of(path))
        return None

    def team_of(self, file_name: str) -> str | None:
        return files.team_of(file_name)

    def anonymize(self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator) -> Release:
        return anonymizer(handout.sample, rng)

    def release_files(self, handout: Handout, release: Release) -> Files:
        round_ = handout.facts.get("round", self.round)
        return {files.release_file(round_, handout.team): table_bytes(release.table)}

    def check_release(
        self, handout: Handout, sources: Sequence[Source], notices: list[Problem] | None = None
    ) -> Submission | Problems:
        forms = [source for source in sources if source.name.endswith(".json")]
        tables = [source for source in sources if source not in forms]
        if len(tables) != 1 or len(forms) > 1:
            names = ", ".join(source.name for source in sources) or "nothing"
            fix = f"give one CSV file such as {files.release_file('pre', handout.team)}, and at most one questionnaire"
            return Problems([plain(f"a release is one file; got {names}", fix, tables[0].name if tables else "release")])
        table = taken(read_table(tables[0], SCHEMA, files.release_layout(len(handout.sample))), notices)
        questionnaire = read_questionnaire(forms[0]) if forms else Questionnaire()
        if isinstance(table, Problems) or isinstance(questionnaire, Problems):
            return Problems.of(table, questionnaire)
        return Submission(table, questionnaire)

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        rules = self.following(handout.facts)
        test, origin = handout.test, ""
        if test is None:
            _, test, origin = personal_data(0, self.data)
        figures = utility.measure(
            handout.sample, submission.table, test, round_=rules.round, edition=rules.edition, positive=rules.positive
        )
        notice = f"no {files.TEST_FILE} beside the sample, so the trees were tested on {origin}; name the file with --test"
        return replace(figures, notices=(notice,)) if origin else figures

    def following(self, facts: Mapping[str, Any]) -> Amic2020:
        """These rules with what the contest's own ``contest.json`` fixes; what was asked for explicitly stays."""
        settings = facts.get("settings", {})
        fixed = {name: settings[name] for name in ("round", "edition", "positive") if name in settings}
        default = type(self)()
        return replace(self, **{name: value for name, value in fixed.items() if getattr(self, name) == getattr(default, name)})

    # -- attackers guess -------------------------------------------------------------------------------------------

    def publish(
        self, preparation: Preparation[Handout], submissions: Mapping[str, Submission], seed: int
    ) -> Mapping[str, Target[MembershipKnowledge, Answer]]:
        secrets = preparation.state
        round_ = preparation.report.get("round", self.round)
        population_bytes = table_bytes(secrets.population)
        targets = {}
        for team, submission in submissions.items():
            form = submission.questionnaire
            told = {"team": team, **form.as_json(), "computed": computed_claims(form, submission.table, secrets.population)}
            rows = secrets.answers[team]
            targets[team] = Target(
                MembershipKnowledge(secrets.population, submission.table, mechanism=form.mechanism(submission.table)),
                Answer(rows, len(secrets.population)),
                {
                    files.population_file(round_): population_bytes,
                    files.release_file(round_, team): table_bytes(submission.table),
                    files.questionnaire_file(team): json_bytes(told),
                },
                {files.answer_file(round_, team): files.rows_bytes(rows)},
            )
        return targets

    def read_knowledge(self, paths: Sequence[Path], declared: Anonymizer | None = None) -> MembershipKnowledge | Problems:
        if len(paths) != 2:
            raise UsageError("amic2020 attacks know two files: B.csv (the population) and D.csv (the release)")
        tables = [taken(read_table(Source.of(path), SCHEMA, Layout(min_rows=1))) for path in paths]
        population, release = tables
        if isinstance(population, Problems) or isinstance(release, Problems):
            return Problems.of(*tables)
        if len(population) < files.GUESSES:
            raise UsageError(f"{paths[0]}: B needs at least {files.GUESSES} rows; it comes first, before the release")
        mechanism = declared.mechanism(release) if declared is not None else None
        return MembershipKnowledge(population, release, mechanism=mechanism)

    def guess_bytes(self, guess: MembershipGuess) -> bytes:
        return files.rows_bytes(guess.rows)

    def guess_files(self, guesses: Mapping[str, MembershipGuess], attacker: str) -> Files:
        return {files.guess_file(target, attacker): self.guess_bytes(guess) for target, guess in guesses.items()}

    def check_guesses(
        self, targets: Mapping[str, Target[MembershipKnowledge, Answer]], sources: Sequence[Source], attacker: str
    ) -> dict[str, MembershipGuess] | Problems:
        guesses: dict[str, MembershipGuess] = {}
        refused = []
        by_name = {files.guess_file(target, attacker): target for target in targets}
        for source in sources:
            target = by_name.get(source.name)
            if target is None:
                known = ", ".join(sorted(by_name)[:3])
                refused.append(Problems([plain("no target has this file name", f"the names are {known} …", source.name)]))
                continue
            guess = files.read_guess(source, targets[target].answer.population)
            if isinstance(guess, Problems):
                refused.append(guess)
            else:
                guesses[target] = guess
        return Problems.of(*refused) if refused else guesses

    # -- the judge counts ------------------------------------------------------------------------------------------

    def read_answer(self, path: Path) -> Answer | Problems:
        return files.read_answer(path)

    def read_guess(self, answer: Answer, source: Source) -> MembershipGuess | Problems:
        return files.read_guess(source, answer.population)

    def credit(self, answer: Answer, guess: MembershipGuess) -> Credit:
        return scores.count_hits(answer, guess.rows)

    def read_results(self, source: Source) -> RoundResults | Problems:
        return scores.read_results(source)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, rounding=self.rounding)

    @property
    def sample_attack(self) -> Nearest:
        return Nearest()


def _read_facts(folder: Path) -> dict[str, Any]:
    """What ``contest.json`` says, where there is one; nothing where it was not written by us."""
    try:
        facts = json.loads((folder / files.CONTEST_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) and facts.get("rulebook") == "amic2020" else {}
