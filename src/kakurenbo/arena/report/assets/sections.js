"use strict";
// The parts of the page, each a function that gives an element.

function cards() {
  const attacks = results.rounds.reduce((sum, one) => sum + Object.values(one.accuracy).reduce((inner, row) => inner + Object.keys(row).length, 0), 0);
  const card = (value, text) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, text));
  const winner = (ranking) => (results.standings[ranking] ?? []).filter((line) => line.rank === 1 && line.score !== null).map((line) => nameOf(line.team));
  const shown = (listed) => listed.length > 1 ? `${listed[0]} +${listed.length - 1}` : listed[0];
  const judged = releases().filter((team) => verdict(team));
  return el("div", { class: "cards" },
    card(String(results.players.length), t("n_teams")),
    card(String(attacks), t("n_attacks")),
    results.manifest.plan.repeats > 1 ? card(String(results.manifest.plan.repeats), t("repeats")) : null,
    judged.length ? card(`${judged.filter((team) => verdict(team).good).length} / ${judged.length}`, t("passing")) : null,
    ["anonymization", "attack", "overall"].map((ranking) => winner(ranking).length ? card(shown(winner(ranking)), t("winner_" + ranking)) : null),
    round().chance ? card(percent(round().chance.mean), t("blind")) : null);
}

function standings() {
  const score = (line) => line.score === null ? "–" : (line.shown ?? short(line.score)) + (line.interval ? ` ±${Number((line.interval[1] - line.score).toPrecision(2))}` : "");
  const common = (role) => [
    { title: t("rank"), number: true, value: (line) => line.rank ?? null },
    { title: t("team"), value: (line) => line.team, show: (line) => teamCell(line.team, methodOf(line.team, role), line.note) },
    { title: t("score"), number: true, value: (line) => line.score, show: score },
  ];
  const extra = {
    anonymization: [
      {
        title: t("best_attack"), number: true, value: (line) => (bestAttack(line.team) ? round().accuracy[line.team][bestAttack(line.team)].mean : null),
        show: (line) => bestAttack(line.team) ? `${percent(round().accuracy[line.team][bestAttack(line.team)].mean)} (${bestAttack(line.team)})` : "–",
      },
      sampleColumn((line) => sampleOf(line.team)?.mean),
    ],
    attack: [
      { title: t("mean_accuracy"), number: true, value: (line) => meanOf(line.team, line.team), show: (line) => percent(meanOf(line.team, line.team)) },
      sampleColumn((line) => meanSample(line.team)),
      ...(round().chance ? [{ title: t("chance"), number: true, value: () => round().chance.mean, show: () => percent(round().chance.mean) }] : []),
    ],
    overall: [],
  };
  const panels = ["anonymization", "attack", "overall"].filter((name) => results.standings[name]?.length).map((name) => {
    const role = name === "attack" ? "attack" : "anonymization";
    return el("div", { class: "panel" }, el("h3", {}, t(name)),
      sortableTable([...common(role), ...extra[name]], results.standings[name], { id: `standings-${name}` }));
  });
  return el("section", { id: "standings" }, el("h2", {}, t("standings")), el("div", { class: "three" }, panels));
}
const sampleColumn = (value) => ({ title: t("sample"), number: true, value: (line) => value(line) ?? null, show: (line) => percent(value(line)) });
const teamCell = (team, method, note) => el("div", { class: "team" },
  el("span", {}, players[team] ? el("a", { href: `#team-${team}` }, team) : "", ` ${nameOf(team)} `, note ? el("span", { class: "mark neutral" }, word(note)) : null), method ? el("div", { class: "dim mono method", title: method }, method) : null);

/** Mean accuracy of an attacker over all releases but those of `without`. */
function meanOf(attacker, without) {
  const found = targets().filter((target) => target !== without && round().accuracy[target][attacker]).map((target) => round().accuracy[target][attacker].mean);
  return found.length ? found.reduce((sum, value) => sum + value, 0) / found.length : null;
}

