// The mass matrix as a map: colour by sign, depth by size over four decades.
import { format, h } from "./dom";
import { color, onTheme } from "./theme";

const decades = 4;

function cellText(x: number, most: number): string {
  const size = Math.abs(x);
  if (size <= 1e-12 * most) return "0";
  if (size < 0.01) return x.toExponential(0).replaceAll("-", "−");
  return format(x, size < 0.1 ? 2 : 3);
}

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "heatmap", role: "img", "aria-label": "Mass matrix" });
  private readonly readout = h("p", { class: "readout" });
  private readonly scale = h("div", { class: "scale" });
  private matrix: Float64Array | null = null;

  constructor(private readonly names: string[], closed: boolean) {
    this.element = h("section", { class: "block" }, h("h2", {}, closed ? "Mass matrix, loops open" : "Mass matrix", h("span", { class: "unit" }, "kg m², kg m, kg")), this.canvas, this.scale, this.readout);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.idle());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    onTheme(() => this.draw());
  }

  set(matrix: Float64Array | null): void {
    this.matrix = matrix;
    if (matrix === null) {
      this.canvas.hidden = this.scale.hidden = true;
      this.readout.textContent = `${this.names.length} freedoms: too many to draw.`;
      return;
    }
    this.draw();
    this.idle();
  }

  private largest(): number {
    return this.matrix ? this.matrix.reduce((most, x) => Math.max(most, Math.abs(x)), 0) : 0;
  }
  private idle(): void {
    this.readout.textContent = "Point at a cell to read it.";
  }

  private draw(): void {
    const n = this.names.length;
    const width = this.canvas.clientWidth;
    if (!this.matrix || n === 0 || width === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    this.canvas.width = this.canvas.height = Math.round(width * ratio);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const cell = this.canvas.width / n;
    const gap = n <= 40 ? Math.max(1, Math.round(ratio)) : 0;
    const most = this.largest();
    const colors = { positive: color("positive"), negative: color("negative"), empty: color("cell"), ink: color("ink"), onColor: color("on-color") };
    const deep = Number(color("deep")); // from here on the other ink stands out more
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (let row = 0; row < n; ++row)
      for (let column = 0; column < n; ++column) {
        const x = this.matrix[row * n + column];
        const depth = Math.abs(x) <= 1e-12 * most || most === 0 ? 0 : Math.max(0, 1 + Math.log10(Math.abs(x) / most) / decades);
        const [left, top] = [Math.round(column * cell), Math.round(row * cell)];
        const [wide, high] = [Math.round((column + 1) * cell) - left - gap, Math.round((row + 1) * cell) - top - gap];
        context.globalAlpha = 1;
        context.fillStyle = colors.empty;
        context.fillRect(left, top, wide, high);
        context.globalAlpha = depth;
        context.fillStyle = x < 0 ? colors.negative : colors.positive;
        context.fillRect(left, top, wide, high);
        if (n > 8) continue;
        context.globalAlpha = depth > 0 ? 1 : 0.45;
        context.fillStyle = depth > deep ? colors.onColor : colors.ink;
        context.font = `${Math.min(0.2 * cell, 13 * ratio)}px ${color("mono")}`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(cellText(x, most), left + wide / 2, top + high / 2);
      }
    context.globalAlpha = 1;
    this.scale.replaceChildren(h("span", {}, `−${format(most, 3)}`), h("i", { class: "ramp" }), h("span", {}, format(most, 3)));
    this.scale.title = `${decades} decades to each side of zero`;
  }

  private point(event: PointerEvent): void {
    if (!this.matrix) return;
    const n = this.names.length;
    const area = this.canvas.getBoundingClientRect();
    const at = (part: number) => Math.min(n - 1, Math.max(0, Math.floor(part * n)));
    const column = at((event.clientX - area.left) / area.width);
    const row = at((event.clientY - area.top) / area.height);
    const pair = row === column ? this.names[row] : `${this.names[row]} × ${this.names[column]}`;
    this.readout.replaceChildren(h("b", {}, format(this.matrix[row * n + column], 6)), ` ${pair}`);
  }
}
