"""Turns the documents into a static site, for scripts/docs.

usage: docs.py SITE           converts sdk/docs and every file that its pages link to
       docs.py --check SITE   follows the links between the pages of a site
"""
import html
import html.parser
import os
import re
import sys

STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --page: #ffffff; --soft: #f3f5f7; --line: #d5dae0; --link: #0b5cad }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7ea; --page: #14181d; --soft: #1f252c; --line: #39424c; --link: #8ec0f5 } }
body { margin: 0; color: var(--text); background: var(--page); font: 16px/1.55 system-ui, sans-serif }
nav { padding: .7em 1.2em; border-bottom: 1px solid var(--line); background: var(--soft) }
nav a { margin-right: 1.2em; white-space: nowrap }
main { max-width: 62em; margin: 0 auto; padding: 1em 1.2em 4em }
a { color: var(--link) }
pre { padding: .8em 1em; overflow-x: auto; background: var(--soft); border: 1px solid var(--line); border-radius: 5px }
code { font: .9em ui-monospace, monospace; background: var(--soft) }
pre code { background: none }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { padding: .35em .7em; border: 1px solid var(--line); text-align: left; vertical-align: top }
img { max-width: 100% }
"""

NAVIGATION = [("Documentation", "sdk/docs/index.html"), ("Guide", "sdk/docs/guide/index.html"),
              ("Troubleshooting", "sdk/docs/troubleshooting.html"), ("API reference", "api/index.html"),
              ("Project", "index.html")]


def target_of(path):
    """The file of the site for a file or folder of the repository."""
    if os.path.isdir(path):
        return os.path.join(path, "index.html")
    folder, name = os.path.split(path)
    if name == "README.md":
        return os.path.join(folder, "index.html")
    return path[:-3] + ".html" if path.endswith(".md") else path


def page(site, target, title, body):
    up = "../" * target.count("/")
    links = "".join(f'<a href="{up}{where}">{name}</a>' for name, where in NAVIGATION)
    path = os.path.join(site, target)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)} - Tenon</title>'
                   '<meta name="viewport" content="width=device-width, initial-scale=1">'
                   f'<style>{STYLE}</style></head>\n<body><nav>{links}</nav><main>\n{body}\n</main></body></html>\n')


def anchor(text, separator="-"):
    """A heading's name as on the project's pages: lower case, no punctuation."""
    return re.sub(r"[^a-z0-9_ -]", "", text.lower()).replace(" ", separator)


def convert(site, path, found):
    import markdown
    with open(path) as file:
        text = file.read()
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"],
                             extension_configs={"toc": {"slugify": anchor}})
    folder = os.path.dirname(path)
    target = target_of(path)

    def link(match):
        where, _, heading = match.group(2).partition("#")
        if ":" in where or not where:
            return match.group(0)
        source = os.path.normpath(os.path.join(folder, where))
        if not os.path.exists(source):
            return match.group(0)
        found.append(source)
        relative = os.path.relpath(target_of(source), os.path.dirname(target) or ".")
        return f'{match.group(1)}="{relative}{"#" + heading if heading else ""}"'

    body = re.sub(r'(href|src)="([^"]*)"', link, body)
    title = re.search(r"^# (.*)", text, re.M)
    page(site, target, title.group(1) if title else path, body)


def copy(site, path, found):
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if not name.startswith((".", "__")))
        found += [os.path.join(path, name) for name in names if os.path.isfile(os.path.join(path, name))]
        rows = "".join(f'<li><a href="{html.escape(os.path.basename(target_of(os.path.join(path, name))))}">{html.escape(name)}</a></li>'
                       for name in names if os.path.isfile(os.path.join(path, name)))
        if "README.md" not in names:
            page(site, target_of(path), path, f"<h1>{html.escape(path)}</h1><ul>{rows}</ul>")
        return
    where = os.path.join(site, path)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    with open(path, "rb") as source, open(where, "wb") as target:
        target.write(source.read())


def make(site):
    waiting = ["README.md", "sdk/docs/README.md"]
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        (convert if path.endswith(".md") else copy)(site, path, waiting)
    print(f"{len(done)} files")


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.names = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def check(site):
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                links = Links()
                with open(path, errors="replace") as file:
                    links.feed(file.read())
                pages[path] = links
    faults = 0
    for path, links in sorted(pages.items()):
        for link in links.links:
            where, _, heading = link.partition("#")
            if ":" in where or where.startswith("//"):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), where)) if where else path
            if not os.path.exists(target):
                print(f"{os.path.relpath(path, site)}: {link} leads nowhere")
                faults += 1
            elif heading and target in pages and heading not in pages[target].names:
                print(f"{os.path.relpath(path, site)}: {link} names no heading")
                faults += 1
    print(f"{len(pages)} pages, {faults} broken links")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(check(sys.argv[2]) if sys.argv[1] == "--check" else make(sys.argv[1]))
