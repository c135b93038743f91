#!/usr/bin/env python3
"""The page of `repose view` in a browser.

    test_page.py REPOSE [--shots DIR] [--only PART]

Runs page.mjs in Node with playwright-core and Debian's Chromium, which draws without a graphics card. Skipped where one
of them is missing; `make test-page` installs them, and then none may be missing. playwright-core is looked for in build/page and in
the folder that PLAYWRIGHT names.
"""

import os
import shutil
import subprocess
import sys

SKIPPED = 77
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def main():
    repose = os.path.abspath(sys.argv[1])
    node, chromium = shutil.which("node") or shutil.which("nodejs"), shutil.which("chromium")
    folders = [os.environ.get("PLAYWRIGHT", ""), os.path.join(ROOT, "build", "page")]
    playwright = next((f for f in folders if os.path.isdir(os.path.join(f, "node_modules", "playwright-core"))), None)
    missing = [name for name, found in (("node", node), ("chromium", chromium), ("playwright-core", playwright)) if not found]
    if missing:
        print("SKIPPED:", ", ".join(missing), "missing", file=sys.stderr)
        return 1 if "--shots" in sys.argv else SKIPPED
    script = os.path.join(ROOT, "tests", "tools", "page.mjs")
    return subprocess.run([node, script, repose, playwright, chromium, *sys.argv[2:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
