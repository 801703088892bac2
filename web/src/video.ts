// A video of the stage, as the browser itself can make it: WebM, without a network. What is drawn goes to a canvas of
// its own with the stage's colour behind it (the stage is transparent, which players show as black) and a line of text.
import { h } from "./dom";
import type { Stage } from "./stage";
import { color } from "./theme";

const kinds = ["video/webm;codecs=vp8", "video/webm;codecs=vp9", "video/webm"]; // the lightest first
const rate = 30; // pictures per second, if so many are drawn

export interface Film {
  /** Names the file. */
  title: string;
  /** In the picture's corner, now. */
  caption(): string;
  say(text: string): void;
  /** Called when a recording begins; `end` ends it. */
  begin?(end: () => void): void;
}

/** A canvas of the stage's size (even numbers, which encoders want), and what draws one picture on it. */
function copier(stage: Stage, film: Film): { canvas: HTMLCanvasElement; draw: () => void } {
  const source = stage.canvas;
  const canvas = h("canvas", { width: source.width & ~1, height: source.height & ~1 });
  const context = canvas.getContext("2d", { alpha: false });
  const scale = source.width / Math.max(1, source.clientWidth);
  const draw = () => {
    if (!context) return;
    context.fillStyle = color("stage");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(source, 0, 0, canvas.width, canvas.height);
    context.fillStyle = color("soft");
    context.font = `${13 * scale}px ${color("sans")}`;
    context.fillText(film.caption(), 14 * scale, canvas.height - 14 * scale);
  };
  return { canvas, draw };
}

function save(parts: Blob[], title: string): void {
  const address = URL.createObjectURL(new Blob(parts, { type: "video/webm" }));
  const name = title.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "articula";
  h("a", { href: address, download: `${name}.webm` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // after the browser has taken it
}

export function recordButton(stage: Stage, film: Film): HTMLButtonElement {
  const button = h("button", { type: "button", class: "record", title: "Record a video (WebM); again: end it", "aria-pressed": "false" }, "Record");
  let recorder: MediaRecorder | undefined;
  let draw: () => void = () => undefined;
  stage.onFrame(() => recorder && draw());

  const end = () => {
    if (recorder?.state === "recording") recorder.stop();
  };
  const show = (on: boolean) => {
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Stop" : "Record";
  };
  const start = () => {
    const kind = typeof MediaRecorder === "undefined" ? undefined : kinds.find((one) => MediaRecorder.isTypeSupported(one));
    const copy = copier(stage, film);
    if (!kind || !("captureStream" in copy.canvas)) return film.say("This browser cannot record WebM; Chromium and Firefox can.");
    copy.draw(); // a stream of nothing has no size
    const parts: Blob[] = [];
    const made = new MediaRecorder(copy.canvas.captureStream(rate), { mimeType: kind, videoBitsPerSecond: 8e6 });
    made.ondataavailable = (event) => event.data.size > 0 && parts.push(event.data);
    made.onerror = () => film.say("The browser could not go on recording.");
    made.onstop = () => {
      recorder = undefined;
      made.stream.getTracks().forEach((track) => track.stop());
      show(false);
      if (parts.length > 0) save(parts, film.title);
      else film.say("The browser recorded nothing.");
    };
    made.start(1000);
    recorder = made;
    draw = copy.draw;
    show(true);
    film.begin?.(end);
  };
  button.addEventListener("click", () => (recorder ? end() : start()));
  return button;
}
