"use strict";
// The two charts: who finds whom, and what a release costs in utility for the privacy it gives.

const charts = [];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// Cividis: the same order of brightness for every kind of colour vision, and in grey.
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

// Colour and dash of the line through a sweep: told apart without colour, too.
const SWEEPS = [["purple", "solid"], ["blue", "dashed"], ["orange", "dotted"], ["green", "dashed"], ["dim", "solid"]];

function draw(element, option, cells = 0) {
  const chart = echarts.init(element, null, { renderer: cells > 2500 ? "canvas" : "svg" });
  chart.setOption({
    animation: false,
    backgroundColor: "transparent",
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colour("ink") },
    aria: { enabled: true },
    ...option,
  });
  charts.push(chart);
  return chart;
}

function dropCharts() {
  while (charts.length) charts.pop().dispose();
}
addEventListener("resize", () => charts.forEach((chart) => chart.resize()));

/** Texts in lines for a tooltip; an element, so that no text can become markup. */
function tip(title, lines) {
  return el("div", { class: "tip" }, el("b", {}, title), lines.filter(Boolean).map((line) => el("div", {}, line)));
}
const tooltip = () => ({ backgroundColor: colour("panel"), borderColor: colour("line"), textStyle: { color: colour("ink") }, confine: true });
const axisStyle = () => ({
  axisLine: { lineStyle: { color: colour("line") } },
  axisTick: { show: false },
  axisLabel: { color: colour("dim"), hideOverlap: true },
  splitLine: { lineStyle: { color: colour("line"), opacity: 0.6 } },
  nameTextStyle: { color: colour("dim") },
});

function ordered(teams, ranking) {
  if (state.order === "number") return teams;
  const ranks = rankOf(ranking);
  return [...teams].sort((a, b) => (ranks[a] ?? 1e6) - (ranks[b] ?? 1e6));
}

function heatmap(element) {
  const { chance } = round();
  const columns = ordered(targets(), "anonymization");
  const rows = ordered(attackers(), "attack").toReversed();
  const data = [];
  columns.forEach((target, x) => rows.forEach((attacker, y) => {
    const cell = cellOf(target, attacker);
    if (cell) data.push({ value: [x, y, cell.accuracy.mean], target, attacker, cell });
  }));
  element.style.height = `${Math.min(900, 150 + 30 * rows.length)}px`;
  const top = Math.max(chance ? 3 * chance.mean : 0, ...data.map((item) => item.value[2]), 0.01);
  const wide = element.clientWidth / Math.max(1, columns.length) > 34;
  const bright = (value) => value / top > 0.55;
  draw(element, {
    tooltip: {
      ...tooltip(),
      formatter: ({ data: item }) => tip(`${label(item.attacker)} → ${label(item.target)}`, [
        `${t("accuracy")}: ${accuracy(item.cell)} (${short(item.cell.hits)} ${t("of")} ${short(item.cell.of)})`,
        chance && `${t("chance")}: ${percent(chance.mean)} (${percent(chance.low)}–${percent(chance.high)})`,
        isNumber(release(item.target)?.sample_accuracy) && `${t("sample")}: ${percent(release(item.target).sample_accuracy)}`,
        methodOf(item.attacker, "attack") && `${t("attack")}: ${methodOf(item.attacker, "attack")}`,
        methodOf(item.target) && `${t("anonymization")}: ${methodOf(item.target)}`,
      ]),
    },
    grid: { left: 10, right: 80, top: 8, bottom: 10, containLabel: true },
    xAxis: {
      type: "category", data: columns.map(label), ...axisStyle(), splitLine: { show: false },
      axisLabel: { color: colour("dim"), rotate: columns.length > 6 ? 38 : 0, width: 130, overflow: "truncate", interval: 0, fontSize: 11 },
    },
    yAxis: {
      type: "category", data: rows.map(label), ...axisStyle(), splitLine: { show: false },
      axisLabel: { color: colour("dim"), width: 150, overflow: "truncate", interval: 0, fontSize: 11 },
    },
    visualMap: {
      min: 0, max: top, calculable: true, orient: "vertical", right: 0, top: 8, itemHeight: Math.min(220, 30 * rows.length), itemWidth: 12,
      inRange: { color: CIVIDIS }, textStyle: { color: colour("dim") }, formatter: (value) => percent(value, 2),
    },
    series: [{
      type: "heatmap", data, progressive: 0,
      itemStyle: { borderColor: colour("panel"), borderWidth: 1.5, borderRadius: 3 },
      label: wide ? {
        show: true, fontSize: 11,
        formatter: ({ data: item }) => String(Number((100 * item.cell.accuracy.mean).toPrecision(2))),
      } : { show: false },
      emphasis: { itemStyle: { borderColor: colour("ink"), borderWidth: 2 } },
    }].map((series) => ({ ...series, data: series.data.map((item) => ({ ...item, label: { color: bright(item.value[2]) ? "#10151c" : "#ffffff" } })) })),
  }, data.length);
}

