#!/usr/bin/env python3
"""tools/screenshots.py BUILD FOLDER [NAME..]: pictures of the site's first page, of a report, of two recordings compared
and of `articula view` (site, report, compare, view, scene; all, or those named), as they look at a desk and on a phone. After `make site`, whose environment has the browser's driver:
build/site/environment/bin/pip install pillow
build/site/environment/bin/python tools/screenshots.py build docs/pictures"""
import pathlib
import re
import subprocess
import sys
import tempfile

from PIL import Image
from playwright.sync_api import sync_playwright

from check_site import BROWSERS

SIZES = [(1400, 900), (400, 800)]
SLIDE = """(input, part) => { input.value = String(Number(input.min) + part * (Number(input.max) - Number(input.min)));
  input.dispatchEvent(new Event("input", { bubbles: true })); }"""


def shoot(browser, address, name, folder, prepare):
    for width, height in SIZES:
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
        page = context.new_page()
        page.goto(address)
        prepare(page)
        page.wait_for_timeout(500)  # until all is drawn
        picture = folder / f"{name}_{width}.png"
        page.screenshot(path=picture)
        Image.open(picture).convert("RGB").quantize(256, kmeans=5).save(picture, optimize=True)  # half the size
        context.close()


def play_to(part):
    def prepare(page):
        page.wait_for_selector(".view canvas")
        page.eval_on_selector(".scrubber", SLIDE, part)
    return prepare


def bend(page):
    page.wait_for_selector(".view canvas")
    for slider, part in zip(page.query_selector_all("aside input[type=range]"), [0.6, 0.45, 0.45, 0.9, 0.5, 0.65, 0.5]):
        slider.evaluate(SLIDE, part)


def pages(build, temporary, wanted):
    """Makes the pages of recordings: (name, address, what is done before the picture)."""
    def articula(*words):
        subprocess.run([build / "articula", *words], check=True)

    def run(name, *words):
        articula("simulate", "puma560", "--every", "0.01", "--out", temporary / f"{name}.csv", *words)
        return temporary / f"{name}.csv"
    if "site" in wanted:
        yield "site", (build / "site/html/index.html").as_uri(), lambda page: None
    if "report" in wanted:
        run("run", "--duration", "5", "--report", temporary / "run.html")
        yield "report", (temporary / "run.html").as_uri(), play_to(0.3)
    if "compare" in wanted:
        page = temporary / "compare.html"
        first = run("rk4", "--duration", "2", "--step", "0.01")
        second = run("euler", "--duration", "2", "--step", "0.01", "--integrator", "euler")
        articula("report", "puma560", first, "--compare", second, "--out", page)
        yield "compare", page.as_uri(), play_to(0.95)


def shoot_view(browser, build, model, name, folder, prepare):
    view = subprocess.Popen([build / "articula", "view", model, "--no-browser"], stdout=subprocess.PIPE, text=True)
    try:
        address = next(found for found in (re.search(r"http://\S+", line) for line in view.stdout) if found)
        shoot(browser, address.group(), name, folder, prepare)
    finally:
        view.terminate()
        view.wait()


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    wanted = sys.argv[3:] or ["site", "report", "compare", "view", "scene"]
    executable = next(path for path in BROWSERS if path and pathlib.Path(path).exists())
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=[
            "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"])
        for name, address, prepare in pages(build, pathlib.Path(temporary), wanted):
            shoot(browser, address, name, folder, prepare)
        if "view" in wanted:
            shoot_view(browser, build, "arm7", "view", folder, bend)
        if "scene" in wanted:
            shoot_view(browser, build, "stewart", "scene", folder, lambda page: page.wait_for_selector(".view canvas"))
        browser.close()


if __name__ == "__main__":
    main()
