#!/usr/bin/env python3
"""Holds the documentation to the code: links and their anchors lead somewhere, files that comments and pages name exist,
`file:line` references and excerpts of code hold, prose fits a screen, and the README's C++ is examples/first_steps.cpp,
which is built and run. --wrap FILE.. breaks prose lines that are too long."""
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# articula_bench writes the first; the others are still to be wrapped (--wrap FILE).
NOT_WRAPPED = {"docs/performance.md"}
# Names that stand for a user's file, not for one of ours.
USERS_OWN = {"main.cpp", "robot.cpp"}


def tracked():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return {name for name in listed.stdout.split("\n") if name and (ROOT / name).exists()}
    skip = {"build", "node_modules", ".git"}  # an archive without history
    return {str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and not skip & set(p.parts)}


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


def prose(text):
    """Lines of a page with their numbers, without code blocks."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def comments(name, text):
    mark = r"(?<![:\w])//+(.*)$" if re.search(r"\.([ch]pp|ts)$", name) else r"(?:^|\s)#(?!include)(.*)$"
    for number, line in enumerate(text.split("\n"), 1):
        for comment in re.findall(mark, line):
            yield number, comment


def names(where, lines, files, last_parts):
    """Files that a text names: from the root, or by the end of their path."""
    for number, line in lines:
        for name in re.findall(r"(?<![\w/.<-])(?:\.\./)*([\w*][\w*/.-]*\.(?:md|hpp|cpp))\b", line):
            last = name.split("/")[-1]
            if last in USERS_OWN or name in files:
                continue
            if "*" in name:
                found = any(fnmatch.fnmatch(file, "*" + name) for file in files)
            else:
                found = any(("/" + file).endswith("/" + name) for file in last_parts.get(last, ()))
            if not found:
                yield f"{where}:{number}: names {name}, which does not exist"


def width(name):
    return 110 if name.endswith("README.md") else 120


def long_lines(where, text):
    for number, line in prose(text):
        if len(line) > width(where) and not line.lstrip().startswith("|"):
            yield f"{where}:{number}: {len(line)} columns of prose, expected {width(where)} at most (--wrap mends it)"


def wrapped(text, columns):
    """Paragraphs and list items with a line that is too long, broken anew. Links and `code` stay whole."""
    out, lines, at, fenced = [], text.split("\n"), 0, False
    apart = re.compile(r"\s*($|#|\||!|<|```|    )|    ")
    item = re.compile(r"(\s*)([-*] |\d+\. )?")
    while at < len(lines):
        first = lines[at]
        fenced ^= first.lstrip().startswith("```")
        end = at + 1
        indent, bullet = item.match(first).groups(default="")
        if not fenced and not apart.match(first):
            hang = indent + " " * len(bullet)
            while (end < len(lines) and not apart.match(lines[end]) and item.match(lines[end]).group() == hang):
                end += 1
        block = lines[at:end]
        at = end
        if fenced or apart.match(first) or all(len(line) <= columns for line in block):
            out += block
            continue
        text = " ".join(line.strip() for line in block)[len(bullet):]
        words = re.findall(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S| (?=(?:[-+*#>]+|\d+\.) ))+", text)  # no line becomes an item
        line = indent + bullet + words[0]
        for word in words[1:]:
            if len(line) + 1 + len(word) > columns:
                out.append(line)
                line = hang + word
            else:
                line += " " + word
        out.append(line)
    return "\n".join(out)


def excerpts(where, text):
    """```cpp FILE: its lines stand in that file, but for spaces, trailing comments and what .. leaves out."""
    for name, code in re.findall(r"^```cpp (\S+)\n(.*?)^```", text, re.M | re.S):
        if not (ROOT / name).exists():
            yield f"{where}: an excerpt of {name}, which does not exist"
            continue
        source = re.sub(r"\s", "", (ROOT / name).read_text())
        for line in code.split("\n"):
            for part in re.sub(r"\s*//.*", "", line).split(".."):
                if re.sub(r"\s", "", part) not in source:
                    yield f"{where}: {name} does not contain `{part.strip()}`"


def readme_example():
    code = re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    if code != (ROOT / "examples/first_steps.cpp").read_text():
        yield "README.md: its C++ is not examples/first_steps.cpp"


def main():
    if sys.argv[1:2] == ["--wrap"]:
        for name in sys.argv[2:]:
            path = pathlib.Path(name)
            path.write_text(wrapped(path.read_text(), width(name)))
        return 0
    files = tracked()
    last_parts = {}
    for file in files:
        last_parts.setdefault(file.split("/")[-1], []).append(file)
    problems = list(readme_example())
    for name in sorted(files):
        path = ROOT / name
        if name.endswith(".md"):
            text = path.read_text()
            problems += [*links(path, text), *references(path, text), *excerpts(name, text)]
            if name != "CHANGELOG.md":  # it tells of files that are gone
                problems += names(name, prose(text), files, last_parts)
            if (name == "README.md" or name.startswith("docs/")) and name not in NOT_WRAPPED:
                problems += long_lines(name, text)
        elif re.search(r"\.([ch]pp|ts|py|sh|cmake)$|(^|/)(CMakeLists.txt|Makefile)$", name):
            problems += names(name, comments(name, path.read_text()), files, last_parts)
    print("\n".join(problems) if problems else "documentation: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
