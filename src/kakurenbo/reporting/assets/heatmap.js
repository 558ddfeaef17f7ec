"use strict";
// Who finds whom: attackers down, releases across, bright where many were found.

const NUMBERED_CELL = 28; // from this width on the share stands in the cell
const FLAT_CELL = 74; // from this width on names stand level above their columns
const INTERVAL_CELL = 48; // from this width on an interval stands in a cell
const TWO_LINES = 30; // from this height on a cell has room for an interval

function ordered(names, ranking, role) {
  const ranks = rankOf(ranking);
  const keys = {
    rank: (name) => [ranks[name] ?? 1e6],
    method: (name) => [family(name, role) || "\uffff", ranks[name] ?? 1e6],
  }[state.order];
  if (!keys) return names;
  const before = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  return [...names].sort((a, b) => keys(a).reduce((found, key, at) => found || before(key, keys(b)[at]), 0));
}
/** The method without its parameters. */
const family = (name, role) => methodOf(name, role).split(":")[0];
const matches = (name, role) => `${label(name)} ${methodOf(name, role)}`.toLowerCase().includes(state.search.toLowerCase());
/** The names that are asked for; all where none is, so that a search for releases keeps every attacker. */
function found(names, role) {
  const kept = names.filter((name) => matches(name, role));
  return state.search && kept.length ? kept : names;
}
const nothingFound = () => state.search && ![...targets().map((name) => matches(name)), ...attackers().map((name) => matches(name, "attack"))].some(Boolean);

/** The map in three parts that scroll apart: names of attackers, names of releases, cells. */
function heatParts(room) {
  const columns = found(ordered(targets(), "anonymization"));
  const rows = found(ordered(attackers(), "attack", "attack"), "attack");
  const longest = (names, role, most) => Math.min(most, Math.max(40, ...names.map((name) => textWidth(heatName(name, role), 12) + 14)));
  const side = longest(rows, "attack", room < 600 ? 104 : 210);
  const [columnGaps, rowGaps] = [gaps(columns), gaps(rows, "attack")];
  const fit = (room - side - 2 - columnGaps.at(-1)) / columns.length;
  const cellWidth = state.zoom === "fit" ? Math.min(180, Math.max(3, fit)) : Math.min(180, Math.max(NUMBERED_CELL, fit)) * state.zoom;
  const cellHeight = Math.min(34, Math.max(cellWidth, state.zoom === "fit" ? 0 : NUMBERED_CELL));
  const flat = cellWidth >= FLAT_CELL;
  const head = flat ? 36 : longest(columns, "anonymization", 132);
  const xs = columnGaps.map((gap, x) => gap + x * cellWidth);
  const ys = rowGaps.map((gap, y) => gap + y * cellHeight);
  const top = scaleTop();
  return {
    side, head, top, width: xs.at(-1) + cellWidth, height: ys.at(-1) + cellHeight,
    rowNames: rows.map((name, y) => rowName(name, ys[y], side, cellHeight)),
    columnNames: columns.map((name, x) => columnName(name, xs[x], cellWidth, head, flat)),
    cells: rows.flatMap((attacker, y) => columns.map((target, x) => heatCell(target, attacker, xs[x], ys[y], cellWidth, cellHeight, top))),
  };
}
/** The room before each name: some more where another method begins. */
function gaps(names, role) {
  let gap = 0;
  return names.map((name, at) => { if (state.order === "method" && at && family(name, role) !== family(names[at - 1], role)) gap += 7; return gap; });
}
const heatName = (name, role) => state.order === "method" && family(name, role) ? `${family(name, role)} ${name}` : label(name);
const fittedHeatName = (name, role, room, size) => heatName(name, role) === label(name) ? fittedLabel(name, room, size) : clipped(heatName(name, role), room, size);
const scaleTop = () => Math.min(1, Math.max(round().chance ? 3 * round().chance.mean : 0, 0.01, ...targets().flatMap((target) => Object.values(round().attacks[target]).map((cell) => cell.accuracy.mean))));

function rowName(name, y, side, height) {
  if (height < 9) return null;
  const size = Math.min(12, height - 1);
  return svg("text", { x: side - 8, y: y + height / 2 + size * 0.36, "text-anchor": "end", "font-size": size },
    fittedHeatName(name, "attack", side - 12, size), svg("title", {}, label(name)));
}
function columnName(name, x, width, head, flat) {
  if (width < 9) return null;
  const middle = x + width / 2;
  if (flat && playerOf(name)) {
    return svg("g", {}, svg("text", { class: "number", x: middle, y: 13, "text-anchor": "middle" }, clipped(name, width - 6)),
      svg("text", { class: "dim small", x: middle, y: 29, "text-anchor": "middle" }, state.order === "method" ? clipped(family(name), width - 6, 11) : fittedName(name, width - 6, 11)), svg("title", {}, label(name)));
  }
  const size = Math.min(12, width - 1);
  return svg("text", { transform: `translate(${rounded(middle + size * 0.36)},${rounded(head - 6)}) rotate(-90)`, "font-size": size },
    fittedHeatName(name, "anonymization", head - 10, size), svg("title", {}, label(name)));
}

/** The 95 % interval as it stands below a mean; nothing where there is none, or all repeats agree. */
const heatInterval = ({ low, high }) => isNumber(low) && isNumber(high) && high - low >= 1e-9 ? `${bare(low)}–${bare(high)}` : "";

