// A slider for every number of the configuration.
import type { View } from "./data";
import { h } from "./dom";

export class Sliders {
  readonly element: HTMLElement;
  readonly values: number[];
  private readonly inputs: HTMLInputElement[] = [];
  private readonly shown: HTMLElement[] = [];
  private readonly rows: HTMLElement[] = [];

  constructor(
    private readonly view: View,
    /** One slider, or all of them. */
    private readonly changed: (index?: number) => void,
    private readonly pointed: (joint: number) => void,
  ) {
    this.values = view.sliders.map((slider) => slider.value);
    const list = h("div", { class: "sliders" });
    view.sliders.forEach((_, i) => list.append(this.row(i)));
    this.element = h(
      "section",
      { class: "block" },
      h(
        "h2",
        {},
        "Joints",
        h("span", { class: "actions" }, h("button", { type: "button", click: () => this.random() }, "Random"), h("button", { type: "button", click: () => this.reset() }, "Reset")),
      ),
      list,
    );
  }

  private row(index: number): HTMLElement {
    const slider = this.view.sliders[index];
    const joint = this.view.joints[slider.joint];
    const several = this.view.sliders.filter((other) => other.joint === slider.joint).length > 1;
    const id = `slider-${index}`;
    const input = h("input", { type: "range", id, min: slider.lower, max: slider.upper, step: "any", value: slider.value });
    const value = h("output", { class: "value", for: id });
    input.addEventListener("input", () => this.set(index, Number(input.value)));
    input.addEventListener("dblclick", () => this.set(index, slider.value));
    const row = h("div", { class: "slider" }, h("label", { for: id, title: joint.name }, joint.name, ...(several ? [h("small", {}, slider.label)] : [])), input, value);
    row.addEventListener("pointerenter", () => this.pointed(slider.joint));
    row.addEventListener("pointerleave", () => this.pointed(-1));
    this.inputs.push(input);
    this.shown.push(value);
    this.rows.push(row);
    this.show(index);
    return row;
  }

  private show(index: number): void {
    const { unit, lower, upper } = this.view.sliders[index];
    const x = this.values[index];
    this.shown[index].textContent = `${x.toFixed(3).replace("-", "−")} ${unit}`;
    // Filled between zero, if it is in range, and the value.
    const part = (at: number) => (upper > lower ? Math.min(1, Math.max(0, (at - lower) / (upper - lower))) : 0);
    this.inputs[index].style.setProperty("--from", String(Math.min(part(0), part(x))));
    this.inputs[index].style.setProperty("--to", String(Math.max(part(0), part(x))));
  }

  private set(index: number, value: number, quiet = false): void {
    this.values[index] = value;
    this.inputs[index].value = String(value);
    this.show(index);
    if (!quiet) this.changed(index);
  }
  /** As the library says. */
  setAll(values: number[]): void {
    values.forEach((value, i) => value !== this.values[i] && this.set(i, value, true));
  }
  private reset(): void {
    this.view.sliders.forEach((slider, i) => this.set(i, slider.value, true));
    this.changed();
  }
  private random(): void {
    this.view.sliders.forEach((slider, i) => this.set(i, slider.lower + Math.random() * (slider.upper - slider.lower), true));
    this.changed();
  }

  mark(joint: number): void {
    this.rows.forEach((row, i) => row.classList.toggle("marked", this.view.sliders[i].joint === joint));
  }
}
