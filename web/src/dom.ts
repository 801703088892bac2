// Elements in one call. Text is always text: names from files never become markup.

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** A button that is on or off. */
export function toggle(label: string, title: string, on: boolean, changed: (on: boolean) => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: "toggle", title, "aria-pressed": String(on) }, label);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    changed(now);
  });
  return button;
}

/** Icons are drawn here, for a page without a network has no icon font. */
export function icon(path: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/** Four digits that matter, at a width that does not jump. */
export function format(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(digits - 2).replaceAll("-", "−").replace("e+", "e");
  return x.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size)))).replace("-", "−");
}
