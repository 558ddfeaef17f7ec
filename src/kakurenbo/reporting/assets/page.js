"use strict";
// What every part of the page uses: elements made of text only, words in two languages, sortable tables, number formats.

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const texts = read("texts");
const { results, seconds, csv } = read("data");

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
/** A number as people read it: counts as counts, else five digits. */
function short(value) {
  if (!isNumber(value)) return shownValue(value);
  return Number.isInteger(value) || Math.abs(value) >= 1e5 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(5)));
}
function shownValue(value) {
  if (Array.isArray(value)) return value.map(short).join(" × ");
  if (value && typeof value === "object") return Object.entries(value).map(([key, part]) => `${key} ${short(part)}`).join(", ");
  return value === null || value === undefined ? "–" : String(value);
}
const percent = (value, digits = 3) => isNumber(value) ? `${Number((100 * value).toPrecision(digits))}%` : "–";
const plusMinus = (half, scale = 1) => isNumber(half) ? ` ±${Number((scale * half).toPrecision(2))}` : "";
const accuracy = (cell) => cell ? percent(cell.accuracy.mean) + plusMinus(cell.accuracy.half, 100) : "–";

const players = Object.fromEntries(results.players.map((player) => [player.team, player]));
const round = () => results.rounds[state.round];
const release = (target) => round().releases[target];
/** The team of a release: a team may have several tables, 07 and 07-2. */
const teamOf = (target) => release(target)?.team ?? target;
const playerOf = (name) => players[teamOf(name)];
const nameOf = (name) => playerOf(name)?.name ?? (name === "sample attack" ? t("sample") : name);
const label = (name) => playerOf(name) ? `${name} ${playerOf(name).name}` : nameOf(name);
const methodOf = (name, role) => playerOf(name)?.[role === "attack" ? "attack" : "anonymizer"] ?? "";
const lines = (ranking) => results.rankings[ranking]?.lines ?? [];
const rankOf = (ranking) => Object.fromEntries(lines(ranking).map((line, place) => [line.team, line.rank ?? 1000 + place]));

// In the order of the plan: keys of an object that look like numbers come in an order of their own.
const everyTarget = () => [...new Set(round().repeats.flatMap((results) => results.targets))];
const targets = () => everyTarget().filter((target) => round().attacks[target]);
const attackers = () => [...new Set(round().repeats.flatMap((results) => results.attackers))];
const releases = () => everyTarget().filter(release);
const releasesOf = (team) => Object.values(round().releases).filter((one) => one.team === team);
const cellOf = (target, attacker) => round().attacks[target]?.[attacker];

/** What the rules say of a release: nothing, or a word and whether it is a good one. */
function verdict(target) {
  const word_ = release(target)?.verdict;
  return word_ ? { good: word_ === "passes", key: word_ } : null;
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
