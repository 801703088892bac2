// Which frame the ellipsoid is for, and its numbers.
import type { View, ViewState } from "./data";
import { format, h } from "./dom";

export class OperationalSpace {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly numbers = h("dl", { class: "numbers" });

  constructor(view: View, chosen: (frame: number) => void) {
    this.select = h("select", { "aria-label": "Frame", disabled: !view.live });
    view.frames.forEach((name, i) => this.select.append(h("option", { value: i }, name)));
    this.select.value = String(view.state.frame);
    this.select.addEventListener("change", () => chosen(Number(this.select.value)));
    this.element = h(
      "section",
      { class: "block" },
      h("h2", {}, "Operational space", this.select),
      this.numbers,
      ...(view.live ? [h("p", { class: "readout" }, "Drag the ball at the frame's origin to move it; with Shift it keeps its orientation.")] : []),
      h("p", { class: "readout" }, "The ellipsoid holds the velocities that one joule can give this frame; flat means that it cannot move there."),
    );
  }

  choose(frame: number): void {
    this.select.value = String(frame);
  }

  set(state: ViewState): void {
    const ellipsoid = state.ellipsoid;
    const mass = (i: number) => {
      const inverse = ellipsoid?.inverseMass[i] ?? 0;
      return inverse > 0 ? `${format(1 / inverse)} kg` : "∞";
    };
    const pair = (name: string, value: string) => [h("dt", {}, name), h("dd", {}, value)];
    this.numbers.replaceChildren(
      ...pair("Effective mass, lightest way", ellipsoid ? mass(0) : "–"),
      ...pair("middle", ellipsoid ? mass(1) : "–"),
      ...pair("heaviest way", ellipsoid ? mass(2) : "–"),
      ...pair("Ways to move and turn", ellipsoid ? `${ellipsoid.rank} of 6` : "–"),
    );
  }
}
