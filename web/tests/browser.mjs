// The page in headless Chromium: browser.mjs PROGRAM EXAMPLE_REPORT SCREENSHOTS. Exit 77: no Chromium, skipped.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [program, example, screenshots] = process.argv.slice(2);
const executablePath = [process.env["CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
if (!executablePath) {
  console.log("skipped: no Chromium (Debian: chromium; or set CHROMIUM to its path)");
  process.exit(77);
}
mkdirSync(screenshots, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "articula-web-"));

/** @typedef {import("playwright-core").Page} Page */

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

/**
 * Opens an address in a page of its own, runs the check, and fails on any console error or request that leaves.
 * @param {string} address
 * @param {{width?: number, height?: number, dark?: boolean}} look
 * @param {(page: Page) => Promise<void>} check
 */
async function visit(address, look, check) {
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
const settle = (page) =>
  page.evaluate(() => new Promise((done) => {
    let frames = 0;
    const next = () => (++frames < 4 ? requestAnimationFrame(next) : done(undefined));
    requestAnimationFrame(next);
  }));

/** A canvas' pixels in few numbers: how many differ from the first, and a sum that changes with any of them.
 *  @param {Page} page @param {string} selector */
const pixels = (page, selector) =>
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
const shoot = (page, name) => page.screenshot({ path: join(screenshots, `${name}.png`) });

/** Moves a range input as a hand would. @param {Page} page @param {string} selector @param {number} part */
const slide = (page, selector, part) =>
  page.$eval(selector, (element, part) => {
    const input = /** @type {HTMLInputElement} */ (element);
    input.value = String(Number(input.min) + part * (Number(input.max) - Number(input.min)));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, part);

/** @type {[string, () => Promise<void>][]} */
const tests = [];
/** @param {string} name @param {() => Promise<void>} run */
const test = (name, run) => tests.push([name, run]);

const landing = join(folder, "landing.html");

test("a report opens from disk, draws, and plots every group", async () => {
  execFileSync(example, [landing]);
  await visit(`file://${landing}`, {}, async (page) => {
    assert.match(await page.title(), /quadruped lands/);
    assert.ok((await pixels(page, ".view canvas")).colors > 200, "the mechanism is drawn");
    const groups = await page.$$eval(".plot", (plots) => plots.map((plot) => plot.getAttribute("data-group")));
    for (const group of ["position", "velocity", "torque", "energy", "linear momentum", "angular momentum"]) assert.ok(groups.includes(group), group);
    assert.ok((await pixels(page, ".plot .uplot canvas")).colors > 20, "curves are drawn");
    await slide(page, ".scrubber", 0.3);
    await settle(page);
    await shoot(page, "report");
  });
});

test("scrubbing moves the robot, the clock and the plots", async () => {
  await visit(`file://${landing}`, {}, async (page) => {
    const before = await pixels(page, ".view canvas");
    const values = () => page.$$eval(".plot .value", (all) => all.map((one) => one.textContent).join());
    const before_values = await values();
    await slide(page, ".scrubber", 0.5);
    await settle(page);
    assert.notEqual((await pixels(page, ".view canvas")).sum, before.sum);
    assert.notEqual(await values(), before_values);
    assert.match((await page.textContent(".clock")) ?? "", /^0\.75/);
    // A click in a plot goes there.
    const plot = await page.$(".plot .u-over");
    const area = await plot?.boundingBox();
    assert.ok(area);
    await page.mouse.click(area.x + area.width / 3, area.y + 40);
    await settle(page);
    assert.match((await page.textContent(".clock")) ?? "", /^0\.(49|50)/);
  });
});

test("keys play, pause and step; buttons show frames and axes", async () => {
  await visit(`file://${landing}`, { dark: true }, async (page) => {
    const time = async () => parseFloat((await page.textContent(".clock")) ?? "");
    await page.keyboard.press(" ");
    await page.waitForTimeout(400);
    await page.keyboard.press(" ");
    const stopped = await time();
    assert.ok(stopped > 0, "it played");
    await page.waitForTimeout(150);
    assert.equal(await time(), stopped, "and paused");
    await page.keyboard.press("ArrowRight"); // the first may be less than the clock shows
    await page.keyboard.press("ArrowRight");
    assert.ok((await time()) > stopped);
    await page.keyboard.press("Home");
    assert.equal(await time(), 0);
    await slide(page, ".scrubber", 0.6);
    await settle(page);
    const plain = await pixels(page, ".view canvas");
    await page.keyboard.press("f");
    await settle(page);
    const frames = await pixels(page, ".view canvas");
    assert.notEqual(frames.sum, plain.sum, "frames appear");
    await page.keyboard.press("a");
    await settle(page);
    assert.notEqual((await pixels(page, ".view canvas")).sum, frames.sum, "axes appear");
    await shoot(page, "report_dark_frames_axes");
    await page.keyboard.press("f");
    await page.keyboard.press("a");
    await settle(page);
    assert.equal((await pixels(page, ".view canvas")).sum, plain.sum, "and go");
    await page.click("text=Forces");
    await settle(page);
    assert.notEqual((await pixels(page, ".view canvas")).sum, plain.sum, "forces can be hidden");
  });
});

test("one joint can be chosen", async () => {
  await visit(`file://${landing}`, {}, async (page) => {
    const shown = () => page.$$eval('.plot[data-group="torque"] .name', (names) => names.filter((name) => !(/** @type {HTMLElement} */ (name).hidden)).length);
    const all = await shown();
    await page.selectOption("select.joint", { label: "lf_knee" });
    assert.equal(await shown(), 1);
    assert.match((await page.textContent(".corner")) ?? "", /lf_knee/);
    await page.selectOption("select.joint", { label: "All joints" });
    assert.equal(await shown(), all);
  });
});

test("the page fits a narrow screen", async () => {
  await visit(`file://${landing}`, { width: 390, height: 844 }, async (page) => {
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "nothing sticks out");
    await slide(page, ".scrubber", 0.4);
    await settle(page);
    await shoot(page, "report_narrow");
  });
});

test("simulate writes a page; hostile names stay text", async () => {
  const urdf = join(folder, "hostile.urdf");
  const name = "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;";
  writeFileSync(join(folder, "wedge.obj"), "v 0 0 0\nv 0.4 0 0\nv 0.4 0.3 0\nv 0 0 -0.5\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  writeFileSync(
    urdf,
    `<robot name="${name}"><link name="base"><visual><geometry><box size="0.2 0.2 0.02"/></geometry></visual></link>
     <link name="${name}"><inertial><origin xyz="0.2 0 -0.2"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
       <visual><geometry><mesh filename="package://anything/wedge.obj"/></geometry><material name="red"><color rgba="0.8 0.2 0.2 1"/></material></visual></link>
     <joint name="${name}j" type="continuous"><parent link="base"/><child link="${name}"/><axis xyz="0 1 0"/></joint></robot>`,
  );
  const page = join(folder, "hostile.html");
  execFileSync(program, ["simulate", urdf, "--duration", "2", "--step", "0.002", "--every", "0.01", "--out", join(folder, "h.csv"), "--report", page]);
  await visit(`file://${page}`, {}, async (tab) => {
    assert.equal(await tab.$("img"), null);
    assert.match((await tab.textContent("h1")) ?? "", /<\/script><img/);
    const groups = await tab.$$eval(".plot", (plots) => plots.map((plot) => plot.getAttribute("data-group")));
    for (const group of ["position", "velocity", "energy", "drift", "linear momentum"]) assert.ok(groups.includes(group), group);
    assert.equal(await tab.$$eval(".notes", (notes) => notes.length), 0, "the mesh was found");
    await slide(tab, ".scrubber", 0.3);
    await settle(tab);
    await shoot(tab, "report_mesh");
  });
});

/** Runs `articula view` while `check` looks at its address. @param {string[]} args @param {(address: string) => Promise<void>} check */
async function served(args, check) {
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

test("a slider changes robot, heat map, D and ellipsoid", async () => {
  await served(["arm7"], (address) =>
    visit(address, {}, async (page) => {
      assert.ok((await pixels(page, ".view canvas")).colors > 200, "the mechanism is drawn");
      const read = async () => ({
        map: (await pixels(page, ".heatmap")).sum,
        robot: (await pixels(page, ".view canvas")).sum,
        D: await page.$$eval(".bar .value", (values) => values.map((value) => value.textContent).join()),
        mass: await page.textContent(".numbers dd"),
      });
      const before = await read();
      await slide(page, "#slider-3", 0.8);
      await page.waitForFunction((D) => Array.from(document.querySelectorAll(".bar .value"), (value) => value.textContent).join() !== D, before.D);
      await settle(page);
      const after = await read();
      for (const key of /** @type {(keyof typeof after)[]} */ (Object.keys(after))) assert.notEqual(after[key], before[key], key);
      await slide(page, "#slider-1", 0.75);
      await slide(page, "#slider-5", 0.7);
      await page.waitForTimeout(300);
      await settle(page);
      await shoot(page, "view");
      await page.selectOption(".block h2 select", { label: "forearm" }).catch(() => undefined);
    }),
  );
});

test("a free-floating humanoid in the dark", async () => {
  await served(["humanoid", "--base", "free"], (address) =>
    visit(address, { dark: true }, async (page) => {
      await slide(page, "#slider-8", 0.9);
      await page.waitForTimeout(300);
      await settle(page);
      await shoot(page, "view_dark");
    }),
  );
});

test("a chain without looks is drawn as capsules", async () => {
  const page = join(folder, "chain.html");
  execFileSync(program, ["view", "chain:12", "--out", page]);
  await visit(`file://${page}`, {}, async (tab) => {
    assert.ok((await pixels(tab, ".view canvas")).colors > 200, "the mechanism is drawn");
    assert.equal(await tab.$(".slider"), null, "a page from disk has no sliders");
    await shoot(tab, "view_chain");
  });
});

let failures = 0;
const only = process.argv[5];
for (const [name, run] of tests) {
  if (only && !name.includes(only)) continue;
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAIL  ${name}\n${error instanceof Error ? error.stack : error}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
process.exit(failures > 0 ? 1 : 0);
