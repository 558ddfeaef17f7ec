"use strict";
// Small helps on every page: the viewer's own time, counting down, copying. Pages work without them.

const language = document.documentElement.lang;

function addViewersTime(root) {
  const clock = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const plain = new Intl.DateTimeFormat("en", { month: "numeric", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const wall = (moment) => Object.fromEntries(plain.formatToParts(moment).map((part) => [part.type, part.value]));
  for (const time of root.querySelectorAll("time[data-yours]")) {
    const moment = new Date(time.dateTime);
    const parts = wall(moment);
    const shown = time.textContent.match(/(\d\d):(\d\d)/);
    if (shown && parts.hour === shown[1] && parts.minute === shown[2]) continue; // the same clock
    const yours = document.createElement("span");
    yours.className = "yours";
    yours.textContent = ` (${time.dataset.yours} ${clock.format(moment)})`;
    time.after(yours);
    time.removeAttribute("data-yours");
  }
}

function inWords(seconds, words) {
  const [days, hours, minutes, rest] = words.split("|");
  const counts = [[Math.floor(seconds / 86400), days], [Math.floor(seconds / 3600) % 24, hours], [Math.floor(seconds / 60) % 60, minutes], [Math.floor(seconds) % 60, rest]];
  const first = Math.min(3, Math.max(0, counts.findIndex(([count]) => count > 0)));
  const start = counts.some(([count]) => count > 0) ? first : 3;
  return counts.slice(start, start + 2).map(([count, word]) => word.replace("#", count)).join(" ");
}

function countDown() {
  for (const place of document.querySelectorAll("[data-until]")) {
    const left = (new Date(place.dataset.until) - Date.now()) / 1000;
    place.textContent = inWords(Math.max(0, left), place.dataset.words);
    if (left < -1 && left > -4) setTimeout(() => location.reload(), 2000); // what was awaited has come
  }
}

function hideLeftOutRounds() {
  for (const tick of document.querySelectorAll('input[name="played"]')) {
    for (const phase of document.querySelectorAll("fieldset[data-round]")) {
      if (phase.dataset.round === tick.value) phase.hidden = phase.disabled = !tick.checked; // what is hidden is not asked for
    }
  }
}

document.addEventListener("change", (event) => {
  if (event.target.name === "played") hideLeftOutRounds();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  event.preventDefault();
  const place = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(place.textContent);
    button.textContent = button.dataset.done;
  } catch {
    getSelection().selectAllChildren(place); // where a browser gives no clipboard, it is ready to be copied by hand
  }
});

// Parts that come anew say what has changed in a place of their own: once, and only if it has.
const told = new Map();

function sayChanges() {
  for (const part of document.querySelectorAll("[data-say][id]")) {
    const words = part.dataset.say;
    if (told.has(part.id) && told.get(part.id) !== words) document.getElementById("say").textContent = words;
    told.set(part.id, words);
  }
}

function chooseOwnZone() {
  const list = document.querySelector("select[data-own-zone]");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (list && [...list.options].some((option) => option.value === own)) list.value = own;
}

function sayZone() {
  const zone = document.getElementById("id_zone")?.value;
  if (zone) for (const place of document.querySelectorAll("label[for$=s_at] .key")) place.textContent = zone;
}

document.addEventListener("htmx:afterSwap", () => { addViewersTime(document); sayChanges(); });
// While somebody is asked to confirm, the question is not taken from under their hands.
document.addEventListener("htmx:beforeRequest", (event) => { if (event.target.querySelector("details.confirm[open]")) event.preventDefault(); });
addViewersTime(document);
hideLeftOutRounds();
sayChanges();
chooseOwnZone();
sayZone();
document.getElementById("id_zone")?.addEventListener("change", sayZone);
document.querySelector(".problems[autofocus]")?.focus();
setInterval(countDown, 1000);
