// Times as people say them.

const UNITS = [
  ["year", 365 * 86400],
  ["month", 30 * 86400],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { style: "narrow" });
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** Show a time in a `<time>`. @param {HTMLTimeElement} element @param {number} seconds since 1970 */
export function showTime(element, seconds, now = Date.now() / 1000) {
  const date = new Date(seconds * 1000);
  const valid = !Number.isNaN(date.getTime()); // a Date ends in the year 275760, a score's time may not
  if (valid) {
    element.dateTime = date.toISOString();
    element.title = absolute.format(date);
  }
  element.textContent = valid ? said(seconds - now) : "";
}

function said(difference) {
  for (const [unit, length] of UNITS)
    if (Math.abs(difference) >= length) return relative.format(Math.trunc(difference / length), unit);
  return "now";
}
