// Light and dark: the system's choice until a button says otherwise. Colours live in style.css; what draws on a
// canvas asks for them here.

const listeners = new Set<() => void>();
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

export const isDark = (): boolean => root.dataset["theme"] === "dark";

function setTheme(dark: boolean): void {
  root.dataset["theme"] = dark ? "dark" : "light";
  listeners.forEach((listener) => listener());
}
setTheme(system.matches);
const followSystem = () => setTheme(system.matches);
system.addEventListener("change", followSystem);

export function toggleTheme(): void {
  system.removeEventListener("change", followSystem);
  setTheme(!isDark());
}

/** Called whenever the colours change. */
export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

/** A colour of style.css by name. */
export const color = (name: string): string =>
  getComputedStyle(root).getPropertyValue(`--${name}`).trim();

// Ten that stay apart in both themes, also for eyes that mix red and green.
const onLight = ["#c2571a", "#1f6fb2", "#2a8a62", "#8b4fb0", "#a8860b", "#c23b6e", "#2794a8", "#6b7280", "#5b5bd6", "#7a5230"];
const onDark = ["#ff9d5c", "#6cb6f5", "#5fd0a0", "#c79bf0", "#e6c75a", "#f58bb0", "#62d2e6", "#a9b1bd", "#9a9aff", "#c9a27e"];
export const seriesColor = (index: number): string => (isDark() ? onDark : onLight)[index % onLight.length];
