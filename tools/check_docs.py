#!/usr/bin/env python3
"""Holds the documentation to the code: links and their anchors lead somewhere, `file:line` references of docs/papers exist, and the README's
C++ is examples/first_steps.cpp, which is built and run."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def anchors(text):
    """What headings are called in links, as GitHub and GitLab make it."""
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(path, text):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
        file = path.parent / target if target else path
        if "://" in target:
            continue
        if not file.exists():
            yield f"{path.relative_to(ROOT)}: link to {target}, which does not exist"
        elif anchor and anchor not in anchors(file.read_text()):
            yield f"{path.relative_to(ROOT)}: link to {target}#{anchor}, where no heading is called that"


def references(path, text):
    for name, line, words in re.findall(r"`((?:articula|cli|tests)/[\w/.]+?)(?::(\d+))?`(?: \(`([^`]+)`\))?", text):
        source = ROOT / name
        if not source.exists():
            yield f"{path.relative_to(ROOT)}: names {name}, which does not exist"
        elif line and int(line) > len(source.read_text().splitlines()):
            yield f"{path.relative_to(ROOT)}: {name} has no line {line}"
        elif words and words not in source.read_text():
            yield f"{path.relative_to(ROOT)}: {name} does not contain `{words}`"


def readme_example():
    code = re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    if code != (ROOT / "examples/first_steps.cpp").read_text():
        yield "README.md: its C++ is not examples/first_steps.cpp"


def main():
    problems = list(readme_example())
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = path.read_text()
        problems += [*links(path, text), *references(path, text)]
    print("\n".join(problems) if problems else "documentation: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
