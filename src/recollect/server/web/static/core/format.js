// Values as people read them.

/** Milliseconds. */
export const DAY = 86_400_000;
const UNITS = [
  ["year", 365.25 * DAY], ["month", 30.44 * DAY], ["week", 7 * DAY], ["day", DAY], ["hour", 3_600_000],
  ["minute", 60_000],
];
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const NUMBER = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact" });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const DATE_UTC = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** How long ago, or in how long: "3 months ago". */
export function age(at, now = Date.now()) {
  const past = new Date(at) - now;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(past) >= length) ?? ["second", 1000];
  return unit === "second" ? "just now" : RELATIVE.format(Math.round(past / length), unit);
}

export const day = (at) => (at ? DATE.format(new Date(at)) : "");
export const moment = (at) => (at ? TIME.format(new Date(at)) : "");
/** A day that is counted in UTC, such as 2024-05-01: it is called the same wherever the browser is. */
export const dayUtc = (at) => DATE_UTC.format(new Date(at));
/** The day of a time, as 2024-05-01. */
export const isoDay = (at) => new Date(at).toISOString().slice(0, 10);

/**
 * What a field for a day or a moment has, where the browser is, as the API takes it; `days` later where a day that
 * somebody chose is part of what is meant.
 */
export function instant(value, days = 0) {
  if (!value) return undefined;
  const at = new Date(value.length === 10 ? `${value}T00:00` : value);
  at.setDate(at.getDate() + days);
  return at.toISOString();
}

export const number = (value) => NUMBER.format(value);
export const short = (value) => SHORT.format(value);
export const percent = (value) => `${Math.round(value * 100)} %`;
export const milliseconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

/** "1 turn", "2 turns". */
export function counted(count, noun, many = `${noun}s`) {
  return `${number(count)} ${count === 1 ? noun : many}`;
}

/** "Facts" for "facts". */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const HIDDEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e"
  + "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]", "gu");

/** Text with characters that are not seen, or that turn around what is, written out. */
export function visible(text) {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${code}⟩`;
  });
}
