"use strict";
// What all charts use: SVG elements made of text only, room for texts, ticks, colours, and pictures to save.
// kakurenbo.reporting.drawing draws by the same rules without a browser.

const SVG = "http://www.w3.org/2000/svg";
// Cividis: the same order of brightness for every kind of colour vision, and in grey.
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** What stays together where a text is broken: a word, or a wide sign; with what closes it and the blanks behind it. */
const PIECE = /(?:[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|[^\s\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]+)[、。，．：；）」]*\s*|\s+/gu;
// What no picture may hold: signs that XML forbids, and those that turn the direction of what follows.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu;

/** An SVG element; children are nodes or texts. */
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, typeof value === "number" ? String(rounded(value)) : printable(String(value)));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => typeof child === "string" ? printable(child) : child));
  return element;
}
const rounded = (value) => Math.round(value * 100) / 100;
const printable = (text) => text.replace(UNPRINTABLE, "\ufffd");
const moved = (x, y, ...children) => svg("g", { transform: `translate(${rounded(x)},${rounded(y)})` }, ...children);

/** The room that a text takes at most, whatever the font. */
const textWidth = (text, size = 12) => [...text].reduce((sum, sign) => sum + (WIDE.test(sign) ? 1.02 : 0.64), 0) * size;
/** A text that takes no more room than there is: shortened in the middle, because names often differ at the end. */
function clipped(text, room, size = 12) {
  if (textWidth(text, size) <= room) return text;
  const signs = [...text];
  for (let kept = signs.length - 1; kept > 1; kept--) {
    const head = Math.floor((3 * kept + 4) / 5);
    const shown = `${signs.slice(0, head).join("").trimEnd()}…${signs.slice(signs.length - kept + head).join("").trimStart()}`;
    if (textWidth(shown, size) <= room) return shown;
  }
  return `${signs[0]}…`;
}
/** A text in lines that take no more room than there is: broken between words, and where a script has none between signs. */
function wrapped(text, room, size = 12) {
  const lines = [""];
  for (const piece of text.match(PIECE) ?? []) {
    if (lines.at(-1) && textWidth(lines.at(-1) + piece.trimEnd(), size) > room) lines.push("");
    lines[lines.length - 1] += piece;
  }
  return lines.map((line) => clipped(line.trim(), room, size));
}

/** Round numbers from low to high, about `count` of them. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) + (Math.abs(step / power - 2.5) < 1e-9 ? 1 : 0);
  const found = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number++) found.push({ value: number * step, text: (number * step).toFixed(digits) });
  return found;
}

/** The colour of a share of the scale, from 0 to 1. */
function ramp(share) {
  const place = Math.min(1, Math.max(0, share)) * (CIVIDIS.length - 1);
  const left = Math.min(CIVIDIS.length - 2, Math.floor(place));
  const channel = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(channel(CIVIDIS[left], at) + (place - left) * (channel(CIVIDIS[left + 1], at) - channel(CIVIDIS[left], at))));
  return "#" + mixed.map((part) => part.toString(16).padStart(2, "0")).join("");
}
const onRamp = (share) => share > 0.55 ? "on-bright" : "on-dark";

/**
 * Places for labels beside their points so that none covers another, a point or the edge.
 * Lines run through a label only where there is no other place for it.
 * points: [{ x, y, text }]; rooms: boxes that are taken already; lines: [x, y, x end, y end];
 * gives [{ x, y, lead }] or null where there is no room, in the same order.
 */
function placedLabels(points, box, rooms, lines, size = 11) {
  const [taken, names, drawn] = [[...rooms, ...points.map(aroundPoint)], [...rooms], [...lines]];
  const covered = (room) => room[0] < box[0] || room[1] < box[1] || room[2] > box[2] || room[3] > box[3] || taken.some((other) => overlap(room, other));
  return points.map(({ x, y, text }) => {
    const [width, height] = [textWidth(text, size), size + 3];
    for (const strict of [true, false]) {
      for (const [across, down, radius] of STEPS) {
        const left = x + across * radius - (across < 0 ? width : across > 0 ? 0 : width / 2);
        const middle = y + down * radius + down * height / 2;
        const room = [left, middle - height / 2, left + width, middle + height / 2];
        const end = across < 0 ? left + width : across > 0 ? left : left + width / 2;
        const edge = across === 0 ? middle - Math.sign(down) * height / 2 : middle;
        const lead = radius > 16 ? [x, y, end, edge] : null;
        if (covered(room) || (strict && (drawn.some((line) => crosses(line, room)) || (lead && names.some((name) => crosses(lead, name)))))) continue;
        taken.push(room);
        names.push(room);
        if (lead) drawn.push(lead);
        return { x: end, y: middle + size * 0.36, anchor: across < 0 ? "end" : across > 0 ? "start" : "middle", lead };
      }
    }
    return null;
  });
}
/** Whether a straight line, from its first point to its last, runs through a box. */
function crosses([x, y, xEnd, yEnd], room) {
  let [start, end] = [0, 1];
  for (const [at, change, low, high] of [[x, xEnd - x, room[0], room[2]], [y, yEnd - y, room[1], room[3]]]) {
    if (change === 0) {
      if (!(low < at && at < high)) return false;
    } else {
      const sides = [(low - at) / change, (high - at) / change];
      [start, end] = [Math.max(start, Math.min(...sides)), Math.min(end, Math.max(...sides))];
    }
  }
  return start < end;
}
const aroundPoint = ({ x, y }) => [x - 6, y - 6, x + 6, y + 6];
const overlap = (one, other) => one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];
const DIRECTIONS = [[1, 0], [-1, 0], [0, -1], [0, 1], [0.8, -0.7], [0.8, 0.7], [-0.8, -0.7], [-0.8, 0.7], [0.4, -0.95], [0.4, 0.95], [-0.4, -0.95], [-0.4, 0.95]];
const STEPS = [9, 16, 26, 38, 52, 70, 92, 120].flatMap((radius) => DIRECTIONS.map(([across, down]) => [across, down, radius]));

