// How a view ended, in words: what Done found, or why it was closed.
import { at, card, fill, say, sentence } from "./show.js";

const ENDS = {
  cancelled: ["The view is closed", "The link is used up. What you did in the browser stays as it is.", "neutral"],
  done: ["The view is closed", "It was ended with Done.", "good"],
  revoked: ["The view was ended from the box", "Somebody there took the link back. A login that was made stays.", "neutral"],
  expired: ["The time is over", "The view reached the end of its time. A login that was made stays.", "warn"],
  replaced: ["A newer link took its place", "Use the link that you were given last. A login that was made stays.", "neutral"],
  stopped: ["The browser was stopped on the box", "A login that was made stays.", "neutral"],
  limit: ["The time is over", "The view reached the end of its time. A login that was made stays.", "warn"],
  idle: ["The view closed itself", "There was no key or click for a while. A login that was made stays.", "warn"],
  gone: ["The view closed itself", "This page was out of reach for too long. A login that was made stays.", "warn"],
};
const OVER = ["This view is over", "It has ended on the box, or this browser may no longer use it.", "neutral"];

// The words of a state are those of the status verb; what they mean to a person stands beside them.
const VERDICTS = [
  [/^authenticated/, "You are logged in", "The login was saved and looked at: it works.", "good", "You can close this page."],
  [/^session expired/, "Not logged in", "The site still shows its login page. Whoever sent you the link can send a new one.", "warn", ""],
  [/^CHALLENGE/, "The site wants to see a person", "It shows a check of its own (a CAPTCHA, a code, an unusual-activity page). A new link lets you answer it.", "warn", ""],
  [/^UNKNOWN/, "Closed and saved", "Whether the login works could not be looked up for this site.", "neutral", "You can close this page."],
];
const MARKS = { good: "✓", warn: "!", bad: "!", neutral: "–" };

export function saving(step) {
  if (step) {
    fill("saving-step", sentence(step));
    say(sentence(step));
  } else {
    document.title = "Saving the login";
    card("saving");
  }
}

export function ended({ end, site, done, refusal }) {
  if (done) return verdict(site, done);
  if (refusal) {
    return show("This could not be finished", `${sentence(refusal.message)} ${refusal.hint}`.trim(), "bad", "The login may be saved all the same: ask for its status on the box.");
  }
  const [title, text, mood] = ENDS[end] ?? OVER;
  show(title, text, mood, "You can close this page.");
}

function verdict(site, { state, saved }) {
  const [, title, text, mood, next] = VERDICTS.find(([words]) => words.test(state)) ?? [0, "Closed", "", "neutral", ""];
  const lost = "The browser did not close by itself and was ended: a login made in the last 30 seconds may be lost.";
  show(title, saved ? text : lost, saved ? mood : "warn", next);
  at("ended-facts").hidden = false;
  at("ended-site").textContent = site;
  at("ended-state").textContent = state;
  at("ended-saved").textContent = saved ? "Yes, on the box" : "Not for certain";
}

function show(title, text, mood, next) {
  const mark = at("ended-mark");
  mark.className = `mark ${mood}`;
  mark.textContent = MARKS[mood];
  at("ended-title").textContent = title;
  fill("ended-text", text);
  fill("ended-next", next);
  at("ended-facts").hidden = true;
  document.title = title;
  card("ended");
}
