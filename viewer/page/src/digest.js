// SHA-256 in lower-case hex. The browser's own where it has it; over plain http to a name other than localhost it has
// not, so the algorithm of FIPS 180-4 follows.

export async function digest(text) {
  const bytes = new TextEncoder().encode(text);
  if (globalThis.crypto?.subtle) return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  return hex(sha256(bytes));
}

const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

// The first 32 bits of the fractional parts of the roots of the first primes.
const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) >>> 0;
const K = primes.map((p) => fraction(Math.cbrt(p)));
const START = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
const turn = (x, n) => (x >>> n) | (x << (32 - n));

export function sha256(bytes) {
  const length = (bytes.length + 9 + 63) & ~63;
  const data = new DataView(new ArrayBuffer(length));
  bytes.forEach((b, i) => data.setUint8(i, b));
  data.setUint8(bytes.length, 0x80);
  data.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29));
  data.setUint32(length - 4, bytes.length << 3);
  const h = [...START];
  for (let at = 0; at < length; at += 64) block(h, data, at);
  const out = new DataView(new ArrayBuffer(32));
  h.forEach((word, i) => out.setUint32(4 * i, word));
  return new Uint8Array(out.buffer);
}

function block(h, data, at) {
  const w = new Array(64);
  for (let i = 0; i < 64; i++) {
    if (i < 16) { w[i] = data.getUint32(at + 4 * i); continue; }
    const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
    const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) >>> 0;
  }
  let [a, b, c, d, e, f, g, last] = h;
  for (let i = 0; i < 64; i++) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const t1 = (last + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) >>> 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
    [last, g, f, e, d, c, b, a] = [g, f, e, (d + t1) >>> 0, c, b, a, (t1 + t2) >>> 0];
  }
  [a, b, c, d, e, f, g, last].forEach((word, i) => { h[i] = (h[i] + word) >>> 0; });
}
