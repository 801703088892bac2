// The curves of a run: one plot a group and unit, a list of names with values under each, all tied to one clock.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Report, Series } from "./data";
import { format, h } from "./dom";
import type { Playback } from "./playback";
import { color, onTheme, seriesColor } from "./theme";

const titles: Record<string, string> = {
  position: "Joint positions",
  velocity: "Joint velocities",
  torque: "Joint torques",
  energy: "Energy",
  drift: "Drift",
};
function titleOf(group: string, unit: string): string {
  if (group === "position" && unit === "") return "Orientations, as quaternions";
  const compared = / difference$/;
  if (compared.test(group)) return `${titleOf(group.replace(compared, ""), unit)}: second − first`;
  return titles[group] ?? group.charAt(0).toUpperCase() + group.slice(1);
}
/** Angles first, quaternions last. */
const rank = (series: Series) => ["rad", "rad/s", "N m"].includes(series.unit) ? 0 : series.unit === "" ? 2 : 1;

const height = 168;
/** uPlot's own way of sharing cursor and zoom between plots. */
const together = uPlot.sync("run");

class Plot {
  readonly element: HTMLElement;
  private readonly host = h("div", { class: "curves" });
  private readonly playhead = h("div", { class: "playhead" });
  private readonly entries: { row: HTMLElement; value: HTMLElement; shown: boolean }[] = [];
  private plot: uPlot | undefined;
  private hovered: number | null = null;
  private readonly colors: number[];

  constructor(
    title: string,
    private readonly series: Series[],
    private readonly playback: Playback,
  ) {
    const unit = series[0].unit;
    const names = [...new Set(series.map((one) => one.name))];
    this.colors = series.map((one) => names.indexOf(one.name)); // curves that are compared share theirs
    const list = h("div", { class: series.length > 12 ? "names long" : "names" });
    series.forEach((one, i) => list.append(this.entry(one, i)));
    this.element = h(
      "section",
      { class: "plot", "data-group": series[0].group },
      h("h2", {}, title, ...(unit ? [h("span", { class: "unit" }, unit)] : [])),
      this.host,
      list,
    );
    new ResizeObserver(() => this.resize()).observe(this.host);
    onTheme(() => this.draw());
  }

  private entry(series: Series, index: number): HTMLElement {
    const value = h("span", { class: "value" });
    const row = h(
      "button",
      { type: "button", class: "name", title: "Click: hide or show. Double click: this one alone.", "aria-pressed": "true" },
      h("span", { class: series.compared ? "dot second" : "dot" }),
      h("span", { class: "label" }, series.name),
      value,
    );
    row.addEventListener("click", () => this.show(index, !this.entries[index].shown));
    row.addEventListener("dblclick", () => {
      const alone = this.entries.every((entry, i) => entry.shown === (i === index));
      this.entries.forEach((_, i) => this.show(i, alone || i === index));
    });
    row.addEventListener("pointerenter", () => this.plot?.setSeries(index + 1, { focus: true }));
    row.addEventListener("pointerleave", () => this.plot?.setSeries(null, { focus: true }));
    this.entries.push({ row, value, shown: true });
    return row;
  }

  private show(index: number, shown: boolean): void {
    this.entries[index].shown = shown;
    this.entries[index].row.setAttribute("aria-pressed", String(shown));
    this.plot?.setSeries(index + 1, { show: shown });
  }

  /** Only the curves of one joint, or all (-1); curves of no joint stay. */
  showJoint(joint: number): void {
    this.series.forEach((one, i) => {
      const shown = joint < 0 || one.joint < 0 || one.joint === joint;
      this.entries[i].row.hidden = !shown;
      this.show(i, shown);
    });
  }

  /** Rounding noise is not blown up to fill a plot, except where it is the subject. */
  private range(low: number | null, high: number | null): [number, number] {
    if (low === null || high === null) return [-1, 1];
    const least = this.series[0].group === "drift" ? 1e-18 : 1e-6;
    if (high - low < least) return [(low + high) / 2 - least, (low + high) / 2 + least];
    const room = 0.06 * (high - low);
    return [low - room, high + room];
  }

