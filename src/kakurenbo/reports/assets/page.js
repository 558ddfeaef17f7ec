"use strict";
// Language and colours of every report: the page is made in every language, and one of them is shown.
const remembered = (key) => {
  try { return localStorage.getItem("kakurenbo-" + key); } catch { return null; }
};
const remember = (key, value) => {
  try { localStorage.setItem("kakurenbo-" + key, value); } catch { /* a page from a file may have no storage */ }
};
const pages = [...document.querySelectorAll("[data-language]")];
const darkScreen = matchMedia("(prefers-color-scheme: dark)");
const made = document.documentElement.lang;
const state = {
  language: remembered("language") ?? (made !== "en" ? made : (navigator.language || "en").slice(0, 2)),
  theme: remembered("theme") ?? "auto",
};
if (!pages.some((page) => page.dataset.language === state.language)) state.language = "en";

function show() {
  document.documentElement.lang = state.language;
  document.documentElement.dataset.theme = state.theme === "auto" ? (darkScreen.matches ? "dark" : "light") : state.theme;
  pages.forEach((page) => { page.hidden = page.dataset.language !== state.language; });
  document.querySelectorAll("[data-choice]").forEach((button) => {
    const [key, value] = button.dataset.choice.split(":");
    button.setAttribute("aria-pressed", String(state[key] === value));
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choice]");
  if (!button) return;
  const [key, value] = button.dataset.choice.split(":");
  state[key] = value;
  remember(key, value);
  show();
  document.querySelector(`[data-language="${state.language}"] [data-choice="${key}:${value}"]`)?.focus({ preventScroll: true });
});
darkScreen.addEventListener("change", show);
show();
document.documentElement.dataset.ready = "true";
