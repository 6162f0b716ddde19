// The relay's calls. Each is one POST with a JSON body below the view's path; a refusal is {code, message, hint}.
// done answers NDJSON: progress lines, then one result or error.
import { base } from "./link.js";

// Refusal is a call that did not work. status 0: no answer came, and what was asked may have happened or not.
export class Refusal extends Error {
  constructor(status, { code = "failed", message = "the relay gave an answer that this page cannot read", hint = "" } = {}) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
  get offline() { return this.status === 0 || (this.status >= 502 && this.status <= 504); }
}

const offline = () => new Refusal(0, { code: "offline", message: "the box cannot be reached" });

export async function call(what, body = {}, { wait = 15000, progress = () => {} } = {}) {
  let response, text;
  try {
    // mode stays "cors": with no-referrer any other mode would send "Origin: null".
    response = await fetch(`${base}/${what}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(wait),
    });
    text = await read(response, progress);
  } catch {
    throw offline();
  }
  return answer(response.status, text);
}

// read collects the body and hands out progress lines as they come; the last line is the answer.
async function read(response, progress) {
  let rest = "", last = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines.filter(Boolean)) {
      last = line;
      const said = parse(line)?.progress;
      if (said) progress(said);
    }
    if (done) return last;
  }
}

function answer(status, text) {
  const line = parse(text);
  if (line === undefined) throw status >= 502 && status <= 504 ? offline() : new Refusal(status);
  if (line.error) throw new Refusal(status, line.error);
  if (status !== 200) throw new Refusal(status, line);
  if ("progress" in line) throw offline(); // the answer broke off
  return "result" in line ? line.result : line;
}

function parse(text) {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
