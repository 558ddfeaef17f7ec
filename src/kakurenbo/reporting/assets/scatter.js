"use strict";
// What a release costs in utility for the privacy it gives.

const measureNamed = (name) => round().measures.find((measure) => measure.name === name);
const chosenMeasure = () => measureNamed(state.measure) ?? measureNamed(axes[state.round]?.[0]) ?? round().measures[0];
const chosenPrivacy = () => state.privacy ?? axes[state.round]?.[1] ?? "worst";

/** The releases as points: a measure across, privacy of the chosen kind upwards. */
function points(measure, kind) {
  return releases().flatMap((target) => {
    const { estimates, privacy } = release(target);
    const x = estimates[measure.name];
    return x && privacy[kind] ? [{ target, x: x.mean, y: privacy[kind].mean, across: x, up: privacy[kind], good: verdict(target)?.good ?? true }] : [];
  });
}

/** A scale from values to pixels, with some air at both ends. */
function scaled(values, from, to, limits = [-Infinity, Infinity]) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const air = (high - low || Math.abs(high) || 1) * 0.06;
  [low, high] = [Math.max(limits[0], low - air), Math.min(limits[1], high + air)];
  const place = (value) => from + (value - low) / (high - low) * (to - from);
  return { place, low, high };
}

function scatterDrawing(width) {
  const [measure, kind] = [chosenMeasure(), chosenPrivacy()];
  const all = points(measure, kind);
  const narrow = width < 600;
  const height = narrow ? 400 : 480;
  const frame = { left: 48, right: width - 12, top: 30, bottom: height - 46 };
  const threshold = measure.minimum ?? measure.maximum;
  const blind = round().chance_privacy;
  const across = scaled([...all.map((point) => point.x), ...(isNumber(threshold) ? [threshold] : [])], frame.left, frame.right);
  const up = scaled([...all.map((point) => point.y), ...(isNumber(blind) ? [blind] : [])], frame.bottom, frame.top, [-0.02, 1.02]);
  const at = all.map((point) => ({ ...point, px: across.place(point.x), py: up.place(point.y) }));
  const whiskers = whiskerLines(at, across, up, frame);
  const straight = [...frontierSteps(at, measure, kind), ...sweepsOf(at).flatMap(([, listed]) => joinedLines(listed)), ...whiskers];
  const marks = markLines(threshold, unitOf(measure.name), blind, across, up, frame, at.map(({ px, py }) => aroundPoint({ x: px, y: py })), straight);
  const content = [
    axesOf(across, up, frame, measure, kind, narrow),
    marks.drawn,
    whiskers.map(([x1, y1, x2, y2]) => svg("line", { class: "whisker", x1, y1, x2, y2 })),
    lines(at, measure, kind),
    labelsOf(at, frame, narrow || at.length > 16, marks.rooms, [...straight, ...marks.lines]),
    at.map((point) => pointShape(point, measure, kind)),
  ];
  return { width, height, content };
}

function axesOf(across, up, frame, measure, kind, narrow) {
  const right = (tick) => Math.abs(tick.value) >= 1e5 ? figure(tick.value) : tick.text;
  const vertical = ticks(across.low, across.high, narrow ? 4 : 8).map((tick) => [
    svg("line", { class: "grid", x1: across.place(tick.value), x2: across.place(tick.value), y1: frame.top, y2: frame.bottom }),
    svg("text", { class: "dim small", x: across.place(tick.value), y: frame.bottom + 16, "text-anchor": "middle" }, right(tick))]);
  const horizontal = ticks(100 * up.low, 100 * up.high, 6).map((tick) => [
    svg("line", { class: "grid", x1: frame.left, x2: frame.right, y1: up.place(tick.value / 100), y2: up.place(tick.value / 100) }),
    svg("text", { class: "dim small", x: frame.left - 6, y: up.place(tick.value / 100) + 4, "text-anchor": "end" }, `${tick.text}%`)]);
  const better = t(measure.higher_is_better ? "better_right" : "better_left");
  return [vertical, horizontal,
    svg("line", { class: "axis", x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }),
    svg("line", { class: "axis", x1: frame.left, x2: frame.left, y1: frame.top, y2: frame.bottom }),
    svg("text", { x: (frame.left + frame.right) / 2, y: frame.bottom + 36, "text-anchor": "middle" }, clipped(`${measure.name} ${better}`, frame.right - frame.left)),
    svg("text", { x: 4, y: 14 }, clipped(`↑ ${t("privacy_" + kind)}`, frame.right - 4))];
}

