// Play, pause, scrub, speed: the bar under the stage.
import { h, icon } from "./dom";
import type { Playback } from "./playback";

const playPath = "M4 2.5v11l9-5.5z";
const pausePath = "M4 2.5h3v11H4zM9 2.5h3v11H9z";
const speeds = [0.1, 0.25, 0.5, 1, 2, 4];

export function transport(playback: Playback): HTMLElement {
  const button = h("button", { type: "button", class: "play", title: "Play or pause (space)", click: () => playback.toggle() });
  const scrubber = h("input", {
    type: "range",
    class: "scrubber",
    min: playback.start,
    max: playback.end,
    step: "any",
    value: playback.time,
    "aria-label": "Time",
  });
  scrubber.addEventListener("input", () => {
    playback.pause();
    playback.seek(Number(scrubber.value));
  });
  const digits = playback.duration < 1 ? 4 : playback.duration < 100 ? 3 : 1;
  const clock = h("output", { class: "clock" });
  const speed = h("select", { class: "speed", title: "Speed (comma and full stop)", "aria-label": "Speed" });
  for (const rate of speeds) speed.append(h("option", { value: rate }, `${rate}×`));
  speed.addEventListener("change", () => (playback.speed = Number(speed.value)));

  const showTime = (time: number) => {
    if (document.activeElement !== scrubber || playback.playing) scrubber.value = String(time);
    scrubber.style.setProperty("--to", String(playback.duration > 0 ? (time - playback.start) / playback.duration : 0));
    clock.textContent = `${time.toFixed(digits)} / ${playback.end.toFixed(digits)} s`;
  };
  const showState = () => {
    button.replaceChildren(icon(playback.playing ? pausePath : playPath));
    button.setAttribute("aria-label", playback.playing ? "Pause" : "Play");
    speed.value = String(playback.speed);
  };
  playback.onTime(showTime);
  playback.onState(showState);
  showTime(playback.time);
  showState();
  return h("div", { class: "transport" }, button, scrubber, clock, speed);
}

/** Space, arrows, comma and full stop, Home and End; not while a field or a button wants the key. */
export function transportKeys(playback: Playback): void {
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input:not([type=range]), select, textarea")) return;
    if (event.key === " ") {
      if (target.matches("button")) target.blur(); // it would be pressed as well
      playback.toggle();
    } else if (event.key === "ArrowRight") playback.step(1, event.shiftKey);
    else if (event.key === "ArrowLeft") playback.step(-1, event.shiftKey);
    else if (event.key === "Home") playback.seek(playback.start);
    else if (event.key === "End") playback.seek(playback.end);
    else if (event.key === "," || event.key === ".") {
      const at = speeds.indexOf(playback.speed) + (event.key === "." ? 1 : -1);
      playback.speed = speeds[Math.min(speeds.length - 1, Math.max(0, at))];
    } else return;
    event.preventDefault();
  });
}
