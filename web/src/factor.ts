// The factor D by joint: the inertia that each joint feels with all joints outboard of it free. A short bar is a
// joint that has next to nothing to move, where the mass matrix is near to singular.
import type { View, ViewState } from "./data";
import { format, h } from "./dom";

export class FactorBars {
  readonly element: HTMLElement;
  private readonly rows: { row: HTMLElement; bar: HTMLElement; value: HTMLElement }[];
  private readonly summary = h("p", { class: "readout" });

  constructor(
    private readonly view: View,
    pointed: (joint: number) => void,
  ) {
    const list = h("div", { class: "bars" });
    this.rows = view.joints.map((joint, i) => {
      const bar = h("i", {});
      const value = h("span", { class: "value" });
      const row = h("div", { class: "bar" }, h("span", { class: "label", title: joint.name }, joint.name), h("span", { class: "track" }, bar), value);
      row.addEventListener("pointerenter", () => pointed(i));
      row.addEventListener("pointerleave", () => pointed(-1));
      list.append(row);
      return { row, bar, value };
    });
    this.element = h("section", { class: "block" }, h("h2", {}, view.closed ? "Factor D by joint, loops open" : "Factor D by joint", h("span", { class: "unit" }, "least eigenvalue, log scale")), list, this.summary);
  }

  set(state: ViewState): void {
    const least = this.view.joints.map((_, i) => state.D?.[i]?.[0] ?? null);
    const known = least.filter((x): x is number => x !== null && x > 0);
    // From a decade under the least to the largest: lengths say the ratio.
    const top = Math.log10(Math.max(...known, 1e-300));
    const bottom = Math.log10(Math.min(...known, 1e300)) - 0.5;
    this.rows.forEach(({ row, bar, value }, i) => {
      const x = least[i];
      const part = x !== null && x > 0 ? (Math.log10(x) - bottom) / Math.max(top - bottom, 1e-9) : 0;
      bar.style.transform = `scaleX(${Math.min(1, Math.max(0, part))})`;
      value.textContent = format(x);
      row.classList.toggle("weakest", state.weakest?.joint === i && this.rows.length > 1);
    });
    this.summary.textContent = state.error
      ? state.error
      : state.weakest && this.rows.length > 1
        ? `Weakest: ${this.view.joints[state.weakest.joint]?.name}, ${format(state.weakest.largest / state.weakest.pivot, 3)} times below the strongest.`
        : "";
    this.summary.classList.toggle("wrong", state.error !== undefined);
  }

  mark(joint: number): void {
    this.rows.forEach(({ row }, i) => row.classList.toggle("marked", i === joint));
  }
}