/** The straight parts of the frontier. */
function frontierSteps(at, measure, kind) {
  const by = Object.fromEntries(at.map((point) => [point.target, point]));
  const best = (round().frontiers[measure.name]?.[kind] ?? []).map((target) => by[target]).filter(Boolean);
  return best.slice(1).flatMap((other, place) => {
    const one = best[place];
    const corner = measure.higher_is_better ? [one.px, other.py] : [other.px, one.py];
    return [[one.px, one.py, ...corner], [...corner, other.px, other.py]];
  });
}
/** The straight parts of a sweep. */
const joinedLines = (listed) => listed.slice(1).map((other, place) => [listed[place].px, listed[place].py, other.px, other.py]);
/** The 95 % interval of every mean, across and upwards, as far as it lies in the plot. */
function whiskerLines(at, across, up, frame) {
  const within = (low, high, value) => Math.min(high, Math.max(low, value));
  const known = ({ low, high }) => isNumber(low) && isNumber(high) && low < high;
  return at.flatMap((point) => [
    ...(known(point.across) ? [[within(frame.left, frame.right, across.place(point.across.low)), point.py, within(frame.left, frame.right, across.place(point.across.high)), point.py]] : []),
    ...(known(point.up) ? [[point.px, within(frame.top, frame.bottom, up.place(point.up.high)), point.px, within(frame.top, frame.bottom, up.place(point.up.low))]] : []),
  ]);
}

/** Thresholds of the rules and blind guessing, with their names where no point and no other line is. */
function markLines(threshold, unit, blind, across, up, frame, taken, others) {
  const level = isNumber(blind) ? [[frame.left, up.place(blind), frame.right, up.place(blind)]] : [];
  const upright = isNumber(threshold) ? [[across.place(threshold), frame.top, across.place(threshold), frame.bottom]] : [];
  const drawn = [];
  const rooms = [];
  const named = (text, places, avoided) => {
    const width = textWidth(text, 11);
    const room = ({ x, y, end }) => [end ? x - width : x, y - 11, end ? x : x + width, y + 3];
    const inside = (place) => room(place)[0] >= frame.left && room(place)[2] <= frame.right;
    const free = places.filter((one) => inside(one) && ![...taken, ...rooms].some((other) => overlap(room(one), other)));
    const place = free.find((one) => !avoided.some((line) => crosses(line, room(one)))) ?? free[0] ?? places.find(inside) ?? places[0];
    rooms.push(room(place));
    return svg("text", { class: "dim small mark-name", x: place.x, y: place.y, "text-anchor": place.end ? "end" : "start" }, text);
  };
  if (isNumber(blind)) {
    const y = up.place(blind);
    drawn.push(svg("line", { class: "mark-line", x1: frame.left, x2: frame.right, y1: y, y2: y }),
      named(t("blind"), [y - 5, y + 14].flatMap((height) => [{ x: frame.right - 4, y: height, end: true }, { x: frame.left + 4, y: height, end: false }]), [...others, ...upright]));
  }
  if (isNumber(threshold)) {
    const x = across.place(threshold);
    drawn.push(svg("line", { class: "mark-line", x1: x, x2: x, y1: frame.top, y2: frame.bottom }),
      named(`${t("threshold")} ${figure(threshold, unit)}`, [frame.bottom - 6, frame.top + 12, (frame.top + frame.bottom) / 2].flatMap((y) => [{ x: x + 5, y, end: false }, { x: x - 5, y, end: true }]), [...others, ...level]));
  }
  return { drawn, rooms, lines: [...level, ...upright] };
}

function lines(at, measure, kind) {
  const by = Object.fromEntries(at.map((point) => [point.target, point]));
  const best = (round().frontiers[measure.name]?.[kind] ?? []).map((target) => by[target]).filter(Boolean);
  const steps = best.map((point, place) => place === 0 ? `M${rounded(point.px)} ${rounded(point.py)}`
    : measure.higher_is_better ? `V${rounded(point.py)}H${rounded(point.px)}` : `H${rounded(point.px)}V${rounded(point.py)}`);
  const joined = (listed) => listed.map((point, place) => `${place ? "L" : "M"}${rounded(point.px)} ${rounded(point.py)}`).join("");
  return [best.length > 1 ? svg("path", { class: "frontier", d: steps.join("") }) : null,
    sweepsOf(at).map(([, listed], number) => svg("path", { class: `sweep sweep-${number % 4}`, d: joined(listed) }))];
}
function sweepsOf(at) {
  const sweeps = new Map();
  for (const point of at) {
    const name = playerOf(point.target)?.sweep;
    if (name) sweeps.set(name, [...(sweeps.get(name) ?? []), point]);
  }
  return [...sweeps].filter(([, listed]) => listed.length > 1).map(([name, listed]) => [name, listed.sort((a, b) => a.x - b.x)]);
}

