"""The licence texts of what a release links."""

import json
import re
import subprocess
from pathlib import Path

from project import ROOT

LICENCE_FILES = re.compile(r"(?i)^(un)?licen[cs]e|^copying|^notice|^copyright")


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], check=True, text=True, encoding="utf-8", **options)


def output(*command: object, **options: object) -> str:
    return run(*command, stdout=subprocess.PIPE, **options).stdout


def licences(target: str, *selection: str) -> str:
    """The licence texts of everything that `selection`, arguments of `cargo tree`, links for `target`."""
    metadata = output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target, cwd=ROOT)
    packages = {f"{package['name']} v{package['version']}": package for package in json.loads(metadata)["packages"]}
    tree = ["cargo", "tree", "--locked", *selection, "--target", target]
    lines = output(*tree, "-e", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", cwd=ROOT).splitlines()
    linked = {" ".join(line.split()[:2]) for line in lines if line}
    # Many packages have the same text: each text is there once, after the list of packages.
    listed, users = [], {}
    for name in sorted(linked):
        package = packages[name]
        if package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        listed.append(f"{name}: {package['license'] or 'see below'}, {package['repository'] or 'no repository named'}\n")
        for path in sorted(folder.rglob("*")):
            # zstd may be used under BSD (LICENSE) or GPL (COPYING): it is used under BSD.
            is_other = path.name == "COPYING" and (path.parent / "LICENSE").is_file()
            if path.is_file() and LICENCE_FILES.match(path.name) and path.suffix not in {".rs", ".html"} and not is_other:
                text = path.read_text(encoding="utf-8", errors="replace").strip()
                key = " ".join(text.split())
                users.setdefault(key, (text, []))[1].append(f"{name} ({path.relative_to(folder).as_posix()})")
    texts = [f"{'=' * 100}\n{', '.join(names)}\n\n{text}\n" for text, names in users.values()]
    return f"assetq is linked with these packages.\n\n{''.join(listed)}\n{''.join(texts)}"
