"use strict";
// Tables that sort, files to save, and teams that open; the page itself is made by Python.

const files = JSON.parse(document.getElementById("files").textContent);

/** What a cell sorts by and is saved as: a number where it is one. */
function valueOf(cell) {
  const text = cell.dataset.value ?? cell.textContent.trim();
  if (text === "" || text === "–") return null;
  return cell.dataset.value !== undefined && Number.isFinite(Number(text)) ? Number(text) : text;
}
function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), document.documentElement.lang, { numeric: true });
}
function sort(head) {
  const table = head.closest("table");
  const [body, place] = [table.tBodies[0], head.cellIndex];
  const up = head.getAttribute("aria-sort") !== "ascending";
  table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  body.append(...[...body.rows].sort((a, b) => (up ? 1 : -1) * compare(valueOf(a.cells[place]), valueOf(b.cells[place]))));
}

/** A table as CSV; a text that a spreadsheet would take for a formula begins with an apostrophe. */
const harmless = (text) => /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
function tableCsv(table) {
  const plain = (value) => typeof value === "number" ? String(value) : harmless(value ?? "");
  const quoted = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = [...table.rows].map((row) => [...row.cells].map((cell) => quoted(plain(valueOf(cell)))).join(",") + "\r\n");
  return "\ufeff" + lines.join(""); // the mark at the beginning tells spreadsheets that it is UTF-8
}
function save(name, content) {
  const type = { csv: "text/csv", json: "application/json", svg: "image/svg+xml" }[name.split(".").at(-1)];
  const link = document.createElement("a");
  Object.assign(link, { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const resultsJson = () => JSON.stringify(JSON.parse(document.getElementById("results").textContent), null, 1);

addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { file, save: csv, table, open } = button.dataset;
  if (button.parentElement.matches("thead th")) sort(button.parentElement);
  else if (file) save(file, files[file] ?? resultsJson());
  else if (csv) save(csv, tableCsv(table ? document.getElementById(table) : button.closest(".sheet").querySelector("table")));
  else if (open !== undefined) button.closest("section").querySelectorAll(":scope > details").forEach((one) => { one.open = open === "all"; });
  else if (button.dataset.print !== undefined) print();
});

// Cells know their column: where there is no room for columns they stand below each other with its title.
for (const table of document.querySelectorAll("table.stacking")) {
  const heads = [...table.tHead.rows[0].cells];
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, at) => {
      Object.assign(cell.dataset, { title: heads[at].textContent, place: heads[at].dataset.place });
      cell.classList.toggle("number", heads[at].classList.contains("number"));
      cell.classList.toggle("mono", heads[at].dataset.mono !== undefined);
      cell.classList.toggle("nothing-here", ["", "–"].includes(cell.textContent.trim()));
      cell.setAttribute("role", "cell");
    });
    row.setAttribute("role", "row");
  }
  table.setAttribute("role", "table");
}

function openTarget() {
  const element = location.hash.startsWith("#team-") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (element) { element.open = true; element.scrollIntoView(); }
}
addEventListener("hashchange", openTarget);
openTarget();
// On paper nothing opens.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll(".teams > details:not([open])")];
  unfolded.forEach((element) => { element.open = true; });
});
addEventListener("afterprint", () => unfolded.forEach((element) => { element.open = false; }));
