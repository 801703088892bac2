#!/usr/bin/env python3
"""tools/check_site.py SITE: holds the site of `make site` to its promises. Every link leads
to a page and a place in it that exist. In headless Chromium, at the width of a desk and of a phone, in light and dark:
no script error, no request to another host, no page wider than the window, text that stands out from its ground as
WCAG AA asks, search that finds, and a picture or an example near the top of every page of docs/."""
import argparse
import html.parser
import os
import pathlib
import sys
import urllib.parse

# Doxygen's pages are made from a few templates: their links are all checked, but only these are opened in Chromium.
REFERENCE_PAGES = ["index", "annotated", "files", "classarticula_1_1Model", "forward__dynamics_8hpp", "namespacearticula"]
DOXYGENS_OWN = {"nested-classes"}  # a heading that Doxygen 1.9 lists and leaves out where all nested classes are private
BROWSERS = [os.environ.get("CHROMIUM", ""), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
LOOKS = [("light", 1400, 900), ("dark", 400, 800)]
NEAR_TOP = 900  # pixels at a desk's width: on the first screen

CONTRAST = r"""() => {
  const parse = (text) => {
    const m = text.match(/rgba?\(([^)]+)\)/);
    if (!m) return null;
    const [r, g, b, a = 1] = m[1].split(/[ ,\/]+/).map(Number);
    return [r, g, b, a];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const ground = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color && color[3] > 0) layers.push(color);
      if (color && color[3] === 1) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255, 1]);
  };
  const luminance = (c) => {
    const [r, g, b] = c.slice(0, 3).map((x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
    if (!text || element.closest("script, style, noscript, svg") || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element), color = parse(style.color);
    if (!color || parseFloat(style.fontSize) < 2) continue;
    const back = ground(element), front = over(color, back);
    const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const key = `${style.color} on rgb(${back.slice(0, 3).map(Math.round)})`;
    if (ratio < (large ? 3 : 4.5) && !found.has(key))
      found.set(key, `${key}: contrast ${ratio.toFixed(2)}, at '${text.slice(0, 30)}' (${element.tagName.toLowerCase()}.${element.className})`);
  }
  return [...found.values()];
}"""

# The topmost picture or block of code of a page, in pixels from its top.
FIRST_EXAMPLE = """() => Math.min(Infinity, ...[...document.querySelectorAll("article img, article pre")]
  .map((e) => e.getBoundingClientRect().top + scrollY))"""


class Page(html.parser.HTMLParser):
    """Links of a page, and the names that links can lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.add(value)


def broken_links(site):
    pages = {path: Page(path.read_text(errors="replace")) for path in sorted(site.rglob("*.html"))}
    count = 0
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:  # to other hosts, for readers to follow
                if parts.scheme == "http" or (parts.netloc and not parts.scheme):
                    yield f"{path.relative_to(site)}: {link} is not by https"
                continue
            count += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            place = urllib.parse.unquote(parts.fragment)
            if site not in target.parents or not target.is_file():
                yield f"{path.relative_to(site)}: link to {link}, which does not exist"
            elif place and target in pages and place not in pages[target].places | DOXYGENS_OWN:
                yield f"{path.relative_to(site)}: link to {link}, where no place is called that"
    print(f"site: {len(pages)} pages, {count} links within it")


def opened(browser, site, name, look):
    """What is wrong with one page as a reader sees it."""
    scheme, width, height = look
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme,
                                  reduced_motion="reduce", offline=True)
    page, problems = context.new_page(), []
    page.on("console", lambda m: problems.append(f"console: {m.text}") if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(f"script error: {error}"))
    page.on("request", lambda r: problems.append(f"asks for {r.url}")
            if not r.url.startswith((site.as_uri(), "data:", "blob:")) else None)
    page.goto((site / name).as_uri())
    problems += page.evaluate(CONTRAST)
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        problems.append(f"{wide} pixels wide in a window of {width}")
    own = name.startswith("docs/") or name in ("index.html", "cpp.html")
    if own and width > 1000 and page.evaluate(FIRST_EXAMPLE) > NEAR_TOP:
        problems.append(f"no picture or example within {NEAR_TOP} pixels of its top")
    context.close()
    return [f"{name} ({scheme}, {width} pixels): {problem}" for problem in problems]


def search_problems(browser, site):
    for query, expected in [("Lambda", "docs/operational_space.html"), ("monte carlo", "docs/simulation.html")]:
        page = browser.new_page()
        page.goto(f"{(site / 'search.html').as_uri()}?{urllib.parse.urlencode({'q': query})}")
        try:
            page.wait_for_selector(f"#search-results a[href*='{expected}']", timeout=20000)
        except Exception:  # the library's own kind of timeout
            yield f"search for '{query}' does not find {expected}"
        page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=pathlib.Path)
    options = parser.parse_args()
    site = options.site.resolve()
    if not (site / "index.html").is_file():
        print(f"site: {options.site}/index.html does not exist")
        return 2
    problems = list(broken_links(site))
    executable = next((path for path in BROWSERS if path and pathlib.Path(path).exists()), None)
    if not executable:
        print("site: no Chromium (Debian: chromium; or set CHROMIUM to its path)")
        return 2
    from playwright.sync_api import sync_playwright
    names = sorted(str(p.relative_to(site)) for p in site.rglob("*.html") if "reference" not in p.relative_to(site).parts[:1])
    reference = [f"reference/{name}.html" for name in REFERENCE_PAGES]
    problems += [f"{name} does not exist" for name in reference if not (site / name).is_file()]
    names += [name for name in reference if (site / name).is_file()]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name in names:
            for look in LOOKS:
                problems += opened(browser, site, name, look)
        problems += search_problems(browser, site)
        browser.close()
    print("\n".join(problems) if problems else
          f"site: clean; {len(names)} pages opened in Chromium, light at 1400 and dark at 400 pixels")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
