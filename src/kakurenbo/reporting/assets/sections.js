"use strict";
// The parts of the page, each a function that gives an element.

const RANKINGS = ["anonymization", "attack", "overall"];

function cards() {
  const card = (value, text) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, text));
  const winners = (ranking) => (results.rankings[ranking]?.winners ?? []).map(nameOf);
  const shown = (listed) => listed.length > 1 ? `${listed[0]} +${listed.length - 1}` : listed[0];
  const { passing, judged, chance, constant } = round();
  return el("div", { class: "cards" },
    card(short(results.players.length), t("n_teams")),
    card(short(results.attack_count), t("n_attacks")),
    results.repeat_count > 1 ? card(short(results.repeat_count), t("repeats")) : null,
    judged ? card(`${passing} / ${judged}`, t("passing")) : null,
    RANKINGS.map((ranking) => winners(ranking).length ? card(shown(winners(ranking)), t("winner_" + ranking)) : null),
    chance ? card(percent(chance.mean), t("blind")) : null,
    constant === null ? null : card(percent(constant), t("constant")));
}

function standings() {
  const score = (line) => line.score === null ? "–" : (line.shown || short(line.score)) + plusMinus(line.half);
  const common = (role) => [
    { title: t("rank"), number: true, value: (line) => line.rank ?? null },
    { title: t("team"), value: (line) => line.team, show: (line) => teamCell(line.team, methodOf(line.team, role), line.note) },
    { title: t("score"), number: true, value: (line) => line.score, show: score },
  ];
  const found = (line) => round().attackers[line.team] ?? {};
  const listed = (line, show) => releasesOf(line.team).map(show).join(", ") || "–";
  const extra = {
    anonymization: [
      {
        title: t("best_attack"), number: true, value: (line) => releasesOf(line.team)[0]?.best_accuracy ?? null,
        show: (line) => listed(line, (one) => one.best_attack ? `${percent(one.best_accuracy)} (${one.best_attack})` : "–"),
      },
      { title: t("sample"), number: true, value: (line) => releasesOf(line.team)[0]?.sample_accuracy ?? null, show: (line) => listed(line, (one) => percent(one.sample_accuracy)) },
    ],
    attack: [["mean_accuracy", "accuracy"], ["sample", "sample_accuracy"], ["chance", "chance"]].map(([title, key]) => (
      { title: t(title), number: true, value: (line) => found(line)[key] ?? null, show: (line) => percent(found(line)[key]) })),
    overall: [],
  };
  const panels = RANKINGS.filter((name) => lines(name).length).map((name) => {
    const role = name === "attack" ? "attack" : "anonymization";
    return el("div", { class: "panel" }, el("h3", {}, t(name)),
      sortableTable([...common(role), ...extra[name]], lines(name), { id: `standings-${name}` }));
  });
  const awards = Object.entries(results.awards).filter(([, teams]) => teams.length);
  return el("section", { id: "standings" }, el("h2", {}, t("standings")), el("div", { class: "three" }, panels),
    awards.length ? el("p", { id: "awards" }, `${t("awards")}: `, awards.map(([name, teams]) => `${word(name)}: ${teams.map(label).join(", ")}`).join("; ")) : null);
}
const teamCell = (name, method, note) => el("div", { class: "team" },
  el("span", {}, playerOf(name) ? el("a", { href: `#team-${teamOf(name)}` }, name) : "", ` ${nameOf(name)} `, note ? el("span", { class: "mark neutral" }, word(note)) : null), method ? el("div", { class: "dim mono method", title: method }, method) : null);

function segments(key, choices) {
  return el("span", { class: "segments", role: "group" }, choices.map(([value, text]) =>
    el("button", { type: "button", "data-choice": `${key}-${value}`, "aria-pressed": String(state[key] === value), onclick: () => choose(key, value) }, text)));
}

function choose(key, value) {
  state[key] = value;
  if (key === "language" || key === "theme") remember(key, value);
  render();
}

function heatmapSection() {
  const { chance } = round();
  const chart = el("div", { class: "chart", id: "heatmap-chart", role: "img", "aria-label": t("heatmap") });
  const columns = [
    { title: t("attacker"), value: (team) => team, show: (team) => teamCell(team, methodOf(team, "attack")) },
    ...targets().map((target) => ({ title: target, number: true, value: (team) => cellOf(target, team)?.accuracy.mean ?? null, show: (team) => accuracy(cellOf(target, team)) })),
  ];
  const section = el("section", { id: "heatmap" }, el("h2", {}, t("heatmap")),
    el("p", { class: "hint" }, chance ? t("heat_hint", { chance: percent(chance.mean) }) : t("heat_hint_plain")),
    el("div", { class: "panel" },
      el("div", { class: "chart-bar" }, el("label", {}, t("order"), segments("order", [["number", t("order_number")], ["rank", t("order_rank")]]))),
      chart,
      el("details", {}, el("summary", {}, t("as_table")), el("div", { class: "inside" }, sortableTable(columns, attackers(), { id: "matrix" })))));
  return [section, () => heatmap(chart)];
}

