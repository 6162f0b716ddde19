// Seconds that run down on the page between two answers of the server.

// Countdown writes the time left into an element once a second. It is set anew with each answer; the local clock only
// fills the gap, and performance.now() does not jump when somebody sets the time of day.
export class Countdown {
  #end = 0;
  #timer = 0;
  #told = Infinity;

  constructor({ show, soon = () => {}, over = () => {} }) {
    Object.assign(this, { show, soon, over });
  }

  set(seconds) {
    this.#end = performance.now() + seconds * 1000;
    if (!this.#timer) this.#timer = setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#told = Infinity;
  }

  get left() { return Math.max(0, Math.round((this.#end - performance.now()) / 1000)); }

  #tick() {
    const left = this.left;
    this.show(format(left), left);
    for (const mark of [300, 60]) {
      if (left <= mark && this.#told > mark) {
        if (this.#told !== Infinity || left > mark - 5) this.soon(mark);
        this.#told = mark;
      }
    }
    if (left > 300) this.#told = 301;
    if (left === 0) {
      this.stop();
      this.over();
    }
  }
}

// minutes is for a time that is long enough not to be watched.
export function minutes(seconds) {
  return seconds > 300 ? `${Math.round(seconds / 60)} min` : format(seconds);
}

export function format(seconds) {
  const two = (n) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}
