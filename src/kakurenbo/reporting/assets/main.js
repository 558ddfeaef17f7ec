"use strict";
// Puts the page together, and again whenever language, theme, round or a choice changes.

const darkScreen = matchMedia("(prefers-color-scheme: dark)");
darkScreen.addEventListener("change", () => { if (state.theme === "auto") render(); });
const SECTIONS = ["standings", "heatmap", "frontier", "teams", "problems", "manifest"];
// A disc that is half dark, a sun, a moon.
const THEME_SIGNS = {
  auto: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1ZM8 2.5v11a5.5 5.5 0 0 1 0-11Z",
  light: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM7.3 0h1.4v3H7.3ZM7.3 13h1.4v3H7.3ZM0 7.3h3v1.4H0ZM13 7.3h3v1.4h-3ZM1.9 2.8l.9-.9 2 2-.9.9ZM11.2 12.1l.9-.9 2 2-.9.9ZM1.9 13.2l2-2 .9.9-2 2ZM11.2 3.9l2-2 .9.9-2 2Z",
  dark: "M6.2 1.2A7 7 0 1 0 14.8 10 5.8 5.8 0 0 1 6.2 1.2Z",
};
let drawCharts = () => {};

function header() {
  const { name, title } = results.rulebook;
  const held = results.manifest.contest?.title; // a contest that people held has a name of its own
  const saved = el("details", { class: "menu" }, el("summary", {}, t("save")), el("div", {},
    el("button", { type: "button", id: "download-csv", onclick: () => download(`${name}-results.csv`, "text/csv", csv) }, t("csv")),
    el("button", { type: "button", id: "download-json", onclick: () => download(`${name}-results.json`, "application/json", JSON.stringify(results, null, 1)) }, t("json")),
    el("button", { type: "button", id: "print", onclick: () => print() }, t("print"))));
  return el("header", {}, el("div", { class: "wide" },
    el("div", { class: "bar" },
      el("div", { class: "names" }, el("h1", {}, held ?? name, " ", el("small", {}, held ? name : t("report"))), el("p", {}, word(title))),
      el("div", { class: "controls" },
        segments("language", [["en", "English"], ["ja", "日本語"]], t("language")),
        segments("theme", ["auto", "light", "dark"].map((theme) => [theme, svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: THEME_SIGNS[theme], fill: "currentColor", "fill-rule": "evenodd" })), t("theme_" + theme)]), t("theme")), saved)),
    results.rounds.length > 1 ? el("p", {}, segments("round", results.rounds.map((one, number) => [number, word(one.name)]), t("round"))) : null,
    hero(),
    round().report.data ? el("p", { class: "data" }, `${t("data")}: ${word(round().report.data)}`) : null));
}

function render() {
  const opened = [...document.querySelectorAll("main details[open][id]")].map((element) => element.id);
  const focused = document.activeElement?.dataset?.choice;
  const scrolled = scrollY;
  document.documentElement.lang = state.language;
  document.documentElement.dataset.theme = state.theme === "auto" ? (darkScreen.matches ? "dark" : "light") : state.theme;
  hideTip();
  const [heat, drawHeat] = targets().length ? heatmapSection() : [null, () => {}];
  const [frontier, drawFrontier] = frontierSection();
  const sections = [standings(), heat, frontier, teamsSection(), problemsSection(), manifestSection()].filter(Boolean);
  document.getElementById("app").replaceChildren(
    header(),
    el("nav", { "aria-label": t("sections") }, el("div", {}, SECTIONS.filter((id) => sections.some((section) => section.id === id)).map((id) => el("a", { href: `#${id}` }, t(id))))),
    el("main", {}, sections, el("footer", {}, `kakurenbo ${results.manifest.versions?.kakurenbo ?? ""}`)), tipBox);
  opened.forEach((id) => { const element = document.getElementById(id); if (element) element.open = true; });
  drawCharts = () => { drawHeat(); drawFrontier(); };
  drawCharts();
  scrollTo(0, scrolled);
  if (focused) document.querySelector(`[data-choice="${focused}"]`)?.focus({ preventScroll: true });
}

function openTarget() {
  const element = location.hash.startsWith("#team-") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (element) { element.open = true; element.scrollIntoView(); }
}
addEventListener("hashchange", openTarget);

let drawnWidth = 0;
addEventListener("resize", () => {
  if (innerWidth === drawnWidth) return; // a phone's bar that comes and goes
  drawnWidth = innerWidth;
  drawCharts();
});
// On paper nothing scrolls and nothing opens.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("#teams > details:not([open])")];
  unfolded.forEach((element) => { element.open = true; });
  state.zoom = "fit";
  drawCharts();
});
addEventListener("afterprint", () => {
  unfolded.forEach((element) => { element.open = false; });
  state.zoom = 1;
  drawCharts();
});

render();
openTarget();
document.documentElement.dataset.ready = "true";
