"use strict";
// Figures as people read them, by the rules of kakurenbo.reporting.numbers: a table of cases holds the two together.

const DECIMALS = { share: 1, count: 1, points: 2, similarity: 3, distance: 3, number: 3 };
const MOST_DECIMALS = 9;
const NEGLIGIBLE = 1e-9;

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** A figure of a kind, with half its interval where it has one; with so many decimals instead of the unit's where they are given. */
function figure(value, unit = "number", half = null, decimals = null) {
  if (!isNumber(value)) return String(value);
  const [scale, sign] = unit === "share" ? [100, " %"] : [1, ""];
  const scaledValue = scale * value;
  const plain = fixed(scaledValue, decimals ?? decimalsOf(scaledValue, unit));
  if (!isNumber(half)) return plain + sign;
  const spread = scale * half;
  if (spread <= NEGLIGIBLE * Math.max(1, Math.abs(scaledValue))) return `${plain} ± 0${sign}`;
  return `${fixed(scaledValue, placesOf(spread))} ± ${fixed(spread, placesOf(spread))}${sign}`;
}
/** A share in percent; a dash for none. */
const share = (value, half = null) => isNumber(value) ? figure(value, "share", half) : "–";
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

/** Those of the unit; none for whole counts and plain numbers; more where a small figure would be shown as 0. */
function decimalsOf(value, unit) {
  if ((unit === "count" || unit === "number") && (Number.isInteger(value) || Math.abs(value) >= 1000)) return 0;
  const least = DECIMALS[unit];
  const vanishes = Math.abs(value) > NEGLIGIBLE && Math.abs(value) < 0.5 * 10 ** -least;
  return vanishes ? placesOf(Math.abs(value)) : least;
}
/** Decimals that show two digits of a figure above 0. */
function placesOf(value) {
  const exponent = Number(value.toExponential(1).split("e")[1]);
  return Math.min(MOST_DECIMALS, Math.max(0, 1 - exponent));
}
function fixed(value, decimals) {
  const text = value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return /[1-9]/.test(text) ? text : text.replace("-", "");
}
/** A share as it stands in a small cell: percent without the sign. */
const bare = (value) => 100 * value >= 9.95 ? (100 * value).toFixed(0) : String(Number((100 * value).toFixed(1)));