function frontierSection() {
  const available = round().measures;
  if (!available.length) return [null, () => {}];
  const named = (name) => available.find((measure) => measure.name === name);
  const measure = named(state.measure) ?? named(round().leading_measure);
  const chart = el("div", { class: "chart", id: "scatter-chart", role: "img", "aria-label": t("frontier") });
  const select = (key, current, options) => el("select", { "data-choice": key, onchange: (event) => choose(key, event.target.value) },
    options.map(([value, text]) => el("option", { value, selected: value === current }, text)));
  const section = el("section", { id: "frontier" }, el("h2", {}, t("frontier")),
    el("p", { class: "hint" }, t("scatter_hint", { better: t(measure.higher_is_better ? "right" : "left") })),
    el("div", { class: "panel" },
      el("div", { class: "chart-bar" },
        el("label", {}, t("utility_axis"), select("measure", measure.name, available.map(({ name }) => [name, name]))),
        el("label", {}, t("privacy_axis"), select("privacy", state.privacy, ["worst", "mean", "sample"].map((name) => [name, t("privacy_" + name)])))),
      chart));
  return [section, () => scatter(chart, measure)];
}

function teamsSection() {
  const all = (open) => () => document.querySelectorAll("#teams details").forEach((element) => { element.open = open; });
  return el("section", { id: "teams" },
    el("div", { class: "bar" }, el("h2", {}, t("teams")),
      el("span", { class: "controls" }, el("button", { type: "button", onclick: all(true) }, t("open_all")), el("button", { type: "button", onclick: all(false) }, t("close_all")))),
    results.players.map(teamDetails));
}

function teamDetails(player) {
  const own = releasesOf(player.team);
  const places = RANKINGS.flatMap((ranking) => {
    const line = lines(ranking).find((one) => one.team === player.team);
    return line?.rank ? [`${t(ranking)} ${line.rank}`] : [];
  });
  const marks = own.map((one) => one.verdict ? mark(one.verdict, one.verdict === "passes") : null);
  return el("details", { id: `team-${player.team}` },
    el("summary", {}, el("b", {}, `${player.team} ${player.name}`), marks, el("span", { class: "dim" }, places.join(" · "))),
    el("div", { class: "inside" },
      methodOf(player.team) ? el("p", {}, `${t("anonymization")}: `, el("span", { class: "mono" }, methodOf(player.team))) : null,
      methodOf(player.team, "attack") ? el("p", {}, `${t("attack")}: `, el("span", { class: "mono" }, methodOf(player.team, "attack"))) : null,
      own.flatMap((one) => [own.length > 1 ? el("h3", {}, one.target) : null, ...releaseDetails(one)]),
      el("div", { class: "split" }, own.map((one) => attackedBy(one.target)), attacksOn(player.team))));
}

function releaseDetails(one) {
  const parts = [];
  if (one.cause) parts.push(el("p", {}, mark(one.state, false), " ", one.cause));
  for (const problem of one.problems) parts.push(el("p", { class: "dim" }, problem));
  for (const notice of one.notices) parts.push(el("p", { class: "dim" }, `${t("notices")}: ${notice}`));
  if (!one.measurements.length) return parts;
  const estimate = (measured) => one.estimates[measured.name];
  const value = (measured) => estimate(measured)?.mean ?? measured.value;
  const bound = (measured) => measured.minimum ?? measured.maximum;
  const interval = (measured) => isNumber(estimate(measured)?.low) ? `${short(estimate(measured).low)}–${short(estimate(measured).high)}` : "";
  const columns = [
    { title: t("measure"), value: (measured) => measured.name },
    { title: t("value"), number: true, value, show: (measured) => short(value(measured)) },
    ...(one.measurements.some(interval) ? [{ title: t("interval"), number: true, value: (measured) => estimate(measured)?.low ?? null, show: interval }] : []),
    {
      title: t("threshold"), value: (measured) => bound(measured) ?? null,
      show: (measured) => measured.passes === null ? "" : el("span", {}, `${measured.minimum === null ? "≤" : "≥"} ${short(bound(measured))} `, mark(measured.passes ? "passes" : "disqualified", measured.passes)),
    },
    {
      title: t("limits"), value: (measured) => shownValue(measured.limit),
      show: (measured) => el("span", {}, shownValue(measured.limit), Object.keys(measured.parts).length ? el("details", {}, el("summary", { class: "dim" }, t("parts")),
        el("div", { class: "inside mono" }, Object.entries(measured.parts).map(([part, figure]) => el("div", {}, `${part}: ${short(figure)}`)))) : null),
    },
  ];
  parts.push(el("h3", {}, t("measures")), sortableTable(columns, one.measurements));
  if (Object.keys(one.claims).length) parts.push(el("p", {}, `${t("claims")}: ${shownValue(one.claims)}`));
  return parts;
}

