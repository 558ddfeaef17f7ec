"use strict";
// Every team: what became of its releases, who found how much in them, and what it found in others'.

function teamsSection() {
  const all = (open) => () => document.querySelectorAll("#teams > details").forEach((element) => { element.open = open; });
  return el("section", { id: "teams" },
    el("div", { class: "bar" }, el("h2", {}, t("teams")),
      el("span", { class: "controls" }, el("button", { type: "button", onclick: all(true) }, t("open_all")), el("button", { type: "button", onclick: all(false) }, t("close_all")))),
    results.players.map(teamDetails));
}

function teamDetails(player) {
  const own = releasesOf(player.team);
  const places = RANKINGS.flatMap((ranking) => {
    const line = standingLines(ranking).find((one) => one.team === player.team);
    return line?.rank ? [t("place", { ranking: t(ranking), rank: line.rank })] : [];
  });
  const marks = own.flatMap((one) => one.verdict ? [mark(one.verdict, one.verdict === "passes"), one.in_repeats < one.of_repeats && one.verdict !== "passes" ? el("span", { class: "note" }, ` ${t("in_repeats", { count: one.in_repeats, repeats: one.of_repeats })}`) : null] : []);
  const method = (title, text) => text ? el("p", {}, `${title}: `, el("span", { class: "mono" }, breakable(text))) : null;
  return el("details", { id: `team-${player.team}` },
    el("summary", {}, el("b", {}, player.name ? `${player.team} ${player.name}` : player.team), marks, el("span", { class: "dim" }, places.join(" · ")),
      own.map((one) => el("span", { class: "sentence" }, own.length > 1 ? `${one.target}: ` : null, spoken(sentences(one))))),
    el("div", { class: "inside" },
      method(t("anonymization"), methodOf(player.team)), method(t("attack"), methodOf(player.team, "attack")),
      own.flatMap((one) => [own.length > 1 ? el("h3", {}, one.target) : null, ...releaseDetails(one)]),
      el("div", { class: "split" }, own.map((one) => attackedBy(one.target)), attacksOn(player.team))));
}

function releaseDetails(one) {
  const parts = [];
  for (const problem of one.problems) parts.push(el("p", { class: "dim" }, problem));
  for (const notice of one.notices) parts.push(el("p", { class: "dim" }, `${t("notices")}: ${notice}`));
  if (one.measurements.length) parts.push(el("h3", {}, t("measures")), measuresTable(one));
  if (Object.keys(one.claims).length) parts.push(el("p", {}, `${t("claims")}: ${shownValue(one.claims)}`));
  return parts;
}

function measuresTable(one) {
  const estimate = (measured) => one.estimates[measured.name];
  const value = (measured) => estimate(measured)?.mean ?? measured.value;
  const bound = (measured) => measured.minimum ?? measured.maximum;
  const sign = (measured) => measured.minimum === null ? "≤" : "≥";
  const shown = (measured) => {
    const unit = unitOf(measured.name);
    if (isNumber(estimate(measured)?.half)) return estimated(estimate(measured), unit);
    return figure(value(measured), unit, measured.passes === null ? null : decimalsAgainst(value(measured), bound(measured), measured.minimum !== null, unit));
  };
  const columns = [
    {
      title: t("measure"), place: "main", value: (measured) => measured.name,
      show: (measured) => el("div", { class: "team" }, el("b", {}, measured.name), " ", el("span", { class: "note" }, direction(measured.higher_is_better)), definition(measured.name) ? el("div", { class: "note" }, definition(measured.name)) : null),
    },
    { title: t("value"), number: true, place: "figure", value, show: shown },
    {
      title: t("threshold"), value: (measured) => bound(measured) ?? null,
      show: (measured) => measured.passes === null ? "–" : el("span", {}, `${sign(measured)} ${figure(bound(measured), unitOf(measured.name))} `, mark(measured.passes ? "passes" : "disqualified", measured.passes)),
    },
    { title: one.of_repeats > 1 ? t("limits_of_repeat", { number: one.told_repeat + 1 }) : t("limits"), value: (measured) => shownValue(measured.limit), show: limitsCell },
  ];
  return sortableTable(`measures-${one.target}`, columns, one.measurements);
}
function limitsCell(measured) {
  const parts = Object.entries(measured.parts);
  return el("span", {}, shownValue(measured.limit) || "–", parts.length ? el("details", { class: "parts" }, el("summary", { class: "dim" }, t("parts")),
    el("div", { class: "inside mono" }, parts.map(([part, value]) => el("div", {}, `${part}: ${figure(value)}`)))) : null);
}

// -- attacks ------------------------------------------------------------------------------------------------------------

function accuracyTable(name, title, rows) {
  if (!rows.length) return null;
  const { chance } = round();
  const details = [...new Set(rows.flatMap((row) => Object.keys(row.cell.details)))];
  const columns = [
    { title: t("team"), place: "main", value: (row) => row.team, saved: (row) => label(row.team), show: (row) => teamCell(row.team, "") },
    { title: t("accuracy"), number: true, place: "figure", value: (row) => row.cell.accuracy.mean, show: (row) => el("span", { class: "with-rail" }, rail(row.cell.accuracy.mean, chance), accuracy(row.cell)) },
    { title: t("hits"), number: true, value: (row) => row.cell.hits, show: (row) => t("hits_of", { hits: count(row.cell.hits), of: count(row.cell.of) }) },
    ...details.map((detail) => ({ title: word(detail), number: true, value: (row) => row.cell.details[detail] ?? null, hint: definition(detail) || null, show: (row) => figure(row.cell.details[detail] ?? "–", unitOf(detail)) })),
    { title: t("sample"), number: true, value: (row) => row.sample, show: (row) => share(row.sample) },
  ];
  return el("div", {}, el("h3", {}, title), sortableTable(name, columns, rows));
}
function rail(value, chance) {
  const filled = el("i");
  filled.style.width = `${100 * Math.min(1, value)}%`;
  const parts = [filled];
  if (chance) { const line = el("b"); line.style.left = `${100 * chance.mean}%`; parts.push(line); }
  return el("span", { class: "rail", "aria-hidden": "true" }, parts);
}
const byAccuracy = (a, b) => b.cell.accuracy.mean - a.cell.accuracy.mean;
const attackRow = (team, target, attacker) => ({ team, cell: cellOf(target, attacker), sample: release(target)?.sample_accuracy ?? null });
function attackedBy(target) {
  const rows = attackers().filter((attacker) => cellOf(target, attacker)).map((attacker) => attackRow(attacker, target, attacker));
  return accuracyTable(`attacked-${target}`, releasesOf(teamOf(target)).length > 1 ? `${t("attacked_by")}: ${target}` : t("attacked_by"), rows.sort(byAccuracy));
}
function attacksOn(team) {
  const rows = targets().filter((target) => cellOf(target, team)).map((target) => attackRow(target, target, team));
  return accuracyTable(`attacks-${team}`, t("attacks_on"), rows.sort(byAccuracy));
}