/** The releases as points: a measure across, privacy of the chosen kind upwards. */
function points(measure) {
  return releases().flatMap((target) => {
    const { estimates, privacy } = release(target);
    const x = estimates[measure.name];
    const y = privacy[state.privacy];
    return x && isNumber(y) ? [{ target, x: x.mean, y, xInterval: isNumber(x.low) ? [x.low, x.high] : null }] : [];
  });
}

function scatter(element, measure) {
  const all = points(measure);
  const best = (round().frontiers[measure.name]?.[state.privacy] ?? []).map((target) => all.find((point) => point.target === target)).filter(Boolean);
  const judged = all.some((point) => verdict(point.target));
  const groups = [
    { key: judged ? "passes" : "target", colour: "blue", symbol: "circle", keep: (point) => verdict(point.target)?.good ?? true },
    { key: "disqualified", colour: "orange", symbol: "triangle", keep: (point) => !(verdict(point.target)?.good ?? true) },
  ].filter((group) => judged || group.key === "target");
  const threshold = measure.minimum ?? measure.maximum;
  const blind = round().chance_privacy;
  const marked = [
    ...(isNumber(threshold) ? [{ xAxis: threshold, label: { formatter: `${t("threshold")} ${short(threshold)}`, position: "end", rotate: 0 } }] : []),
    ...(isNumber(blind) ? [{ yAxis: blind, label: { formatter: t("blind"), position: "insideStartTop" } }] : []),
  ];
  const sweeps = {};
  all.forEach((point) => { const name = playerOf(point.target)?.sweep; if (name) (sweeps[name] ??= []).push(point); });
  const point = (item) => ({ value: [item.x, item.y], point: item });
  const narrow = element.clientWidth < 600;
  draw(element, {
    legend: { top: 0, right: 0, textStyle: { color: colour("dim") }, type: "scroll", width: "60%" },
    tooltip: {
      ...tooltip(),
      formatter: ({ data: item }) => item?.point ? tip(label(item.point.target), [
        methodOf(item.point.target),
        `${measure.name}: ${short(item.point.x)}` + (item.point.xInterval ? ` (${short(item.point.xInterval[0])}–${short(item.point.xInterval[1])})` : ""),
        `${t("privacy_" + state.privacy)}: ${percent(item.point.y)}`,
        release(item.point.target).best_attack && `${t("best_attack")}: ${label(release(item.point.target).best_attack)}`,
        verdict(item.point.target) && word(verdict(item.point.target).key),
      ]) : "",
    },
    grid: { left: 20, right: narrow ? 20 : 40, top: 66, bottom: 45, containLabel: true },
    xAxis: { type: "value", scale: true, ...(isNumber(threshold) ? { min: ({ min }) => (threshold < min ? threshold : null), max: ({ max }) => (threshold > max ? threshold : null) } : {}), name: measure.name, nameLocation: "middle", nameGap: 32, ...axisStyle() },
    yAxis: {
      type: "value", scale: true, name: t("privacy_" + state.privacy), nameLocation: "end", nameGap: 28, ...axisStyle(),
      nameTextStyle: { color: colour("dim"), align: "left" }, axisLabel: { color: colour("dim"), formatter: (value) => percent(value, 3) },
    },
    series: [
      {
        type: "line", name: t("frontier_line"), step: measure.higher_is_better ? "start" : "end", symbol: "none", data: best.map((item) => [item.x, item.y]), silent: true,
        lineStyle: { color: colour("green"), width: 2 }, itemStyle: { color: colour("green") },
        markLine: { symbol: "none", silent: true, data: marked, lineStyle: { color: colour("dim"), type: "dashed" }, label: { color: colour("dim") } },
      },
      ...Object.entries(sweeps).map(([name, listed], number) => ({
        type: "line", name: t("sweep", { name }), symbol: "none", silent: true, data: listed.sort((a, b) => a.x - b.x).map((item) => [item.x, item.y]),
        lineStyle: { color: colour(SWEEPS[number % SWEEPS.length][0]), width: 2, type: SWEEPS[number % SWEEPS.length][1] },
        itemStyle: { color: colour(SWEEPS[number % SWEEPS.length][0]) },
      })),
      ...groups.map((group) => ({
        type: "scatter", name: word(group.key), symbol: group.symbol, symbolSize: 13, data: all.filter(group.keep).map(point),
        itemStyle: { color: colour(group.colour), borderColor: colour("panel"), borderWidth: 1.5 },
        label: narrow ? { show: false } : { show: true, position: "right", color: colour("dim"), fontSize: 11, formatter: ({ data: item }) => item.point.target },
        labelLayout: { hideOverlap: true, moveOverlap: "shiftY" },
      })),
    ],
  });
}
