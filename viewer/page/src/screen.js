// The remote screen: noVNC over the relay's websocket, its size, and coming back after a dropped network.
import RFB from "@novnc/novnc";
import { base } from "./link.js";
import { call } from "./calls.js";
import { at } from "./show.js";

const FIRST_WAIT = 400, LAST_WAIT = 8000; // ms between two tries to connect
const TRY = 12000;                        // ms until a try counts as lost
const SETTLE = 250;                       // ms without a change before a new size is asked for
const LEAST = { width: 360, height: 480 }, MOST = { width: 1920, height: 1112 }; // pixels of the remote screen

export class Screen {
  rfb = null;
  #wait = FIRST_WAIT;
  #timer = 0;
  #on = false;
  #asked = "";
  #sizing = 0;

  // state(name) is told connecting, connected or lost; gone() asks whether the view still lives, before each new try.
  constructor({ state, alive, ready }) {
    Object.assign(this, { state, alive, ready });
    new ResizeObserver(() => this.#resized()).observe(at("stage"));
    window.addEventListener("online", () => this.hurry());
  }

  get connected() { return this.#on && this.rfb?.up === true; }
  get canvas() { return document.querySelector("#screen canvas"); }

  open() {
    this.#on = true;
    this.#wait = FIRST_WAIT;
    this.#connect();
  }

  close() {
    this.#on = false;
    clearTimeout(this.#timer);
    this.rfb?.disconnect();
    this.rfb = null;
  }

  // hurry tries at once: the network came back, or the person did.
  hurry() {
    if (!this.#on || this.rfb) return;
    clearTimeout(this.#timer);
    this.#wait = FIRST_WAIT;
    this.#again();
  }

  // drop gives a silent connection up; a browser's websocket may take minutes to notice that the network is gone.
  drop() {
    const old = this.rfb;
    if (!old) return;
    this.#lost(old);
    old.disconnect();
  }

  focus() { this.canvas?.focus({ preventScroll: true }); }
  key(keysym, code, down) { if (this.connected) this.rfb.sendKey(keysym, code, down); }

  #connect() {
    this.state("connecting");
    const now = document.activeElement; // a button that was just hidden keeps the focus until the next frame
    const focused = !now || now === document.body || !now.checkVisibility() || at("stage").contains(now);
    const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${base}/stream`;
    const rfb = new RFB(at("screen"), url, { wsProtocols: ["binary"] });
    this.rfb = rfb;
    rfb.scaleViewport = true;
    rfb.showDotCursor = matchMedia("(hover: hover)").matches; // a finger needs no cursor
    rfb.qualityLevel = 8;
    rfb.background = "transparent";
    const late = setTimeout(() => { if (this.rfb === rfb && !rfb.up) this.drop(); }, TRY);
    rfb.addEventListener("connect", () => {
      clearTimeout(late);
      if (this.rfb !== rfb) return;
      rfb.up = true;
      this.#wait = FIRST_WAIT;
      this.#prepare();
      this.state("connected");
      this.#asked = "";
      this.#size();
      this.ready(focused);
    });
    rfb.addEventListener("disconnect", () => {
      clearTimeout(late);
      this.#lost(rfb);
    });
  }

  // prepare makes noVNC's canvas something that Tab reaches and a screen reader can name.
  #prepare() {
    const canvas = this.canvas;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "Remote browser");
    canvas.setAttribute("aria-describedby", "how");
    // On touch screens noVNC draws the cursor on a second canvas, below <body>.
    for (const cursor of document.querySelectorAll("body > canvas")) cursor.setAttribute("aria-hidden", "true");
  }

  #lost(rfb) {
    if (this.rfb !== rfb) return;
    this.rfb = null;
    if (!this.#on) return;
    this.state("lost");
    this.#timer = setTimeout(() => this.#again(), this.#wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(LAST_WAIT, this.#wait * 2);
  }

  async #again() {
    if (!this.#on || this.rfb) return;
    const alive = await this.alive();
    if (!this.#on || this.rfb) return;
    if (alive) this.#connect();
    else this.#timer = setTimeout(() => this.#again(), this.#wait);
    this.#wait = Math.min(LAST_WAIT, this.#wait * 2);
  }

  #resized() {
    clearTimeout(this.#sizing);
    this.#sizing = setTimeout(() => this.#size(), SETTLE);
  }

  // size asks for a remote screen in the shape of the pane. A pane below the least size is scaled as a whole, so that
  // the picture still fills it. Not while a phone's keyboard covers half of it.
  async #size() {
    const { clientWidth: w, clientHeight: h } = at("stage");
    if (!this.connected || !w || !h || this.frozen) return;
    const grow = Math.max(1, LEAST.width / w, LEAST.height / h);
    const shrink = Math.min(1, MOST.width / (w * grow), MOST.height / (h * grow));
    const width = Math.round(w * grow * shrink), height = Math.round(h * grow * shrink);
    if (this.#asked === `${width}x${height}`) return;
    this.#asked = `${width}x${height}`;
    try {
      await call("size", { width, height });
    } catch {
      this.#asked = ""; // the picture is scaled all the same; the next change asks again
    }
  }
}