  private options(width: number): uPlot.Options {
    const axis: uPlot.Axis = {
      stroke: color("faint"),
      font: `11px ${color("mono")}`,
      grid: { stroke: color("line"), width: 1 },
      ticks: { show: false },
      gap: 6,
    };
    return {
      width,
      height,
      padding: [8, 14, 0, 0],
      pxAlign: false,
      legend: { show: false },
      focus: { alpha: 0.22 },
      cursor: {
        sync: { key: together.key },
        focus: { prox: 14 },
        points: { size: 6 },
        drag: { x: true, y: false, dist: 6 },
        y: false,
      },
      scales: { x: { time: false }, y: { range: (_, low, high) => this.range(low, high) } },
      axes: [
        { ...axis, size: 26, values: (_, ticks) => ticks.map((t) => `${+t.toPrecision(6)} s`) },
        { ...axis, size: 58, values: (_, ticks) => ticks.map(axisNumber) },
      ],
      series: [
        {},
        ...this.series.map((one, i) => ({
          label: one.name,
          stroke: seriesColor(this.colors[i]),
          width: 1.6,
          ...(one.compared ? { dash: [5, 4] } : {}),
          points: { show: false },
          show: this.entries[i].shown,
        })),
      ],
      hooks: {
        setCursor: [
          (u) => {
            this.hovered = u.cursor.idx ?? null;
            this.readOut();
          },
        ],
        setScale: [() => this.movePlayhead(this.playback.time)],
        ready: [
          (u) => {
            u.over.append(this.playhead);
            u.over.addEventListener("click", (event) => {
              if (u.select.width > 0) return; // that was a zoom
              this.playback.seek(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
            });
          },
        ],
      },
    };
  }

  private draw(): void {
    const width = this.host.clientWidth;
    if (width === 0) return;
    this.plot?.destroy();
    const gaps = (values: Float64Array): (number | null)[] | Float64Array =>
      values.some((x) => !Number.isFinite(x)) ? Array.from(values, (x) => (Number.isFinite(x) ? x : null)) : values;
    const data = [this.playback.times, ...this.series.map((one) => gaps(one.values))] as uPlot.AlignedData;
    this.plot = new uPlot(this.options(width), data, this.host);
    this.entries.forEach((entry, i) => entry.row.style.setProperty("--dot", seriesColor(this.colors[i])));
    this.setTime(this.playback.time);
  }

  private resize(): void {
    if (!this.plot) this.draw();
    else if (this.host.clientWidth > 0) this.plot.setSize({ width: this.host.clientWidth, height });
    this.movePlayhead(this.playback.time);
  }

  setTime(time: number): void {
    this.movePlayhead(time);
    if (this.hovered === null) this.readOut();
  }

  private movePlayhead(time: number): void {
    if (!this.plot) return;
    const x = this.plot.valToPos(time, "x");
    this.playhead.hidden = !(x >= 0 && x <= this.plot.over.clientWidth);
    this.playhead.style.transform = `translateX(${x}px)`;
  }

  /** Values under the cursor, or now. */
  private readOut(): void {
    const sample = this.hovered ?? this.playback.sample(this.playback.time);
    this.entries.forEach((entry, i) => {
      const text = format(this.series[i].values[sample]);
      if (entry.value.textContent !== text) entry.value.textContent = text;
    });
  }
}

function axisNumber(x: number): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return (size >= 1e5 || size < 1e-3 ? x.toExponential(1) : String(+x.toPrecision(6))).replaceAll("-", "−");
}

export class Plots {
  readonly element = h("div", { class: "plots" });
  private readonly plots: Plot[] = [];

  constructor(report: Report, playback: Playback) {
    const groups = new Map<string, Series[]>();
    for (const series of report.series) {
      const key = `${series.group}\n${series.unit}`;
      groups.set(key, [...(groups.get(key) ?? []), series]);
    }
    const order = [...new Set(report.series.map((series) => series.group))];
    const sorted = [...groups.values()].sort(([a], [b]) => order.indexOf(a.group) - order.indexOf(b.group) || rank(a) - rank(b));
    for (const series of sorted) {
      const plot = new Plot(titleOf(series[0].group, series[0].unit), series, playback);
      this.plots.push(plot);
      this.element.append(plot.element);
    }
    // Plots that cannot be seen need no work while the run plays.
    const seen = new Set<Element>();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target);
        else seen.delete(entry.target);
      }
      refresh();
    });
    const refresh = () => this.plots.forEach((plot) => seen.has(plot.element) && plot.setTime(playback.time));
    this.plots.forEach((plot) => observer.observe(plot.element));
    playback.onTime(refresh);
  }

  showJoint(joint: number): void {
    this.plots.forEach((plot) => plot.showJoint(joint));
  }
}
