"""At most ten attacks per attacker and table (rule 13c of darc2019), however they are submitted."""

from __future__ import annotations

from pathlib import Path

from tests.calling import call, run

LIMIT = 10


def test_the_eleventh_attack_on_a_table_is_refused_in_a_folder_of_its_own_too(
    tmp_path: Path,
) -> None:
    contest, submissions, phase = tmp_path / "contest", tmp_path / "submissions", tmp_path / "phase"
    assert (
        run(
            "prepare", "darc2019", "-o", contest, "--teams", "2", "--scale", "small", "--seed", "1"
        )[0]
        == 0
    )
    for team in ("01", "02"):
        release = submissions / team / f"A_{team}.csv"
        release.parent.mkdir(parents=True)
        assert (
            run(
                "anonymize",
                "darc2019",
                "monthly_pseudonyms",
                contest / "teams" / team,
                release,
                "--seed",
                "1",
            )[0]
            == 0
        )
    assert run("publish", "darc2019", contest, submissions, "-o", phase)[0] == 0
    target = next((phase / "targets").glob("02*"))
    weak, strong = tmp_path / "weak.csv", tmp_path / "strong.csv"
    assert run("attack", "darc2019", "blind_shop", target, "-o", weak, "--seed", "1")[0] == 0
    assert run("attack", "darc2019", "tfidf", target, "-o", strong, "--seed", "1")[0] == 0
    for number in range(1, LIMIT + 2):
        folder = tmp_path / "guesses" / "01" / str(number)
        folder.mkdir(parents=True)
        guess = weak if number <= LIMIT else strong
        (folder / f"guess_{target.name}_01.csv").write_bytes(guess.read_bytes())
    scored = call("score", "darc2019", phase, tmp_path / "guesses", "-o", tmp_path / "results.json")
    assert scored.code == 1
    (refused,) = (entry for entry in scored.json["refused"] if entry["team"] == "01")
    assert "/11/" in refused["file"]
    earned = scored.json["credits"][target.name]["01"]["hits"]
    assert earned < scored.json["credits"][target.name]["01"]["of"] / 2
