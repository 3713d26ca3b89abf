// A slider over days: what held then. Keys move it by a day; the buttons go from one change to the next.

import { h, refill } from "../../core/dom.js";
import { DAY, dayUtc, isoDay } from "../../core/format.js";

const TICKS = 40;

/** A time as the number of its day (UTC). */
export const dayOf = (at) => Math.floor(new Date(at).getTime() / DAY);
const written = (number) => dayUtc(number * DAY);

/**
 * The slider, from the `first` day on up to today, or to the last of the `changes`, which are days (numbers). It
 * stands at `value`, a date, or today. `changed(date)` is told where it is moved to, with null for today.
 */
export function moments({ first, changes, value, changed }) {
  const today = dayOf(Date.now());
  const days = [...new Set(changes)].sort((one, other) => one - other);
  const last = Math.max(today, ...days);
  const chosen = value ? dayOf(value) : today;
  const begin = Math.min(first, chosen, today - 1);
  const range = h("input", { type: "range", min: begin, max: last, step: 1, list: "changes", "aria-label": "As of",
    value: String(chosen), oninput: () => set(range.valueAsNumber) });
  const shown = h("output.as-of");
  const button = (text, onclick) => h("button", { type: "button", onclick }, text);
  const back = button("‹ Earlier change", () => set(days.findLast((day) => day < range.valueAsNumber) ?? begin));
  const on = button("Later change ›", () => set(days.find((day) => day > range.valueAsNumber) ?? last));
  const now = button("Today", () => set(today));

  function tell() {
    const number = range.valueAsNumber;
    const text = number === today ? "today" : written(number);
    range.setAttribute("aria-valuetext", text);
    refill(shown, "As of ", h("b", text));
    back.disabled = number <= begin;
    on.disabled = number >= last;
    now.disabled = number === today;
  }

  function set(number) {
    range.value = String(number);
    tell();
    changed(number === today ? null : isoDay(number * DAY));
  }

  tell();
  const ticks = h("datalist", { id: "changes" }, days.slice(-TICKS).map((day) => h("option", { value: String(day) })));
  return h("div.moments", h("div.row", shown, back, on, now), range, ticks,
    h("div.ends.quiet", h("span", written(begin)), h("span", last === today ? "Today" : written(last))));
}
