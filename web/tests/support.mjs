// What the tests of the page share: a browser, pages that complain of nothing, and hands.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const [program, example, screenshots] = process.argv.slice(2);
const executablePath = [process.env["CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
if (!executablePath) {
  console.log("skipped: no Chromium (Debian: chromium; or set CHROMIUM to its path)");
  process.exit(77);
}
mkdirSync(screenshots, { recursive: true });
export const folder = mkdtempSync(join(tmpdir(), "articula-web-"));

/** @typedef {import("playwright-core").Page} Page */

export const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

/**
 * Opens an address in a page of its own, runs the check, and fails on any console error or request that leaves.
 * @param {string} address
 * @param {{width?: number, height?: number, dark?: boolean}} look
 * @param {(page: Page) => Promise<void>} check
 */
export async function visit(address, look, check) {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1440, height: look.height ?? 900 },
    colorScheme: look.dark ? "dark" : "light",
    reducedMotion: "reduce", // it does not play by itself
  });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (message) => {
    // Software rendering warns that pixels are read back slowly.
    if (["error", "warning"].includes(message.type()) && !/ReadPixels|swiftshader|GPU stall/i.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  const home = new URL(address);
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["data:", "blob:"].includes(url.protocol) && url.origin + (home.protocol === "file:" ? url.pathname : "") !== home.origin + (home.protocol === "file:" ? home.pathname : ""))
      complaints.push(`asked for ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForSelector(".view canvas");
  await settle(page);
  await check(page);
  assert.deepEqual(complaints, [], "the console stays empty and nothing is fetched");
  await context.close();
}

/** Until a few frames are drawn. @param {Page} page */
export const settle = (page) =>
  page.evaluate(() => new Promise((done) => {
    let frames = 0;
    const next = () => (++frames < 4 ? requestAnimationFrame(next) : done(undefined));
    requestAnimationFrame(next);
  }));

/** A canvas' pixels in few numbers: how many differ from the first, and a sum that changes with any of them.
 *  @param {Page} page @param {string} selector */
export const pixels = (page, selector) =>
  page.$eval(selector, (element) => {
    const canvas = /** @type {HTMLCanvasElement} */ (element);
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = /** @type {CanvasRenderingContext2D} */ (copy.getContext("2d", { willReadFrequently: true }));
    context.drawImage(canvas, 0, 0);
    const data = new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer);
    let sum = 0;
    const colors = new Set();
    for (let i = 0; i < data.length; ++i) {
      sum = (Math.imul(sum, 31) + data[i]) | 0;
      if (colors.size < 5000) colors.add(data[i]);
    }
    return { colors: colors.size, sum };
  });

/** @param {Page} page @param {string} name */
export const shoot = (page, name) => page.screenshot({ path: join(screenshots, `${name}.png`) });

/** Moves a range input as a hand would. @param {Page} page @param {string} selector @param {number} part */
export const slide = (page, selector, part) =>
  page.$eval(selector, (element, part) => {
    const input = /** @type {HTMLInputElement} */ (element);
    input.value = String(Number(input.min) + part * (Number(input.max) - Number(input.min)));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, part);

/** @type {[string, () => Promise<void>][]} */
export const tests = [];
/** @param {string} name @param {() => Promise<void>} run */
export const test = (name, run) => tests.push([name, run]);

/** Runs `articula view` while `check` looks at its address. @param {string[]} args @param {(address: string) => Promise<void>} check */
export async function served(args, check) {
  const server = spawn(program, ["view", ...args, "--no-browser"], { stdio: ["ignore", "pipe", "pipe"] });
  try {
    const address = await new Promise((found, failed) => {
      let text = "";
      server.stdout.on("data", (chunk) => (text += chunk) && text.includes("\n") && found(text.trim()));
      server.on("exit", (code) => failed(new Error(`articula view ended with ${code}`)));
    });
    await check(address);
  } finally {
    const ended = new Promise((done) => server.on("exit", (code) => done(code)));
    server.kill("SIGINT");
    assert.equal(await ended, 0, "Ctrl-C ends it cleanly");
  }
}

/** Waits for a video, looks that it is WebM, and plays it. @param {Page} page @param {Promise<import("playwright-core").Download>} coming @param {string} name */
export async function checkVideo(page, coming, name) {
  const download = await coming;
  assert.equal(download.suggestedFilename(), name);
  const file = join(folder, `video-${name}`);
  await download.saveAs(file);
  const bytes = readFileSync(file);
  assert.equal(bytes.subarray(0, 4).toString("hex"), "1a45dfa3", "an EBML header");
  assert.ok(bytes.includes(Buffer.from("webm")), "of WebM");
  assert.ok(bytes.length > 5000, `${bytes.length} bytes`);
  const player = await page.context().newPage();
  const shown = await player.evaluate(async (text) => {
    const video = document.createElement("video");
    video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], { type: "video/webm" }));
    video.muted = true; // or it may not play by itself
    const shows = new Promise((done) => video.requestVideoFrameCallback(done));
    await video.play();
    await shows;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.drawImage(video, 0, 0);
    const corner = [...context.getImageData(2, 2, 1, 1).data];
    video.currentTime = 1e6; // the end: a recorder writes no length
    await new Promise((done) => video.addEventListener("seeked", done, { once: true }));
    return { width: video.videoWidth, corner, length: video.currentTime };
  }, bytes.toString("base64"));
  await player.close();
  assert.ok(shown.width > 300, `${shown.width} pixels wide`);
  assert.ok(shown.corner[0] > 200, `the stage's colour is behind it, not black: ${shown.corner}`);
  return shown.length;
}
