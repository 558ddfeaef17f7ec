"use strict";
// Figures as people read them, by the rules of kakurenbo.reporting.numbers: a table of cases holds the two together.

const DECIMALS = { share: 1, count: 1, points: 2, similarity: 3, distance: 3, number: 3 };
const MOST_DECIMALS = 9;
const NEGLIGIBLE = 1e-9;

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** A figure of a kind; with so many decimals instead of the unit's where they are given. */
function figure(value, unit = "number", decimals = null) {
  if (!isNumber(value)) return String(value);
  const [scale, sign] = scaleOf(unit);
  return single(scale * value, unit, decimals) + sign;
}
/** A mean over repeats with its interval, which stays in the range of the figure; a plain figure without repeats. */
function estimated(found, unit = "number") {
  if (!isNumber(found.half)) return figure(found.mean, unit);
  const [scale, sign] = scaleOf(unit);
  const [mean, half] = [scale * found.mean, scale * found.half];
  const least = NEGLIGIBLE * Math.max(1, Math.abs(mean));
  if (half <= least) return t("agreed", { value: figure(found.mean, unit), count: found.n });
  const [low, high] = [isNumber(found.low) ? scale * found.low : mean - half, isNumber(found.high) ? scale * found.high : mean + half];
  const places = placesOf(half);
  if (Math.max(low - (mean - half), mean + half - high) <= least) return `${fixed(mean, places)} ± ${fixed(half, places)}${sign}`;
  return t("range", { value: fixed(mean, places) + sign, low: fixed(low, places), high: fixed(high, places) });
}
/** What a figure is multiplied by and followed by. */
const scaleOf = (unit) => unit === "share" ? [100, " %"] : [1, ""];
/** A share in percent; a dash for none. */
const share = (value) => isNumber(value) ? figure(value, "share") : "–";
/** A count, or the mean of counts. */
const count = (value) => figure(value, "count");

/** The decimals that a figure and its threshold need so that rounding does not lift one over the other. */
function decimalsAgainst(value, threshold, isMinimum, unit) {
  let places = DECIMALS[unit];
  if (!isNumber(value)) return places;
  const met = (figure) => isMinimum ? figure >= threshold : figure <= threshold;
  while (places < MOST_DECIMALS && met(Number(value.toFixed(places))) !== met(value)) places++;
  return places;
}

/** A value of no declared kind: whole numbers whole, lists and mappings in words. */
function shownValue(value) {
  if (isNumber(value)) return figure(value);
  if (Array.isArray(value)) return value.map(shownValue).join(" × ");
  if (value && typeof value === "object") return Object.entries(value).map(([key, part]) => `${word(key)} ${shownValue(part)}`).join(", ");
  return value === null || value === undefined ? "–" : String(value);
}

/** A figure without an interval: with the decimals of its unit, and more where a small one would be shown as 0. */
function single(value, unit, decimals) {
  if (decimals !== null) return fixed(value, decimals);
  const whole = Math.abs(value - Math.round(value)) <= NEGLIGIBLE * Math.max(1, Math.abs(value)) || Math.abs(value) >= 1000;
  if ((unit === "count" || unit === "number") && whole) return fixed(value, 0);
  if (unit === "number") return fixed(value, placesOf(Math.abs(value), 4)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  const least = DECIMALS[unit];
  const vanishes = Math.abs(value) > NEGLIGIBLE && Math.abs(value) < 0.5 * 10 ** -least;
  return fixed(value, vanishes ? placesOf(Math.abs(value)) : least);
}
/** Decimals that show so many digits of a figure above 0. */
function placesOf(value, digits = 2) {
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  return Math.min(MOST_DECIMALS, Math.max(0, digits - 1 - exponent));
}
function fixed(value, decimals) {
  const [whole, rest] = toEven(Math.abs(value), decimals).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? `.${rest}` : "");
  return value < 0 && /[1-9]/.test(text) ? `-${text}` : text;
}
/** Rounded as Python does: what lies exactly between two goes to the even one, and only binary fractions can lie there. */
function toEven(value, decimals) {
  const halves = value * 2 ** (decimals + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(decimals);
  const below = Math.floor(value * 10 ** decimals);
  return ((below % 2 ? below + 1 : below) / 10 ** decimals).toFixed(decimals);
}
/** A share as it stands in a small cell: percent without the sign. */
const bare = (value) => 100 * value >= 9.95 ? fixed(100 * value, 0) : fixed(100 * value, 1).replace(/\.0$/, "");
