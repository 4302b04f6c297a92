// Shows a verdict in the form that the page holds ready for it (templates/checks.html).

import { CHECKS } from "./verify.js";

const WORDS = { pass: "passed", fail: "failed", open: "not reached" };

/** @param {Element} form a `.verdict` @param {ReturnType<import("./verify.js").verify>} verdict */
export function showVerdict(form, verdict) {
  const failedAt = verdict.ok ? CHECKS.length : CHECKS.indexOf(verdict.failed);
  form.dataset.state = verdict.ok && verdict.consistent ? "pass" : "fail";
  field(form, "sum").textContent = summary(verdict);
  for (const item of form.querySelectorAll("[data-check]")) {
    const at = CHECKS.indexOf(item.dataset.check);
    const state = at < failedAt ? "pass" : at === failedAt ? "fail" : "open";
    item.dataset.state = state;
    field(item, "word").textContent = WORDS[state];
  }
  const reasons = verdict.reasons.map((reason) => {
    const item = document.createElement("li");
    item.textContent = reason;
    return item;
  });
  field(form, "reasons").replaceChildren(...reasons);
}

/** Show no verdict, only what the checks are. @param {Element} form a `.verdict` */
export function clearVerdict(form) {
  form.dataset.state = "blank";
  for (const item of form.querySelectorAll("[data-check]")) {
    item.dataset.state = "blank";
    field(item, "word").textContent = "";
  }
  field(form, "reasons").replaceChildren();
}

/** The element in which a part of the page says one thing. */
export const field = (part, name) => part.querySelector(`[data-field="${name}"]`);

function summary({ ok, consistent, failed }) {
  if (failed === "unparsable") return "This is no event.";
  if (!ok) return "This is no score of this app.";
  return consistent
    ? "All five checks pass."
    : "All five checks pass, but the event disagrees with itself: no board shows it.";
}
