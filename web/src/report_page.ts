// The page of a recorded run.
import * as THREE from "three";
import type { Report } from "./data";
import { h, toggle } from "./dom";
import { ForceArrows } from "./forces";
import { Playback } from "./playback";
import { Plots } from "./plots";
import { buildShell, jointOf, onPick, type Shell } from "./shell";
import { color, onTheme } from "./theme";
import { Trail } from "./trail";
import { transport, transportKeys } from "./transport";
import { recordButton } from "./video";

/** Where the mechanism is during the run, and whether it leaves its own surroundings. */
function whereabouts(report: Report, shell: Shell): { box: THREE.Box3; size: number; leaves: boolean } {
  shell.mechanism.setSample(0, 0);
  const first = shell.mechanism.bounds();
  const size = Math.max(first.getSize(new THREE.Vector3()).length(), 1e-3);
  const all = first.clone();
  const samples = report.times.length;
  const looks = Math.min(samples, 48);
  for (let i = 1; i < looks; ++i) {
    shell.mechanism.setSample(Math.floor((i * (samples - 1)) / (looks - 1)), 0);
    all.union(shell.mechanism.bounds());
  }
  const leaves = all.getSize(new THREE.Vector3()).length() > 5 * size;
  return { box: leaves ? first : all, size, leaves };
}

/** The link that travels farthest: the one whose trail is worth a look. */
function traveller(report: Report): number {
  let best = 0;
  let longest = -1;
  report.links.forEach((link, i) => {
    if (link.twin !== undefined) return;
    let length = 0;
    for (let k = 7; k + 2 < link.poses.length; k += 7)
      length += Math.hypot(link.poses[k] - link.poses[k - 7], link.poses[k + 1] - link.poses[k - 6], link.poses[k + 2] - link.poses[k - 5]);
    if (length > longest) [best, longest] = [i, length];
  });
  return best;
}

function jointChoice(report: Report, chosen: (joint: number) => void): HTMLSelectElement {
  const select = h("select", { class: "joint", "aria-label": "Joint" }, h("option", { value: -1 }, "All joints"));
  const plotted = new Set(report.series.map((series) => series.joint));
  report.joints.forEach((joint, i) => plotted.has(i) && select.append(h("option", { value: i }, joint.name)));
  select.addEventListener("change", () => chosen(Number(select.value)));
  return select;
}

/** Plays from the first sample to the last; `ended` is called there, or when somebody pauses. */
function onePass(playback: Playback, ended: () => void): void {
  const loops = playback.looping;
  let over = false;
  playback.pause();
  playback.looping = false;
  playback.seek(playback.start);
  playback.play();
  playback.onState(() => {
    if (over || playback.playing) return;
    over = true;
    playback.looping = loops;
    setTimeout(ended, 200); // the last picture stays for a moment
  });
}

export function reportPage(report: Report): void {
  const shell = buildShell(report, report.subtitle || "recorded run");
  const { stage, mechanism } = shell;
  const playback = new Playback(report.times);
  const { box, size, leaves } = whereabouts(report, shell);
  stage.fit(box, Math.min(0, box.min.z));
  mechanism.addMarks(size);

  const forces = new ForceArrows(report.forces, size);
  const trail = new Trail();
  stage.scene.add(forces.group, trail.line);
  const follower = new THREE.Vector3();
  let following = leaves;
  const moving = Math.max(0, report.links.findIndex((link) => link.poses.length > 7));
  const place = (time: number) => {
    const { sample, part } = playback.between(time);
    mechanism.setSample(sample, part);
    forces.setSample(sample);
    trail.setSample(sample);
    const at = mechanism.links[moving]?.position;
    if (at) {
      if (following) stage.follow(at.clone().sub(follower));
      follower.copy(at);
    }
    stage.touch();
  };
  const still = following;
  following = false; // the first placing is no motion
  place(playback.time);
  following = still;
  playback.onTime(place);
  stage.onFrame((milliseconds) => playback.tick(milliseconds));

  if (report.links.length > 0) trail.setLink(report.links[traveller(report)]);
  trail.setSample(0);
  const reset = shell.tools.lastElementChild;
  const add = (button: HTMLElement) => shell.tools.insertBefore(button, reset);
  trail.line.visible = report.forces.length === 0 && !leaves;
  add(toggle("Trail", "The path of the link that travels farthest, or was clicked", trail.line.visible, (on) => ((trail.line.visible = on), stage.touch())));
  if (report.forces.length > 0) add(toggle("Forces", "Contact forces", true, (on) => ((forces.group.visible = on), stage.touch())));
  if (report.links.some((link) => link.twin !== undefined)) {
    add(toggle("Second", "The recording that this one is compared with", true, (on) => (mechanism.showTwins(on), stage.touch())));
    shell.say(report.subtitle); // narrow pages have no room for it in the head
  }
  add(toggle("Follow", "Keep the mechanism in view", following, (on) => (following = on)));

  add(
    recordButton(stage, {
      title: report.title,
      caption: () => `${report.title} · ${playback.time.toFixed(2)} s`,
      say: (text) => shell.say(text),
      begin: (end) => onePass(playback, end),
    }),
  );

  shell.footer.append(transport(playback));
  transportKeys(playback);
  const plots = new Plots(report, playback);
  let chosen = -1;
  const choose = (joint: number) => {
    chosen = joint;
    select.value = String(joint);
    plots.showJoint(joint);
    mechanism.mark(joint, color("accent"));
    shell.say(joint < 0 ? "" : `${report.joints[joint].name} · ${report.joints[joint].kind}`);
    stage.touch();
  };
  const select = jointChoice(report, choose);
  shell.panel.append(
    h("div", { class: "panel-head" }, select, h("span", { class: "hint" }, "Click a plot to go there, drag to zoom, double click to see all")),
    plots.element,
  );
  onPick(shell, (link) => {
    choose(link < 0 ? -1 : jointOf(report, link));
    if (link >= 0) {
      trail.setLink(report.links[link]);
      trail.setSample(playback.sample(playback.time));
      if (chosen < 0) shell.say(report.links[link].name);
    }
  });
  const paint = () => {
    forces.setAccent(color("force"));
    trail.setAccent(color("accent"));
    mechanism.mark(chosen, color("accent"));
  };
  onTheme(paint);
  paint();

  if (playback.duration < 0.6 && playback.duration > 0) playback.speed = playback.duration < 0.15 ? 0.1 : 0.25;
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) playback.play();
}
