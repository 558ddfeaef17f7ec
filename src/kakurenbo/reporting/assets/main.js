"use strict";
// Puts the page together, and again whenever language, theme, round or a choice changes.

const darkScreen = matchMedia("(prefers-color-scheme: dark)");
darkScreen.addEventListener("change", () => { if (state.theme === "auto") render(); });

function header() {
  const { name, title } = results.rulebook;
  return el("header", {}, el("div", { class: "wide" },
    el("div", { class: "bar" },
      el("div", {}, el("h1", {}, `${name} · ${t("report")}`), el("p", {}, title), round().report.data ? el("p", {}, `${t("data")}: ${round().report.data}`) : null),
      el("div", { class: "controls" },
        segments("language", [["en", "English"], ["ja", "日本語"]]),
        segments("theme", ["auto", "light", "dark"].map((theme) => [theme, t("theme_" + theme)])),
        el("button", { type: "button", id: "download-csv", onclick: () => download(`${name}-results.csv`, "text/csv", csv) }, `↓ ${t("csv")}`),
        el("button", { type: "button", id: "download-json", onclick: () => download(`${name}-results.json`, "application/json", JSON.stringify(results, null, 1)) }, `↓ ${t("json")}`))),
    results.rounds.length > 1 ? el("p", {}, `${t("round")} `, segments("round", results.rounds.map((one, number) => [number, one.name]))) : null,
    cards()));
}

function render() {
  const opened = [...document.querySelectorAll("#teams details[open]")].map((element) => element.id);
  const scrolled = scrollY;
  document.documentElement.lang = state.language;
  document.documentElement.dataset.theme = state.theme === "auto" ? (darkScreen.matches ? "dark" : "light") : state.theme;
  dropCharts();
  const [heat, drawHeat] = heatmapSection();
  const [frontier, drawFrontier] = frontierSection();
  const links = ["standings", "heatmap", "frontier", "teams", "problems", "manifest"];
  document.getElementById("app").replaceChildren(
    header(),
    el("nav", {}, el("div", {}, links.map((id) => el("a", { href: `#${id}` }, t(id))))),
    el("main", {}, standings(), heat, ...(frontier ? [frontier] : []), teamsSection(), problemsSection(), manifestSection(),
      el("footer", {}, `kakurenbo ${results.manifest.versions?.kakurenbo ?? ""}`)));
  opened.forEach((id) => { const element = document.getElementById(id); if (element) element.open = true; });
  drawHeat();
  drawFrontier();
  scrollTo(0, scrolled);
}

function openTarget() {
  const element = location.hash.startsWith("#team-") && document.getElementById(location.hash.slice(1));
  if (element) { element.open = true; element.scrollIntoView(); }
}
addEventListener("hashchange", openTarget);
render();
openTarget();
document.documentElement.dataset.ready = "true";
