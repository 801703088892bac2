import { readData } from "./data";
import { h } from "./dom";
import { reportPage } from "./report_page";
import "./style.css";
import { viewPage } from "./view_page";

function start(): void {
  const data = readData(document.getElementById("articula-data")?.textContent ?? "");
  if (data.kind === "view") viewPage(data);
  else reportPage(data);
}

try {
  start();
} catch (error) {
  const webgl = error instanceof Error && /webgl/i.test(error.message);
  const reason = webgl ? "This browser gives the page no WebGL, which the drawing needs." : String(error);
  document.body.append(h("p", { class: "failure" }, `The page cannot be shown. ${reason}`));
  if (!webgl) throw error;
}
