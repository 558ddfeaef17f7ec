"use strict";
// What every part of the page uses: elements made of text only, words in two languages, sortable tables, number formats.

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const texts = read("texts");
const { results, times, csv } = read("data");

function remembered(key, fallback) {
  try { return localStorage.getItem("kakurenbo-" + key) || fallback; } catch { return fallback; }
}
function remember(key, value) {
  try { localStorage.setItem("kakurenbo-" + key, value); } catch { /* a page from a file may have no storage */ }
}

const state = {
  language: remembered("language", (navigator.language || "en").startsWith("ja") ? "ja" : "en"),
  theme: remembered("theme", "auto"),
  round: 0,
  order: "number",
  measure: null,
  privacy: "worst",
};
if (!(state.language in texts)) state.language = "en";

/** A text of the page in the chosen language; {name} is filled in from `values`. */
function t(key, values = {}) {
  const text = texts[state.language][key] ?? texts.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** A word that may come from a rulebook: translated where the page knows it. */
const word = (text) => String(text).split(/(; |, )/).map((part) => texts[state.language][part] ?? part).join("");

/** An element; children are nodes or texts, and texts stay texts whatever they hold. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const short = (value) => isNumber(value) ? String(Number(value.toPrecision(5))) : shownValue(value);
function shownValue(value) {
  if (Array.isArray(value)) return value.map(short).join(" × ");
  if (value && typeof value === "object") return Object.entries(value).map(([key, part]) => `${key} ${short(part)}`).join(", ");
  return value === null || value === undefined ? "–" : String(value);
}
const percent = (value, digits = 3) => isNumber(value) ? `${Number((100 * value).toPrecision(digits))}%` : "–";
const spread = (cell) => cell && "high" in cell ? ` ±${Number((100 * (cell.high - cell.mean)).toPrecision(2))}` : "";

const players = Object.fromEntries(results.players.map((player) => [player.team, player]));
const round = () => results.rounds[state.round];
const nameOf = (team) => players[team]?.name ?? (team === "sample attack" ? t("sample") : team);
const label = (team) => players[team] ? `${team} ${players[team].name}` : nameOf(team);
const methodOf = (team, role) => {
  const player = players[team] ?? {};
  return role === "attack" ? player.attack ?? player.guesses ?? "" : player.anonymizer ?? player.release ?? "";
};
const rankOf = (ranking) => Object.fromEntries((results.standings[ranking] ?? []).map((line, place) => [line.team, line.rank ?? 1000 + place]));

// Teams in the order of the plan: keys of an object that look like numbers come in an order of their own.
const targets = () => round().repeats[0].anonymizers.filter((team) => round().accuracy[team]);
const attackers = () => round().repeats[0].attackers;
const releases = () => round().repeats[0].anonymizers.filter((team) => round().releases[team]);

const isSample = (attacker) => results.sample_attacks.includes(attacker);
/** The organizers' best attack on a release. */
const sampleOf = (target) => results.sample_attacks.map((name) => round().accuracy[target]?.[name]).filter(Boolean)
  .reduce((best, cell) => (best === null || cell.mean > best.mean ? cell : best), null);

/** Ranked attackers of a release: everybody but its own team and the organizers' sample attack. */
const attackersOf = (target) => attackers().filter((team) => !isSample(team) && team !== target && round().accuracy[target]?.[team]);
function bestAttack(target) {
  const row = round().accuracy[target] ?? {};
  return attackersOf(target).reduce((best, team) => (best === null || row[team].mean > row[best].mean ? team : best), null);
}

function verdict(team) {
  const release = round().releases[team];
  if (!release) return null;
  if (release.state !== "done") return { good: false, key: release.state };
  if (!Object.keys(release.utility.thresholds).length) return null;
  return release.utility.passes ? { good: true, key: "passes" } : { good: false, key: "disqualified" };
}
const mark = (key, good) => el("span", { class: `mark ${good ? "good" : "bad"}` }, word(key));

/**
 * A table whose columns sort on click.
 * columns: [{ title, number?, value(row) -> what to sort by, show(row) -> node or text }]
 */
function sortableTable(columns, rows, attributes = {}) {
  const body = el("tbody");
  const fill = (ordered) => body.replaceChildren(...ordered.map((row) => el("tr", {}, columns.map((column) =>
    el("td", { class: column.number ? "number" : column.mono ? "mono" : null }, column.show ? column.show(row) : shownValue(column.value(row)))))));
  const heads = columns.map((column) => {
    const sort = () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      fill([...rows].sort((a, b) => (up ? 1 : -1) * compare(column.value(a), column.value(b))));
    };
    const button = el("button", { type: "button", title: t("sort", { column: column.title }), onclick: sort }, column.title);
    const head = el("th", { scope: "col", class: column.number ? "number" : null }, button);
    return head;
  });
  fill(rows);
  return el("div", { class: "scroll" }, el("table", attributes, el("thead", {}, el("tr", {}, heads)), body));
}

function compare(a, b) {
  const missing = (value) => value === null || value === undefined || value === "";
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  if (isNumber(a) && isNumber(b)) return a - b;
  return String(a).localeCompare(String(b), state.language, { numeric: true });
}

function download(name, type, content) {
  const link = el("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
