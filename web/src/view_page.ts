// The page of `articula view`: sliders and a frame to drag, and what the library computes there.
import * as THREE from "three";
import type { View, ViewState } from "./data";
import { toggle } from "./dom";
import { EllipsoidView } from "./ellipsoid";
import { FactorBars } from "./factor";
import { Handle } from "./handle";
import { HeatMap } from "./heatmap";
import { Live } from "./live";
import { OperationalSpace } from "./operational_space";
import { buildShell, jointOf, onPick } from "./shell";
import { Sliders } from "./sliders";
import { color, onTheme } from "./theme";
import { recordButton } from "./video";

export function viewPage(view: View): void {
  const shell = buildShell(view, view.live ? "live view" : "view");
  const { stage, mechanism } = shell;
  mechanism.setPoses(view.state.poses);
  const box = mechanism.bounds();
  const size = Math.max(box.getSize(new THREE.Vector3()).length(), 1e-3);
  // Room for what the sliders will do.
  stage.fit(box.clone().expandByScalar(0.08 * size), Math.min(0, box.min.z));
  mechanism.addMarks(size);
  const ellipsoid = new EllipsoidView(size);

  let frame = view.state.frame;
  let state = view.state; // the last that the library gave
  const point = (joint: number) => {
    mechanism.mark(joint, color("accent"));
    sliders.mark(joint);
    factor.mark(joint);
    shell.say(joint < 0 ? "" : `${view.joints[joint].name} · ${view.joints[joint].kind}`);
    stage.touch();
  };
  const live = new Live(
    (arrived, last) => {
      show(arrived);
      if (last) sliders.setAll(arrived.values);
    },
    (message) => {
      shell.say(message);
      sliders.setAll(state.values);
    },
  );
  const sliders = new Sliders(
    view,
    (index) => {
      // Where there are loops, one slider moves from where all of them are closed.
      if (view.closed && index !== undefined) live.ask({ values: state.values, frame, move: { slider: index, to: sliders.values[index] } });
      else live.ask({ values: sliders.values, frame });
    },
    point,
  );
  const factor = new FactorBars(view, point);
  const matrix = new HeatMap(view.velocities, view.closed);
  const choose = (chosen: number) => {
    frame = chosen;
    ellipsoid.rescale();
    space.choose(frame);
    if (view.live) live.ask({ values: state.values, frame });
  };
  const space = new OperationalSpace(view, choose);
  let turned = view.state.quaternion; // when the ball was taken hold of
  const handle = new Handle(stage, size, (to, keepTurn, first) => {
    if (first) turned = state.quaternion;
    else live.ask({ values: state.values, frame, drag: { position: to.toArray(), ...(keepTurn ? { quaternion: turned } : {}) } });
  });
  const show = (now: ViewState) => {
    state = now;
    mechanism.setPoses(now.poses);
    matrix.set(now.massMatrix);
    factor.set(now);
    space.set(now);
    ellipsoid.set(now.ellipsoid);
    handle.place(now.position);
    stage.touch();
  };
  if (view.live) shell.panel.append(sliders.element);
  if (view.velocities.length > 0) shell.panel.append(matrix.element, factor.element, space.element);
  const holder = new THREE.Group(); // so that the button and an absent ellipsoid do not quarrel
  stage.scene.add(holder);
  holder.add(ellipsoid.group);
  if (view.live && view.velocities.length > 0) stage.scene.add(handle.group);
  const reset = shell.tools.lastElementChild;
  const add = (button: HTMLElement) => shell.tools.insertBefore(button, reset);
  add(toggle("Ellipsoid", "Velocities that one joule gives the chosen frame", true, (on) => ((holder.visible = on), stage.touch())));
  if (view.live) add(recordButton(stage, { title: view.title, caption: () => view.title, say: (text) => shell.say(text) }));
  onPick(shell, (link) => {
    point(link < 0 ? -1 : jointOf(view, link));
    if (link < 0) return;
    if (jointOf(view, link) < 0) shell.say(view.links[link].name);
    const of = view.frames.indexOf(view.links[link].name);
    if (view.live && of >= 0 && of !== frame) choose(of);
  });
  const paint = () => {
    ellipsoid.setAccent(color("accent"));
    handle.setAccent(color("force"));
  };
  onTheme(paint);
  paint();
  show(view.state);
}
