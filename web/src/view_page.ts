// The page of `articula view`: sliders, and what the library computes at their values.
import * as THREE from "three";
import type { View, ViewState } from "./data";
import { toggle } from "./dom";
import { EllipsoidView } from "./ellipsoid";
import { FactorBars } from "./factor";
import { HeatMap } from "./heatmap";
import { Live } from "./live";
import { OperationalSpace } from "./operational_space";
import { buildShell, jointOf, onPick } from "./shell";
import { Sliders } from "./sliders";
import { color, onTheme } from "./theme";

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
  stage.scene.add(ellipsoid.group);

  let frame = view.state.frame;
  const point = (joint: number) => {
    mechanism.mark(joint, color("accent"));
    sliders.mark(joint);
    factor.mark(joint);
    shell.say(joint < 0 ? "" : `${view.joints[joint].name} · ${view.joints[joint].kind}`);
    stage.touch();
  };
  const live = new Live(
    (state) => show(state),
    (message) => shell.say(message),
  );
  const ask = () => live.ask(sliders.values, frame);
  const sliders = new Sliders(view, ask, point);
  const factor = new FactorBars(view, point);
  const matrix = new HeatMap(view.velocities);
  const space = new OperationalSpace(view, (chosen) => {
    frame = chosen;
    ellipsoid.rescale();
    ask();
  });
  const show = (state: ViewState) => {
    mechanism.setPoses(state.poses);
    matrix.set(state.massMatrix);
    factor.set(state);
    space.set(state);
    ellipsoid.set(state.ellipsoid);
    stage.touch();
  };
  if (view.live) shell.panel.append(sliders.element);
  if (view.velocities.length > 0) shell.panel.append(matrix.element, factor.element, space.element);
  const holder = new THREE.Group(); // so that the button and an absent ellipsoid do not quarrel
  stage.scene.add(holder);
  holder.add(ellipsoid.group);
  shell.tools.insertBefore(
    toggle("Ellipsoid", "Velocities that one joule gives the chosen frame", true, (on) => ((holder.visible = on), stage.touch())),
    shell.tools.lastElementChild,
  );
  onPick(shell, (link) => {
    point(link < 0 ? -1 : jointOf(view, link));
    if (link >= 0 && jointOf(view, link) < 0) shell.say(view.links[link].name);
  });
  const paint = () => ellipsoid.setAccent(color("accent"));
  onTheme(paint);
  paint();
  show(view.state);
}
