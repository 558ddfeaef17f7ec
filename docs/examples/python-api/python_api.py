"""The page on Python in code: a data frame is anonymized and audited, and a contest is played."""

# [start:frame]
import polars as pl

import kakurenbo as kb

patients = pl.DataFrame({"age": [31, 42, 53, 64] * 30, "sex": ["F", "M"] * 60})
release = kb.anonymize(patients, "rr", p=0.8, columns=["age"], seed=1)
print(release.frame.head())  # of the library of the table, here Polars
print(release.claims)  # {} here: epsilon is claimed if every column is randomized
print(release.unchanged)  # ('sex',)

report = kb.audit(patients, release)
print(report.verdict.exit_code)  # as of `kakurenbo audit`
# [end:frame]

# [start:contest]
contest = kb.contest("amic2020", scale="small", vcm=0.0, dta_relationship=0.0)
contest.prepare("contest", teams=2, seed=1)
for team in ("01", "02"):
    file = f"submissions/{team}/pre_anonymizeddata_{team}.csv"
    contest.anonymize(f"contest/teams/{team}", "rrp:p=0.99", file, seed=1)
    print(contest.measure(f"contest/teams/{team}", file).passes)

contest.publish("contest", "submissions", "phase")
contest.attack("phase/targets/01", "nearest", "guesses/02/inference_01_02.index", seed=1)
results = contest.score("phase", "guesses")
print(results.standings["attack"])
# [end:contest]

# [start:tournament]
players = [
    kb.Player("swaps", "swap:share=0.2", "nearest"),
    kb.Player("noise", "rrp:p=0.9", "blind"),
]
tournament = kb.contest("amic2020", scale="small").run(players, seed=1)
print(tournament.to_frame())  # a row per attack
# [end:tournament]