function heatCell(target, attacker, x, y, width, height, top) {
  const cell = cellOf(target, attacker);
  if (!cell) return svg("rect", { class: "cell nothing", x, y, width, height, rx: 3 });
  const part = cell.accuracy.mean / top;
  const interval = width >= INTERVAL_CELL && height >= TWO_LINES ? heatInterval(cell.accuracy) : "";
  const shown = svg("g", { class: "found", "data-target": target, "data-attacker": attacker, role: "img", "aria-label": `${label(attacker)} → ${label(target)}: ${accuracy(cell)}` },
    svg("rect", { class: "cell", x, y, width, height, rx: width > 12 ? 3 : 0, fill: ramp(part) }),
    width >= NUMBERED_CELL ? svg("text", { class: `small ${onRamp(part)}`, x: x + width / 2, y: y + height / 2 + (interval ? -2 : 4), "text-anchor": "middle" }, bare(cell.accuracy.mean)) : null,
    interval ? svg("text", { class: `tiny ${onRamp(part)}`, x: x + width / 2, y: y + height / 2 + 10, "text-anchor": "middle" }, interval) : null);
  return withTip(shown, `${label(attacker)} → ${label(target)}`, () => cellLines(target, attacker, cell));
}

function cellLines(target, attacker, cell) {
  const { chance, constant } = round();
  const sample = release(target)?.sample_accuracy;
  return [
    `${t("accuracy")}: ${accuracy(cell)} (${figure(cell.hits)} ${t("of")} ${figure(cell.of)})`,
    chance && `${t("chance")}: ${share(chance.mean)} (${share(chance.low)}–${share(chance.high)})`,
    isNumber(constant) && `${definition("constant") || t("constant")}: ${share(constant)}`,
    isNumber(sample) && `${t("sample")}: ${share(sample)}`,
    methodOf(attacker, "attack") && `${t("attack")}: ${methodOf(attacker, "attack")}`,
    methodOf(target) && `${t("anonymization")}: ${methodOf(target)}`,
  ];
}

/** The scale: from nothing found to the most, with blind guessing marked. */
function heatScale(top, width) {
  const { chance } = round();
  const stops = CIVIDIS.map((colour, at) => svg("rect", { x: at * width / 10, y: 0, width: width / 10 + 0.5, height: 10, fill: colour }));
  const mark = chance ? width * chance.mean / top : 0;
  return [stops, svg("text", { class: "dim small", x: 0, y: 24 }, share(0)), svg("text", { class: "dim small", x: width, y: 24, "text-anchor": "end" }, share(top)),
    chance && mark > 40 && mark < width - 90 ? [svg("line", { class: "axis", x1: mark, x2: mark, y1: -3, y2: 13 }), svg("text", { class: "dim small", x: mark, y: 24, "text-anchor": "middle" }, `${t("chance")} ${share(chance.mean)}`)] : null];
}

/** What dark and bright say, beside what blind guessing gets. */
function heatRamp() {
  const { chance } = round();
  return [t("heat_ramp"), ...(chance ? [t("heat_blind", { chance: share(chance.mean) })] : [])].join(" ");
}

function heatPicture() {
  const parts = heatParts(868);
  const content = [moved(parts.side, 0, parts.columnNames), moved(0, parts.head, parts.rowNames), moved(parts.side, parts.head, parts.cells),
    moved(parts.side, parts.head + parts.height + 14, heatScale(parts.top, Math.min(300, Math.max(160, parts.width))))];
  return picture({ width: parts.side + Math.max(parts.width, 160), height: parts.head + parts.height + 42, content }, `${results.rulebook.name}: ${t("heatmap")}`,
    [t("heat_axes"), heatRamp(), ...(repeatCount() > 1 ? [t("heat_repeats", { count: repeatCount() })] : [])]);
}

function drawHeatmap(element) {
  const whole = (width, height, children, attributes = {}) => svg("svg", { class: "figure", width, height, ...attributes }, children);
  if (nothingFound()) return element.replaceChildren(el("p", { class: "dim" }, t("nothing_found")));
  const parts = heatParts(element.clientWidth);
  const cells = whole(parts.width, parts.height, parts.cells, { role: "group", "aria-label": t("heat_axes") });
  const grid = el("div", { class: "heat" },
    el("div", { class: "corner dim" }, el("span", {}, `${t("attacker")} ↓`), el("span", {}, `${t("target")} →`)),
    el("div", { class: "columns" }, whole(parts.width, parts.head, parts.columnNames)),
    el("div", { class: "rows" }, whole(parts.side, parts.height, parts.rowNames)),
    el("div", { class: "cells" }, cells));
  grid.style.gridTemplateColumns = `${rounded(parts.side)}px ${rounded(parts.width)}px`;
  grid.style.gridTemplateRows = `${rounded(parts.head)}px ${rounded(parts.height)}px`;
  const frame = el("div", { class: "heat-frame", tabindex: "-1" }, grid);
  const scale = Math.min(300, Math.max(160, element.clientWidth - 40));
  element.replaceChildren(frame, el("div", { class: "scale" }, whole(scale, 30, moved(0, 3, heatScale(parts.top, scale)), { "aria-hidden": "true" })));
  roam(cells);
}

/** One stop of the tab key for the whole map; arrows go from cell to cell. */
function roam(cells) {
  const all = [...cells.querySelectorAll(".found")];
  all[0]?.setAttribute("tabindex", "0");
  const at = (element) => { const box = element.firstChild; return [Number(box.getAttribute("x")), Number(box.getAttribute("y"))]; };
  cells.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    const here = event.target.closest(".found");
    if (!step || !here) return;
    event.preventDefault();
    const [x, y] = at(here);
    const along = (other) => { const [left, up] = at(other); return step[0] ? (Math.abs(up - y) < 1 ? (left - x) * step[0] : 0) : (Math.abs(left - x) < 1 ? (up - y) * step[1] : 0); };
    const next = all.filter((other) => along(other) > 0).sort((a, b) => along(a) - along(b))[0];
    if (!next) return;
    here.removeAttribute("tabindex");
    next.setAttribute("tabindex", "0");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
