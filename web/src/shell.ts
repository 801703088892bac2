// What a report and a view share: the head of the page, the stage with its buttons, and the panel beside it.
import { h, icon, toggle } from "./dom";
import type { Mechanism } from "./data";
import { MechanismView } from "./mechanism";
import { Stage } from "./stage";
import { color, onTheme, toggleTheme } from "./theme";

const sunPath = "M8 1.5a6.5 6.5 0 1 0 0 13zM8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0z";

export interface Shell {
  stage: Stage;
  mechanism: MechanismView;
  panel: HTMLElement;
  /** Under the stage. */
  footer: HTMLElement;
  /** Over the stage, with the buttons that every page has. */
  tools: HTMLElement;
  /** What is pointed at, said in the corner of the stage. */
  say(text: string): void;
}

export function buildShell(data: Mechanism, kind: string): Shell {
  document.title = `${data.title} – Articula`;
  const head = h(
    "header",
    {},
    h("span", { class: "mark" }, icon("M2.5 13.5 8 3.5l5.5 7M8 3.5a1.6 1.6 0 1 0 .01 0zM2.5 13.5a1 1 0 1 0 .01 0zM13.5 10.5a1 1 0 1 0 .01 0z"), "articula"),
    h("h1", {}, data.title),
    h("span", { class: "kind" }, kind),
    h("button", { type: "button", class: "theme", title: "Light or dark", "aria-label": "Light or dark", click: toggleTheme }, icon(sunPath)),
  );
  const tools = h("div", { class: "tools", role: "toolbar", "aria-label": "What is shown" });
  const corner = h("div", { class: "corner", "aria-live": "polite" });
  const view = h("div", { class: "view" }, tools, corner);
  const footer = h("footer", {});
  const panel = h("aside", {});
  if (data.notes.length > 0)
    panel.append(h("details", { class: "notes" }, h("summary", {}, data.notes.length === 1 ? "A note" : `${data.notes.length} notes`), ...data.notes.map((note) => h("p", {}, note))));
  document.body.append(head, h("main", {}, h("section", { class: "stage" }, view, footer), panel));

  const stage = new Stage(view);
  const mechanism = new MechanismView(data);
  stage.scene.add(mechanism.group);
  const paint = () => mechanism.setAccent(color("accent"));
  onTheme(paint);
  paint();
  const switches: Record<string, HTMLButtonElement> = {
    f: toggle("Frames", "Frames of all links (f)", false, (on) => (mechanism.showFrames(on), stage.touch())),
    a: toggle("Axes", "Axes of the joints (a)", false, (on) => (mechanism.showAxes(on), stage.touch())),
  };
  tools.append(...Object.values(switches));
  tools.append(h("button", { type: "button", title: "Look from the first place (r)", click: () => stage.lookHome() }, "Reset view"));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).matches("input:not([type=range]), select")) return;
    switches[event.key]?.click();
    if (event.key === "r") stage.lookHome();
  });
  return { stage, mechanism, panel, footer, tools, say: (text) => (corner.textContent = text) };
}

/** A click on a link that is no drag: its index, or -1 beside all. */
export function onPick(shell: Shell, picked: (link: number) => void): void {
  const { stage, mechanism } = shell;
  let down = { x: 0, y: 0 };
  stage.canvas.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY }));
  stage.canvas.addEventListener("pointerup", (event) => {
    if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4) return;
    const hit = stage.pick(event.clientX, event.clientY, [mechanism.group]);
    picked(hit ? (hit.object.userData["link"] as number) : -1);
  });
}

/** The joint that moves a link, looking inboard is not needed for what is welded: then -1. */
export const jointOf = (data: Mechanism, link: number): number => data.joints.findIndex((joint) => joint.link === link);
