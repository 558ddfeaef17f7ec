"use strict";
// The parts of the page, each a function that gives an element.

const RANKINGS = ["anonymization", "attack", "overall"];

/** The score of a line as a text. */
const scoreText = (ranking, line) => scores[state.language][ranking][standingLines(ranking).indexOf(line)];

/** A score whose interval stands in brackets has it in small letters behind or below it. */
function scoreCell(ranking, line) {
  const [, score, interval] = scoreText(ranking, line).match(/^([^(（]*)([(（].*)?$/);
  const title = interval?.endsWith("×)") ? t("agreed_hint", { count: line.n }) : null;
  return interval ? [score.trimEnd(), " ", el("span", { class: "interval", title }, interval)] : score;
}

function hero() {
  const winners = RANKINGS.flatMap((ranking) => {
    const [first, ...others] = results.rankings[ranking]?.winners ?? [];
    if (!first) return [];
    const line = standingLines(ranking).find((one) => one.team === first);
    return [el("a", { class: "card winner", href: `#standings-${ranking}` }, el("span", {}, t("winner_" + ranking)),
      el("b", {}, others.length ? t("and_others", { name: nameOf(first), count: others.length }) : nameOf(first)), el("em", {}, scoreCell(ranking, line)))];
  });
  return el("div", { class: "hero" }, el("div", { class: "cards" }, winners, facts()), el("div", { class: "verdict" }, sentences(results).map((lesson) => el("p", {}, spoken(lesson)))));
}

function facts() {
  const { passing, judged, chance, constant } = round();
  const fact = (value, text) => el("div", { class: "card fact" }, el("span", {}, text), el("b", {}, value));
  return [
    judged ? fact(t("passing_of", { passing, judged }), t("passing")) : null,
    fact(t("size", { teams: count(results.players.length), attacks: count(results.attack_count) }), results.repeat_count > 1 ? t("repeated", { count: results.repeat_count }) : t("played")),
    chance ? fact(share(chance.mean), t("blind")) : null,
    isNumber(constant) ? fact(share(constant), definition("constant") || t("constant")) : null,
  ];
}

// -- standings ----------------------------------------------------------------------------------------------------------

function standings() {
  const panels = RANKINGS.filter((name) => standingLines(name).length).map((name) => el("div", { class: "panel", id: `standings-${name}` },
    el("h3", {}, t(name)), el("p", { class: "note" }, meaning(name)), sortableTable(`standings-${name}`, [...commonColumns(name), ...extraColumns(name)], standingLines(name), { id: `table-standings-${name}` })));
  const awards = Object.entries(results.awards).filter(([, teams]) => teams.length);
  return el("section", { id: "standings" }, el("h2", {}, t("standings")), el("div", { class: "three" }, panels),
    awards.length ? el("p", { id: "awards" }, el("b", {}, `${t("awards")}: `), awards.map(([name, teams]) => `${word(name)}: ${teams.map(label).join(", ")}`).join("; ")) : null,
    awards.flatMap(([name]) => results.award_notices[name] ? [el("p", { class: "note award-notice" }, `${word(name)}: ${results.award_notices[name][state.language]}`)] : []));
}

/** What a score is: direction, what it is out of, and a sentence. */
function meaning(ranking) {
  const { of, shown_times } = declared(ranking);
  return [direction(!results.rankings[ranking].lower_is_better) + (of === null ? "" : t("out_of", { of: figure(of * shown_times) })), definition(ranking)].filter(Boolean).join(" · ");
}

function commonColumns(ranking) {
  const role = ranking === "attack" ? "attack" : "anonymization";
  const times = declared(ranking).shown_times;
  return [
    { title: t("rank"), number: true, place: "lead", value: (line) => line.rank ?? null },
    { title: t("team"), place: "main", value: (line) => line.team, saved: (line) => label(line.team), show: (line) => teamCell(line.team, methodOf(line.team, role), line.note) },
    { title: t(times > 1 ? "points" : "score"), number: true, place: "figure", value: (line) => isNumber(line.score) ? times * line.score : null, show: (line) => scoreCell(ranking, line) },
    ...(standingLines(ranking).some((line) => tiedWith(line).length) ? [{ title: t("tied"), hint: t("tied_hint"), value: (line) => tiedWith(line).join(", "), show: tiedCell }] : []),
  ];
}

/** The teams with which noise could exchange places. */
const tiedWith = (line) => line.tied_with;
const tiedCell = (line) => tiedWith(line).length ? el("span", { class: "tied", title: tiedWith(line).map(label).join(", ") }, `≈ ${tiedWith(line).length > 4 ? t("and_others", { name: tiedWith(line).slice(0, 3).join(", "), count: tiedWith(line).length - 3 }) : tiedWith(line).join(", ")}`) : null;

function extraColumns(ranking) {
  if (ranking === "anonymization") {
    return [{
      title: t("best_attack"), number: true, value: (line) => releasesOf(line.team)[0]?.best_accuracy ?? null,
      show: (line) => releasesOf(line.team).map((one) => one.best_attack ? t("by", { share: accuracy(cellOf(one.target, one.best_attack)), name: nameOf(one.best_attack) }) : "–").join(", ") || "–",
    }];
  }
  if (ranking === "overall") return [];
  const found = (line) => round().attackers[line.team] ?? {};
  return [["mean_accuracy", "accuracy"], ["sample", "sample_accuracy"]].map(([title, key]) => (
    { title: t(title), number: true, value: (line) => found(line)[key] ?? null, show: (line) => share(found(line)[key]) }));
}

const teamCell = (name, method, note) => el("div", { class: "team" },
  playerOf(name) ? [el("a", { href: `#team-${teamOf(name)}` }, name), " "] : null, el("span", { class: "team-name" }, nameOf(name)), note ? [" ", el("span", { class: "mark neutral" }, word(note))] : null,
  method ? el("div", { class: "dim mono method" }, breakable(method)) : null);

// -- choices ------------------------------------------------------------------------------------------------------------

function segments(key, choices, title) {
  return el("span", { class: "segments", role: "group", "aria-label": title }, choices.map(([value, text, name]) =>
    el("button", { type: "button", title: name, "aria-label": name, "data-choice": `${key}-${value}`, "aria-pressed": String(state[key] === value), onclick: () => choose(key, value) }, text)));
}
const select = (key, current, options, title) => el("label", {}, el("span", {}, title), el("select", { "data-choice": key, onchange: (event) => choose(key, event.target.value) },
  options.map(([value, text]) => el("option", { value, selected: value === current }, text))));

function choose(key, value) {
  state[key] = value;
  if (key === "language" || key === "theme") remember(key, value);
  render();
}

// -- charts -------------------------------------------------------------------------------------------------------------

function heatmapSection() {
  const chart = el("div", { class: "chart", id: "heatmap-chart" });
  const again = () => drawHeatmap(chart);
  const zoom = (factor) => () => { state.zoom = factor === "fit" ? "fit" : Math.min(3, Math.max(1, (state.zoom === "fit" ? 1 : state.zoom) * factor)); again(); };
  const search = el("input", { type: "search", id: "heatmap-search", placeholder: t("search"), "aria-label": t("search"), value: state.search, oninput: (event) => { state.search = event.target.value.trim(); again(); } });
  const columns = [
    { title: t("attacker"), value: (team) => team, saved: label, show: (team) => teamCell(team, methodOf(team, "attack")), place: "main" },
    ...targets().map((target) => ({ title: label(target), number: true, value: (team) => cellOf(target, team)?.accuracy.mean ?? null, show: (team) => accuracy(cellOf(target, team)) })),
  ];
  return [el("section", { id: "heatmap" }, el("h2", {}, t("heatmap")),
    el("p", { class: "hint" }, t("heat_hint"), ` ${heatRamp()}`, repeatCount() > 1 ? ` ${t("heat_repeats", { count: repeatCount() })}` : null, results.only_shown.length ? ` ${t("only_shown", { names: results.only_shown.join(", ") })}` : null),
    el("div", { class: "panel" },
      el("div", { class: "chart-bar" },
        segments("order", ["number", "rank", "method"].map((order) => [order, t("order_" + order)]), t("order")), search,
        el("span", { class: "segments", role: "group", "aria-label": t("zoom") },
          el("button", { type: "button", "data-zoom": "out", title: t("zoom_out"), onclick: zoom(1 / 1.4) }, "−"), el("button", { type: "button", "data-zoom": "fit", onclick: zoom("fit") }, t("zoom_fit")), el("button", { type: "button", "data-zoom": "in", title: t("zoom_in"), onclick: zoom(1.4) }, "+")),
        saveButtons("heatmap", heatPicture)),
      chart,
      el("details", { id: "heatmap-table" }, el("summary", {}, t("as_table")), el("div", { class: "inside wide-table" }, sortableTable("matrix", columns, attackers(), { id: "matrix" }))))), again];
}

const repeatCount = () => round().repeats.length;

function frontierSection() {
  const available = round().measures;
  if (!available.length) return [null, () => {}];
  const measure = chosenMeasure();
  const chart = el("div", { class: "chart", id: "scatter-chart", role: "group", "aria-label": t("frontier") });
  return [el("section", { id: "frontier" }, el("h2", {}, t("frontier")),
    el("p", { class: "hint" }, t("scatter_hint", { better: t(measure.higher_is_better ? "right" : "left") }), repeatCount() > 1 ? ` ${t("scatter_repeats", { count: repeatCount() })}` : null),
    el("div", { class: "panel" },
      el("div", { class: "chart-bar" },
        select("measure", measure.name, available.map(({ name }) => [name, name]), t("utility_axis")),
        select("privacy", chosenPrivacy(), ["worst", "mean", "sample"].map((name) => [name, t("privacy_" + name)]), t("privacy_axis")),
        saveButtons("scatter", scatterPicture)),
      chart, el("p", { class: "note" }, definition(measure.name)))), () => drawScatter(chart)];
}

// -- failures and the record --------------------------------------------------------------------------------------------

function problemsSection() {
  const columns = [["job", "what"], ["file", "file"], ["state", "state"], ["cause", "cause"]].map(([title, key]) => (
    { title: t(title), value: (failure) => failure[key], show: key === "state" ? (failure) => mark(failure.state, false) : null }));
  return el("section", { id: "problems" }, el("h2", {}, t("problems")), el("div", { class: "panel" },
    results.failures.length ? sortableTable("failures", columns, results.failures) : el("p", { class: "dim" }, t("none_failed"))));
}

/** Round and repeat as the manifest names them: "main, repeat 1". */
const repeatName = (name) => name.split(", ").map((part) => /^repeat \d+$/.test(part) ? t("repeat_number", { number: part.slice(7) }) : word(part)).join(t("comma"));

function manifestSection() {
  const { plan = {}, contest = {}, versions = {}, code = {}, commitments = {}, seeds = {}, jobs = {} } = results.manifest;
  const pairs = (name, entries) => sortableTable(name, [{ title: t("what"), value: (pair) => pair[0] }, { title: t("value"), mono: true, value: (pair) => shownValue(pair[1]) }], entries);
  const fold = (title, content) => el("details", {}, el("summary", {}, title), el("div", { class: "inside" }, content));
  const known = (entries) => Object.entries(entries).map(([name, value]) => [word(name), typeof value === "string" ? word(value) : value]);
  return el("section", { id: "manifest" }, el("h2", {}, t("manifest")), el("div", { class: "panel" },
    pairs("record", [
      ...(plan.seed === undefined ? [] : [[t("seed"), plan.seed]]), ...Object.entries(seeds).slice(1).map(([repeat, seed]) => [`${t("seed")} ${Number(repeat) + 1}`, seed]),
      [t("options"), shownValue(plan.rulebook?.parameters ?? contest.settings ?? {}) || "–"], ...(seconds === null ? [] : [[t("seconds"), figure(seconds)]]),
      ...Object.entries(versions),
    ]),
    fold(t("players"), sortableTable("players", [{ title: t("team"), value: (player) => player.team }, { title: t("name"), value: (player) => player.name },
      { title: t("anonymization"), mono: true, value: (player) => methodOf(player.team) }, { title: t("attack"), mono: true, value: (player) => methodOf(player.team, "attack") }], results.players)),
    fold(t("preparation"), results.rounds.map((one) => pairs(`preparation-${one.name}`, known(one.report)))),
    Object.keys(code).length === 0 ? null : fold(t("code"), sortableTable("code", [{ title: t("what"), value: (entry) => entry[0] }, { title: t("package"), value: (entry) => entry[1].package }, { title: "SHA-256", mono: true, value: (entry) => entry[1].sha256 }], Object.entries(code))),
    fold(`${t("commitments")} — ${t("scheme")}`, Object.entries(commitments).map(([name, entries]) => [el("h3", {}, repeatName(name)), pairs("commitments", Object.entries(entries))])),
    Object.keys(jobs).length === 0 ? null : fold(t("jobs"), pairs("jobs", Object.entries(jobs)))));
}