function accuracyTable(title, rows) {
  if (!rows.length) return null;
  const { chance } = round();
  const details = [...new Set(rows.flatMap((row) => Object.keys(row.cell.details)))];
  const columns = [
    { title: t("team"), value: (row) => row.team, show: (row) => teamCell(row.team, "") },
    { title: t("accuracy"), number: true, value: (row) => row.cell.accuracy.mean, show: (row) => el("span", {}, rail(row.cell.accuracy.mean, chance), accuracy(row.cell)) },
    { title: t("hits"), number: true, value: (row) => row.cell.hits, show: (row) => `${short(row.cell.hits)} ${t("of")} ${short(row.cell.of)}` },
    ...details.map((name) => ({ title: name, number: true, value: (row) => row.cell.details[name] ?? null, show: (row) => short(row.cell.details[name]) })),
    { title: t("chance"), number: true, value: () => chance?.mean ?? null, show: () => percent(chance?.mean) },
    { title: t("sample"), number: true, value: (row) => row.sample, show: (row) => percent(row.sample) },
  ];
  return el("div", {}, el("h3", {}, title), sortableTable(columns, rows));
}
function rail(value, chance) {
  const filled = el("i");
  filled.style.width = `${100 * Math.min(1, value)}%`;
  const parts = [filled];
  if (chance) { const line = el("b"); line.style.left = `${100 * chance.mean}%`; parts.push(line); }
  return el("span", { class: "rail", "aria-hidden": "true" }, parts);
}
const byAccuracy = (a, b) => b.cell.accuracy.mean - a.cell.accuracy.mean;
function attackedBy(target) {
  const rows = attackers().filter((attacker) => cellOf(target, attacker))
    .map((attacker) => ({ team: attacker, cell: cellOf(target, attacker), sample: release(target)?.sample_accuracy ?? null }));
  return accuracyTable(releasesOf(teamOf(target)).length > 1 ? `${t("attacked_by")}: ${target}` : t("attacked_by"), rows.sort(byAccuracy));
}
function attacksOn(team) {
  const rows = targets().filter((target) => cellOf(target, team))
    .map((target) => ({ team: target, cell: cellOf(target, team), sample: release(target)?.sample_accuracy ?? null }));
  return accuracyTable(t("attacks_on"), rows.sort(byAccuracy));
}

function problemsSection() {
  const columns = [["job", "what"], ["file", "file"], ["state", "state"], ["cause", "cause"]].map(([title, key]) => (
    { title: t(title), value: (failure) => failure[key], show: key === "state" ? (failure) => mark(failure.state, false) : null }));
  return el("section", { id: "problems" }, el("h2", {}, t("problems")), el("div", { class: "panel" },
    results.failures.length ? sortableTable(columns, results.failures) : el("p", { class: "dim" }, t("none_failed"))));
}

function manifestSection() {
  const { plan = {}, versions = {}, code = {}, commitments = {}, seeds = {}, jobs = {} } = results.manifest;
  const pairs = (entries) => sortableTable([{ title: t("what"), value: (pair) => pair[0] }, { title: t("value"), mono: true, value: (pair) => shownValue(pair[1]) }], entries);
  const fold = (title, content) => el("details", {}, el("summary", {}, title), el("div", { class: "inside" }, content));
  return el("section", { id: "manifest" }, el("h2", {}, t("manifest")), el("div", { class: "panel" },
    pairs([
      [t("seed"), plan.seed], ...Object.entries(seeds).slice(1).map(([repeat, seed]) => [`${t("seed")} ${Number(repeat) + 1}`, seed]),
      [t("options"), shownValue(plan.rulebook?.parameters ?? {}) || "–"], [t("seconds"), short(seconds)],
      ...Object.entries(versions),
    ]),
    fold(t("players"), sortableTable([{ title: t("team"), value: (player) => player.team }, { title: t("what"), value: (player) => player.name },
      { title: t("anonymization"), mono: true, value: (player) => methodOf(player.team) }, { title: t("attack"), mono: true, value: (player) => methodOf(player.team, "attack") }], results.players)),
    fold(t("preparation"), results.rounds.map((one) => pairs(Object.entries(one.report)))),
    fold(t("code"), sortableTable([{ title: t("what"), value: (entry) => entry[0] }, { title: t("package"), value: (entry) => entry[1].package }, { title: "SHA-256", mono: true, value: (entry) => entry[1].sha256 }], Object.entries(code))),
    fold(`${t("commitments")} — ${t("scheme")}`, Object.entries(commitments).map(([name, entries]) => [el("h3", {}, name), pairs(Object.entries(entries))])),
    fold(t("jobs"), pairs(Object.entries(jobs)))));
}
