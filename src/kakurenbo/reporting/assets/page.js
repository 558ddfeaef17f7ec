"use strict";
// What every part of the page uses: elements made of text only, words in two languages, tables that sort and can be saved.

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const texts = read("texts");
const palettes = read("palettes");
const { results, seconds, csv, axes, scores, language } = read("data");

function remembered(key) {
  try { return localStorage.getItem("kakurenbo-" + key); } catch { return null; }
}
function remember(key, value) {
  try { localStorage.setItem("kakurenbo-" + key, value); } catch { /* a page from a file may have no storage */ }
}

const state = {
  language: remembered("language") ?? (language !== "en" ? language : (navigator.language || "en").slice(0, 2)),
  theme: remembered("theme") ?? "auto",
  round: 0,
  order: "number",
  search: "",
  zoom: 1,
  measure: null,
  privacy: null,
};
if (!(state.language in texts)) state.language = "en";

/** A text of the page in the chosen language; {name} is filled in from `values`. */
function t(key, values = {}) {
  const text = texts[state.language][key] ?? texts.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** A word that may come from a rulebook: translated where the page knows it. */
const word = (text) => texts[state.language].words[text] ?? texts[state.language][text] ?? String(text).split(/(; |, )/).map((part) => texts[state.language].words[part] ?? texts[state.language][part] ?? part).join("");

const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** A text whose every sign can be seen, written as the terminal does: a name must not turn the direction of what follows it. */
const visible = (text) => text.replace(UNSEEN, (sign) => {
  const code = sign.codePointAt(0);
  if (sign === "\n" || sign === "\t") return sign;
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
});

/** An element; children are nodes or texts, and texts stay texts whatever they hold. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => typeof child === "string" ? visible(child) : child));
  return element;
}

const players = Object.fromEntries(results.players.map((player) => [player.team, player]));
const round = () => results.rounds[state.round];
const release = (target) => round().releases[target];
/** The team of a release: a team may have several tables, 07 and 07-2. */
const teamOf = (target) => release(target)?.team ?? target;
const playerOf = (name) => players[teamOf(name)];
const nameOf = (name) => playerOf(name)?.name || (name === "sample attack" ? t("sample") : name);
const label = (name) => playerOf(name)?.name ? `${name} ${playerOf(name).name}` : nameOf(name);
/** The name of a team in the room there is: of a sweep what tells it from the others, else shortened. */
function fittedName(name, room, size = 12) {
  const text = nameOf(name);
  if (textWidth(text, size) <= room) return text;
  const sweep = playerOf(name)?.sweep ?? "";
  return clipped((text.startsWith(sweep) ? text.slice(sweep.length).trim() : text) || text, room, size);
}
/** Number and name in the room there is. */
function fittedLabel(name, room, size = 12) {
  const whole = label(name);
  if (textWidth(whole, size) <= room || !playerOf(name)?.name) return clipped(whole, room, size);
  return `${name} ${fittedName(name, room - textWidth(`${name} `, size), size)}`;
}
const methodOf = (name, role) => playerOf(name)?.[role === "attack" ? "attack" : "anonymizer"] ?? "";
const standingLines = (ranking) => results.rankings[ranking]?.lines ?? [];
const rankOf = (ranking) => Object.fromEntries(standingLines(ranking).map((line, place) => [line.team, line.rank ?? 1000 + place]));

// In the order of the plan: keys of an object that look like numbers come in an order of their own.
const everyTarget = () => [...new Set(round().repeats.flatMap((results) => results.targets))];
const targets = () => everyTarget().filter((target) => round().attacks[target]);
const attackers = () => [...new Set(round().repeats.flatMap((results) => results.attackers))];
const releases = () => everyTarget().filter(release);
const releasesOf = (team) => Object.values(round().releases).filter((one) => one.team === team);
const cellOf = (target, attacker) => round().attacks[target]?.[attacker];
const accuracy = (cell) => cell ? estimated(cell.accuracy, "share") : "–";

/** What the rules say of a release: nothing, or a word and whether it is a good one. */
function verdict(target) {
  const key = release(target)?.verdict;
  return key ? { good: key === "passes", key } : null;
}
/** What the contest declares of a figure: a measure, what a guess earns, the score of a ranking. */
const declared = (name) => results.figures[name] ?? { unit: "number", of: null, higher_is_better: null, definitions: {} };
const unitOf = (name) => declared(name).unit;
const definition = (name) => declared(name).definitions[state.language] ?? declared(name).definitions.en ?? "";
const sentences = (entry) => entry.verdicts[state.language] ?? entry.verdicts.en ?? [];
const direction = (higher) => t(higher ? "more_is_better" : "less_is_better");
/** A sentence in which `methods` stand out. */
const spoken = (text) => String(text).split("`").map((part, at) => at % 2 ? el("code", {}, breakable(part)) : part);
/** A method with its parameters, which may go on in the next line behind a comma. */
const breakable = (text) => text.split(/(?<=[,:])/).flatMap((part, at) => at ? [el("wbr"), part] : [part]);
const mark = (key, good) => el("span", { class: `mark ${good ? "good" : "bad"}` }, word(key));

// -- tables -------------------------------------------------------------------------------------------------------------

/**
 * A table whose columns sort on click, and which stacks its cells where there is no room for columns.
 * columns: [{ title, value(row) -> what to sort by and to save, show?(row) -> node or text, number?, mono?, place? }];
 * place says where a cell stands in a stacked row: lead, main or figure; others come below with their titles.
 */
function sortableTable(name, columns, rows, attributes = {}) {
  const body = el("tbody", { role: "rowgroup" });
  const cell = (column, row) => el("td", { role: "cell", class: [column.number && "number", column.mono && "mono"].filter(Boolean).join(" ") || null, "data-title": column.title, "data-place": column.place ?? "below" },
    column.show ? column.show(row) : shownValue(column.value(row)));
  // Where cells stand below each other with their titles, a title with nothing behind it says nothing.
  const cellOrNothing = (column, row) => { const made = cell(column, row); if (["", "–"].includes(made.textContent)) made.classList.add("nothing-here"); return made; };
  const fill = (listed) => body.replaceChildren(...listed.map((row) => el("tr", { role: "row" }, columns.map((column) => cellOrNothing(column, row)))));
  const heads = columns.map((column) => {
    const sort = () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      fill([...rows].sort((a, b) => (up ? 1 : -1) * compare(column.value(a), column.value(b))));
    };
    const button = el("button", { type: "button", title: column.hint ?? t("sort", { column: column.title }), onclick: sort }, column.title);
    const head = el("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null }, button);
    return head;
  });
  fill(rows);
  const save = () => download(`${results.rulebook.name}-${name}.csv`, "text/csv", tableCsv(columns, rows));
  return el("div", { class: "sheet" },
    el("table", { role: "table", class: columns.some((column) => column.place) ? "stacking" : "stacking plain", ...attributes }, el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)), body),
    el("div", { class: "tools" }, el("button", { type: "button", class: "small", "data-save": `${name}-csv`, title: t("save_csv"), onclick: save }, "↓ CSV")));
}

function compare(a, b) {
  const missing = (value) => value === null || value === undefined || value === "";
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  if (isNumber(a) && isNumber(b)) return a - b;
  return String(a).localeCompare(String(b), state.language, { numeric: true });
}

/** A table as CSV; a text that a spreadsheet would take for a formula begins with an apostrophe. */
function tableCsv(columns, rows) {
  const plain = (value) => value === null || value === undefined ? "" : isNumber(value) ? String(value) : harmless(typeof value === "object" ? shownValue(value) : String(value));
  const quoted = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const written = (cells) => cells.map((value) => quoted(plain(value))).join(",");
  // The mark at the beginning tells spreadsheets that it is UTF-8.
  return "\ufeff" + [columns.map((column) => column.title), ...rows.map((row) => columns.map((column) => (column.saved ?? column.value)(row)))].map((cells) => `${written(cells)}\r\n`).join("");
}
const harmless = (text) => /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;

function download(name, type, content) {
  saveBlob(name, new Blob([content], { type }));
}
function saveBlob(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