/** The same for the organizers' best attack on each release. */
function meanSample(without) {
  const found = targets().filter((target) => target !== without && sampleOf(target)).map((target) => sampleOf(target).mean);
  return found.length ? found.reduce((sum, value) => sum + value, 0) / found.length : null;
}

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
  const { accuracy, chance } = round();
  const chart = el("div", { class: "chart", id: "heatmap-chart", role: "img", "aria-label": t("heatmap") });
  const columns = [
    { title: t("attacker"), value: (team) => team, show: (team) => teamCell(team, methodOf(team, "attack")) },
    ...targets().map((target) => ({ title: target, number: true, value: (team) => accuracy[target][team]?.mean ?? null, show: (team) => percent(accuracy[target][team]?.mean) })),
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
  const available = measures();
  if (!available.length) return [null, () => {}];
  const measure = available.includes(state.measure) ? state.measure : firstMeasure();
  const chart = el("div", { class: "chart", id: "scatter-chart", role: "img", "aria-label": t("frontier") });
  const select = (key, current, options) => el("select", { "data-choice": key, onchange: (event) => choose(key, event.target.value) },
    options.map(([value, text]) => el("option", { value, selected: value === current }, text)));
  const section = el("section", { id: "frontier" }, el("h2", {}, t("frontier")),
    el("p", { class: "hint" }, t("scatter_hint", { better: t(directionOf(measure) ? "right" : "left") })),
    el("div", { class: "panel" },
      el("div", { class: "chart-bar" },
        el("label", {}, t("utility_axis"), select("measure", measure, available.map((name) => [name, name]))),
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
  const release = round().releases[player.team];
  const judged = verdict(player.team);
  const places = ["anonymization", "attack", "overall"].flatMap((ranking) => {
    const line = (results.standings[ranking] ?? []).find((one) => one.team === player.team);
    return line?.rank ? [`${t(ranking)} ${line.rank}`] : [];
  });
  return el("details", { id: `team-${player.team}` },
    el("summary", {}, el("b", {}, `${player.team} ${player.name}`), judged ? mark(judged.key, judged.good) : null, el("span", { class: "dim" }, places.join(" · "))),
    el("div", { class: "inside" },
      methodOf(player.team) ? el("p", {}, `${t("anonymization")}: `, el("span", { class: "mono" }, methodOf(player.team))) : null,
      methodOf(player.team, "attack") ? el("p", {}, `${t("attack")}: `, el("span", { class: "mono" }, methodOf(player.team, "attack"))) : null,
      release ? releaseDetails(release) : null,
      el("div", { class: "split" }, attackedBy(player.team), attacksOn(player.team))));
}

function releaseDetails(release) {
  const parts = [];
  if (release.cause) parts.push(el("p", {}, mark(release.state, false), " ", release.cause));
  for (const problem of release.problems ?? []) parts.push(el("p", { class: "dim" }, `${problem.file}${problem.row ? ":" + problem.row : ""}: ${problem.message}; ${problem.fix}`));
  for (const notice of release.notices ?? []) parts.push(el("p", { class: "dim" }, `${t("notices")}: ${notice}`));
  if (!release.utility) return parts;
  const { scores, thresholds, limits, parts: pieces } = release.utility;
  const bound = (name) => thresholds[name] ? Object.entries(thresholds[name])[0] : null;
  const holds = (name) => { const [kind, limit] = bound(name); return kind === "minimum" ? Number(scores[name]) >= limit : Number(scores[name]) <= limit; };
  const interval = (name) => { const found = release.measures[name]; return found && "low" in found ? `${short(found.low)}–${short(found.high)}` : ""; };
  const repeated = Object.keys(scores).some(interval);
  const columns = [
    { title: t("measure"), value: (name) => name },
    { title: t("value"), number: true, value: (name) => release.measures[name]?.mean ?? scores[name], show: (name) => short(release.measures[name]?.mean ?? scores[name]) },
    ...(repeated ? [{ title: t("interval"), number: true, value: (name) => release.measures[name]?.low, show: interval }] : []),
    { title: t("threshold"), value: (name) => bound(name)?.[1] ?? null, show: (name) => bound(name) ? el("span", {}, `${bound(name)[0] === "minimum" ? "≥" : "≤"} ${short(bound(name)[1])} `, mark(holds(name) ? "passes" : "disqualified", holds(name))) : "" },
    {
      title: t("limits"), value: (name) => shownValue(limits[name] ?? ""),
      show: (name) => el("span", {}, shownValue(limits[name] ?? ""), pieces[name] ? el("details", {}, el("summary", { class: "dim" }, t("parts")),
        el("div", { class: "inside mono" }, Object.entries(pieces[name]).map(([part, value]) => el("div", {}, `${part}: ${short(value)}`)))) : null),
    },
  ];
  parts.push(el("h3", {}, t("measures")), sortableTable(columns, Object.keys(scores)));
  if (Object.keys(release.claims ?? {}).length) parts.push(el("p", {}, `${t("claims")}: ${shownValue(release.claims)}`));
  return parts;
}

function accuracyTable(title, rows) {
  if (!rows.length) return null;
  const { chance } = round();
  const columns = [
    { title: t("team"), value: (row) => row.team, show: (row) => teamCell(row.team, "") },
    { title: t("accuracy"), number: true, value: (row) => row.cell.mean, show: (row) => el("span", {}, rail(row.cell.mean, chance), `${percent(row.cell.mean)}${spread(row.cell)}`) },
    { title: t("hits"), number: true, value: (row) => row.cell.hits, show: (row) => `${short(row.cell.hits)} ${t("of")} ${row.cell.of}` },
    { title: t("chance"), number: true, value: () => chance?.mean ?? null, show: () => percent(chance?.mean) },
    { title: t("sample"), number: true, value: (row) => row.sample?.mean ?? null, show: (row) => percent(row.sample?.mean) },
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
function attackedBy(team) {
  const row = round().accuracy[team] ?? {};
  const rows = attackers().filter((attacker) => row[attacker]).map((attacker) => ({ team: attacker, cell: row[attacker], sample: sampleOf(team) }));
  return accuracyTable(t("attacked_by"), rows.sort((a, b) => b.cell.mean - a.cell.mean));
}
function attacksOn(team) {
  const rows = targets().filter((target) => round().accuracy[target][team])
    .map((target) => ({ team: target, cell: round().accuracy[target][team], sample: sampleOf(target) }));
  return accuracyTable(t("attacks_on"), rows.sort((a, b) => b.cell.mean - a.cell.mean));
}

function problemsSection() {
  const columns = ["job", "state", "cause"].map((key) => ({ title: t(key), value: (failure) => failure[key], show: key === "state" ? (failure) => mark(failure.state, false) : null }));
  return el("section", { id: "problems" }, el("h2", {}, t("problems")), el("div", { class: "panel" },
    results.failures.length ? sortableTable(columns, results.failures) : el("p", { class: "dim" }, t("none_failed"))));
}

function manifestSection() {
  const { plan, versions, code, commitments, seeds, jobs } = results.manifest;
  const seconds = (times.jobs ?? []).reduce((sum, job) => sum + job.seconds, 0);
  const pairs = (entries) => sortableTable([{ title: t("what"), value: (pair) => pair[0] }, { title: t("value"), mono: true, value: (pair) => shownValue(pair[1]) }], entries);
  const fold = (title, content) => el("details", {}, el("summary", {}, title), el("div", { class: "inside" }, content));
  return el("section", { id: "manifest" }, el("h2", {}, t("manifest")), el("div", { class: "panel" },
    pairs([
      [t("seed"), plan.seed], ...Object.entries(seeds).slice(1).map(([repeat, seed]) => [`${t("seed")} ${Number(repeat) + 1}`, seed]),
      [t("options"), shownValue(plan.rulebook.parameters) || "–"], [t("seconds"), Number(seconds.toFixed(1))],
      ...Object.entries(versions),
    ]),
    fold(t("players"), sortableTable([{ title: t("team"), value: (player) => player.team }, { title: t("what"), value: (player) => player.name },
      { title: t("anonymization"), mono: true, value: (player) => methodOf(player.team) }, { title: t("attack"), mono: true, value: (player) => methodOf(player.team, "attack") }], results.players)),
    fold(t("preparation"), results.rounds.map((one) => pairs(Object.entries(one.report)))),
    fold(t("code"), sortableTable([{ title: t("what"), value: (entry) => entry[0] }, { title: t("package"), value: (entry) => entry[1].package }, { title: "SHA-256", mono: true, value: (entry) => entry[1].sha256 }], Object.entries(code))),
    fold(`${t("commitments")} — ${t("scheme")}`, Object.entries(commitments).map(([name, entries]) => [el("h3", {}, name), pairs(Object.entries(entries))])),
    fold(t("jobs"), pairs(Object.entries(jobs)))));
}