/** A name for each point; points that lie on one another share one. */
function labelsOf(at, frame, numbersOnly, rooms, avoided) {
  const groups = [];
  for (const point of at) {
    const near = groups.find((group) => Math.hypot(group.x - point.px, group.y - point.py) < 7);
    if (near) near.targets.push(point.target);
    else groups.push({ x: point.px, y: point.py, targets: [point.target] });
  }
  const named = groups.map((group) => ({ ...group, text: groupName(group.targets, numbersOnly) }));
  const places = placedLabels(named, [frame.left + 2, frame.top - 8, frame.right + 8, frame.bottom - 2], rooms, avoided);
  return named.map((group, number) => {
    const place = places[number];
    if (!place) return null;
    return [place.lead ? svg("line", { class: "leader", x1: place.lead[0], y1: place.lead[1], x2: place.lead[2], y2: place.lead[3] }) : null,
      svg("text", { class: "small point-name", x: place.x, y: place.y, "text-anchor": place.anchor }, group.text, svg("title", {}, group.targets.map(label).join(", ")))];
  });
}
function groupName(listed, numbersOnly) {
  if (listed.length === 1) return numbersOnly ? clipped(listed[0], 60, 11) : fittedLabel(listed[0], 150, 11);
  return listed.length > 3 ? `${listed[0]} +${listed.length - 1}` : listed.join(", ");
}

function pointShape(point, measure, kind) {
  const { px, py, good, target } = point;
  const common = { class: good ? "point good" : "point bad", tabindex: "0", role: "img", "aria-label": label(target), "data-target": target };
  const shape = good ? svg("circle", { ...common, cx: px, cy: py, r: 6 })
    : svg("path", { ...common, d: `M${rounded(px)} ${rounded(py - 7)}L${rounded(px + 6.5)} ${rounded(py + 5)}H${rounded(px - 6.5)}Z` });
  return withTip(shape, label(target), () => [
    methodOf(target),
    `${measure.name}: ${estimated(point.across, unitOf(measure.name))}`,
    `${t("privacy_" + kind)}: ${estimated(point.up, "share")}`,
    sentences(release(target)),
  ]);
}

function scatterPicture() {
  const { width, height, content } = scatterDrawing(868);
  const [left, right] = [48, width - 12];
  let [x, row] = [left, 0];
  const legend = signs().map(([shape, text]) => {
    const told = clipped(text, right - left - 24, 11);
    const room = 24 + textWidth(told, 11);
    if (x > left && x + room > right) [x, row] = [left, row + 1];
    const sign = moved(x, height + 4 + 20 * row, shape, svg("text", { class: "dim small", x: 24, y: 11 }, told, svg("title", {}, text)));
    x += room + 18;
    return sign;
  });
  return picture({ width, height: height + 2 + 20 * (row + 1), content: [content, legend] }, `${results.rulebook.name}: ${t("frontier")}`,
    [`${t("privacy_" + chosenPrivacy())} · ${chosenMeasure().name}`, ...(repeatCount() > 1 ? [t("scatter_repeats", { count: repeatCount() })] : [])]);
}

function drawScatter(element) {
  const { width, height, content } = scatterDrawing(element.clientWidth);
  const sign = ([shape, text]) => el("span", { class: "sign" }, svg("svg", { class: "figure", width: 18, height: 14, "aria-hidden": "true" }, shape), text);
  element.replaceChildren(svg("svg", { class: "figure", width, height, viewBox: `0 0 ${width} ${height}` }, content), el("p", { class: "legend" }, signs().map(sign)));
}
/** What points and lines mean. */
function signs() {
  const at = points(chosenMeasure(), chosenPrivacy());
  const dash = (name) => svg("path", { class: name, d: "M1 7H17" });
  const frontier = round().frontiers[chosenMeasure().name]?.[chosenPrivacy()] ?? [];
  return [
    at.some((point) => point.good) ? [svg("circle", { class: "good", cx: 9, cy: 7, r: 5.5 }), word(at.some((point) => verdict(point.target)) ? "passes" : t("target"))] : null,
    at.some((point) => !point.good) ? [svg("path", { class: "bad", d: "M9 1L15 12H3Z" }), word("disqualified")] : null,
    frontier.length > 1 ? [dash("frontier"), t("frontier_line")] : null,
    ...sweepsOf(at).map(([name], number) => [dash(`sweep sweep-${number % 4}`), t("sweep", { name })]),
  ].filter(Boolean);
}
