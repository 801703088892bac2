// Pages of recorded runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkVideo, example, folder, pixels, program, settle, shoot, slide, test, visit } from "./support.mjs";

const landing = join(folder, "landing.html");
execFileSync(example, [landing]);

test("a report opens from disk, draws, and plots every group", async () => {
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
    await page.waitForFunction(() => parseFloat(document.querySelector(".clock")?.textContent ?? "") > 0); // it plays
    await page.keyboard.press(" ");
    const stopped = await time();
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

test("a report records one pass of its run", async () => {
  await visit(`file://${landing}`, { width: 900, height: 600 }, async (page) => {
    const coming = page.waitForEvent("download", { timeout: 60000 });
    await page.click(".record");
    assert.equal(await page.textContent(".record"), "Stop");
    const length = await checkVideo(page, coming, `${(await page.textContent("h1"))?.replaceAll(/[^\w.-]+/g, "_")}.webm`);
    // The run has 1.5 s; without a graphics card pictures come late, and the clock waits for them.
    assert.ok(length > 1.4 && length < 30, `${length} s`);
    assert.equal(await page.textContent(".record"), "Record");
    assert.match((await page.textContent(".clock")) ?? "", /^1\.5/, "it is at the end");
  });
});

test("a browser that cannot record says so", async () => {
  await visit(`file://${landing}`, {}, async (page) => {
    await page.evaluate(() => Reflect.deleteProperty(window, "MediaRecorder"));
    await page.click(".record");
    assert.match((await page.textContent(".corner")) ?? "", /cannot record WebM/);
    assert.equal(await page.textContent(".record"), "Record");
  });
});

test("two recordings on one stage, with their difference", async () => {
  const at = (/** @type {string} */ name) => join(folder, name);
  const simulate = (/** @type {string} */ integrator, /** @type {string} */ out) =>
    execFileSync(program, ["simulate", "puma560", "--duration", "2", "--step", "0.01", "--integrator", integrator, "--out", out]);
  simulate("rk4", at("rk4.csv"));
  simulate("euler", at("euler.csv"));
  execFileSync(program, ["report", "puma560", at("rk4.csv"), "--compare", at("euler.csv"), "--out", at("compare.html")]);
  await visit(`file://${at("compare.html")}`, {}, async (page) => {
    const groups = await page.$$eval(".plot", (plots) => plots.map((plot) => plot.getAttribute("data-group")));
    assert.deepEqual(groups.slice(0, 4), ["position", "position difference", "velocity", "velocity difference"]);
    const dots = await page.$$eval('.plot[data-group="position"] .dot', (all) => all.map((dot) => [dot.classList.contains("second"), getComputedStyle(dot).getPropertyValue("--dot")]));
    assert.deepEqual(dots.slice(0, 4).map(([second]) => second), [false, true, false, true]);
    assert.equal(dots[0][1], dots[1][1], "a curve and its twin share a colour");
    assert.notEqual(dots[0][1], dots[2][1]);
    assert.match((await page.textContent(".kind")) ?? "", /rk4\.csv; dashed, see-through: euler\.csv/);
    await slide(page, ".scrubber", 0.6);
    await settle(page);
    const values = await page.$$eval('.plot[data-group="position"] .value, .plot[data-group="position difference"] .value', (all) => all.map((one) => Number((one.textContent ?? "").replace("−", "-"))));
    assert.ok(Math.abs(values[1] - values[0] - values[12]) < 2e-3, `${values}: second less first`);
    assert.ok(Math.abs(values[12]) > 1e-3, "they differ");
    const both = await pixels(page, ".view canvas");
    await shoot(page, "report_compare");
    await page.click("text=Second");
    await settle(page);
    const one = await pixels(page, ".view canvas");
    assert.notEqual(one.sum, both.sum, "the second can be hidden");
    await page.selectOption("select.joint", { index: 1 });
    const shown = await page.$$eval('.plot[data-group="position"] .name', (names) => names.filter((name) => !(/** @type {HTMLElement} */ (name).hidden)).length);
    assert.equal(shown, 2, "one joint of both");
  });
});
