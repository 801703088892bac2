// Pages of `articula view`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { checkVideo, folder, pixels, program, served, settle, shoot, slide, test, visit } from "./support.mjs";

/** @typedef {import("playwright-core").Page} Page */

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

/** Where the ball of the chosen frame is on the screen. @param {Page} page */
const ball = (page) =>
  page.$eval(".view", (view) => {
    const [x, y] = (view.getAttribute("data-handle") ?? "").split(" ").map(Number);
    return { x, y };
  });
/** @param {Page} page */
const sliderValues = (page) => page.$$eval(".slider .value", (all) => all.map((one) => parseFloat((one.textContent ?? "").replace("−", "-"))));

/** Drags the ball by so many pixels, as a hand would, and waits for what the library answers: where the ball has been.
 *  @param {Page} page @param {number} dx @param {number} dy */
async function drag(page, dx, dy) {
  const from = await ball(page);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  const path = [from];
  for (let i = 1; i <= 10; ++i) {
    await page.mouse.move(from.x + (dx * i) / 10, from.y + (dy * i) / 10);
    await page.waitForTimeout(100);
    path.push(await ball(page));
  }
  await page.waitForTimeout(400);
  await settle(page);
  return path;
}

test("the mouse drags a frame, the joints follow", async () => {
  await served(["arm7"], (address) =>
    visit(address, {}, async (page) => {
      await slide(page, "#slider-3", 0.7);
      await slide(page, "#slider-1", 0.6);
      await page.waitForTimeout(300);
      await settle(page);
      const before = { robot: (await pixels(page, ".view canvas")).sum, values: await sliderValues(page) };
      const [from] = await drag(page, 60, 40);
      await shoot(page, "view_drag");
      const held = await ball(page);
      assert.ok(Math.hypot(held.x - from.x - 60, held.y - from.y - 40) < 2, `it is under the mouse: ${JSON.stringify([from, held])}`);
      await page.mouse.up();
      const values = await sliderValues(page);
      assert.ok(values.some((x, i) => Math.abs(x - before.values[i]) > 0.02), "sliders follow");
      assert.notEqual((await pixels(page, ".view canvas")).sum, before.robot);
      // Beyond reach: it stretches towards the mouse and stays within the limits.
      const path = await drag(page, 0, -500);
      const far = await ball(page);
      await shoot(page, "view_drag_far");
      await page.mouse.up();
      assert.ok(far.y > path[0].y - 480, "the mouse is out of reach");
      path.slice(1).forEach((at, i) => assert.ok(Math.hypot(at.x - path[i].x, at.y - path[i].y) < 150, `no jumps: ${JSON.stringify(path)}`));
      const inputs = await page.$$eval(".slider input", (all) => all.map((one) => /** @type {HTMLInputElement} */ (one)).map((one) => [Number(one.min), Number(one.max)]));
      (await sliderValues(page)).forEach((x, i) => assert.ok(x >= inputs[i][0] - 1e-3 && x <= inputs[i][1] + 1e-3, `slider ${i}: ${x}`));
      // Beside the ball the mouse turns the view as ever.
      const sliders = await sliderValues(page);
      await page.mouse.move(300, 700);
      await page.mouse.down();
      await page.mouse.move(380, 690, { steps: 4 });
      await page.mouse.up();
      await settle(page);
      assert.deepEqual(await sliderValues(page), sliders);
      // A video of a view: from click to click.
      const coming = page.waitForEvent("download", { timeout: 30000 });
      await page.click(".record");
      await slide(page, "#slider-0", 0.7);
      await page.waitForTimeout(1000);
      await page.click(".record");
      await checkVideo(page, coming, "arm7.webm");
    }),
  );
});

test("a closed chain stays closed under sliders and mouse", async () => {
  await served(["four_bar"], (address) =>
    visit(address, {}, async (page) => {
      assert.match((await page.textContent("h1")) ?? "", /four_bar/);
      const before = await sliderValues(page);
      await slide(page, "#slider-0", 0.7);
      await page.waitForFunction((first) => document.querySelectorAll(".slider .value")[1].textContent !== first, `${before[1].toFixed(3).replace("-", "−")} rad`);
      const after = await sliderValues(page);
      assert.notEqual(after[0], before[0]);
      for (const i of [1, 2]) assert.notEqual(after[i], before[i], `joint ${i} follows`);
      // Asked to close from anywhere, it does, or says that it cannot.
      await page.click("text=Random");
      await page.waitForTimeout(400);
      await page.click(".actions >> text=Reset");
      await page.waitForTimeout(400);
      assert.deepEqual(await sliderValues(page), before);
      await drag(page, 30, -30);
      await page.mouse.up();
      assert.notDeepEqual(await sliderValues(page), before);
      await shoot(page, "view_four_bar");
    }),
  );
  await served(["stewart"], (address) =>
    visit(address, { dark: true }, async (page) => {
      await page.selectOption(".block h2 select", { label: "platform/body" });
      await page.waitForTimeout(200);
      await drag(page, 40, -30);
      await page.mouse.up();
      await shoot(page, "view_stewart");
    }),
  );
});
