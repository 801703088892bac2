#!/usr/bin/env python3
"""tools/screenshots.py BUILD FOLDER: pictures of the site's first page, of a report and of `articula view`, as they look
at a desk and on a phone. After `make site`, whose environment has the browser's driver:
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


def play(page):
    page.wait_for_selector(".view canvas")
    page.eval_on_selector(".scrubber", SLIDE, 0.3)


def bend(page):
    page.wait_for_selector(".view canvas")
    for slider, part in zip(page.query_selector_all("aside input[type=range]"), [0.6, 0.45, 0.45, 0.9, 0.5, 0.65, 0.5]):
        slider.evaluate(SLIDE, part)


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    executable = next(path for path in BROWSERS if path and pathlib.Path(path).exists())
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        report = pathlib.Path(temporary) / "run.html"
        subprocess.run([build / "articula", "simulate", "puma560", "--duration", "5", "--every", "0.01", "--out",
                        report.with_suffix(".csv"), "--report", report], check=True)
        browser = driver.chromium.launch(executable_path=executable, args=[
            "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"])
        shoot(browser, (build / "site/html/index.html").as_uri(), "site", folder, lambda page: None)
        shoot(browser, report.as_uri(), "report", folder, play)
        view = subprocess.Popen([build / "articula", "view", "arm7", "--no-browser"], stdout=subprocess.PIPE, text=True)
        try:
            address = next(found for found in (re.search(r"http://\S+", line) for line in view.stdout) if found)
            shoot(browser, address.group(), "view", folder, bend)
        finally:
            view.terminate()
            view.wait()
        browser.close()


if __name__ == "__main__":
    main()