// -- pictures to save ---------------------------------------------------------------------------------------------------

/** A drawing as a picture that stands alone: title, notes below it, ground, and the colours of the moment. */
function picture(drawing, title, notes) {
  const { width, height, content } = drawing;
  const lines = notes.flatMap((note) => wrapped(note, width, 11));
  const top = 42 + 16 * lines.length;
  const whole = svg("svg", { xmlns: SVG, class: "figure", width: width + 32, height: height + top + 16, viewBox: `0 0 ${rounded(width + 32)} ${rounded(height + top + 16)}` },
    svg("title", {}, title), svg("style", {}, resolvedStyle()), svg("rect", { class: "ground", width: "100%", height: "100%" }),
    svg("text", { class: "title", x: 16, y: 28 }, clipped(title, width, 17)), lines.map((line, number) => svg("text", { class: "dim small", x: 16, y: 46 + 16 * number }, line)),
    moved(16, top, content));
  whole.querySelectorAll("[tabindex]").forEach((element) => element.removeAttribute("tabindex"));
  return whole;
}
function resolvedStyle() {
  const palette = palettes[document.documentElement.dataset.theme];
  return document.getElementById("figure-style").textContent.replace(/var\(--([\w-]+)\)/g, (_, name) => palette[name]);
}
const svgText = (element) => `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(element)}\n`;

function savePng(name, element) {
  const [width, height] = ["width", "height"].map((side) => Number(element.getAttribute(side)));
  const scale = Math.max(1, Math.min(2, 8000 / Math.max(width, height)));
  const image = new Image();
  image.onload = () => {
    const canvas = el("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveBlob(`${name}.png`, blob), "image/png");
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(element));
}

/** The buttons of a chart; `make` gives its picture at the moment of the click. */
function saveButtons(name, make) {
  const file = `${results.rulebook.name}-${name}`;
  return el("span", { class: "tools" },
    el("button", { type: "button", class: "small", "data-save": `${name}-svg`, title: t("save_svg"), onclick: () => download(`${file}.svg`, "image/svg+xml", svgText(make())) }, "↓ SVG"),
    el("button", { type: "button", class: "small", "data-save": `${name}-png`, title: t("save_png"), onclick: () => savePng(file, make()) }, "↓ PNG"));
}

// -- what is under the pointer ------------------------------------------------------------------------------------------

const tipBox = el("div", { id: "tip", role: "status", hidden: true });
const tips = new WeakMap();
/** Say what is shown beside an element while the pointer or the keyboard is on it. */
function withTip(element, title, lines) {
  tips.set(element, () => [el("b", {}, title), ...lines().filter(Boolean).map((line) => el("div", {}, line))]);
  element.setAttribute("data-tip", "");
  return element;
}
function showTip(event) {
  const element = event.target.closest?.("[data-tip]");
  if (!element || !tips.has(element)) return hideTip();
  tipBox.replaceChildren(...tips.get(element)());
  tipBox.hidden = false;
  const at = element.getBoundingClientRect();
  const { width, height } = tipBox.getBoundingClientRect();
  tipBox.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, at.left + at.width / 2 - width / 2))}px`;
  tipBox.style.top = `${at.top > height + 16 ? at.top - height - 8 : Math.min(innerHeight - height - 8, at.bottom + 8)}px`;
}
function hideTip() { tipBox.hidden = true; }
for (const event of ["pointerover", "focusin", "click"]) addEventListener(event, showTip);
addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
addEventListener("scroll", hideTip, { passive: true });
