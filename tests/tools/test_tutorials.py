#!/usr/bin/env python3
"""The tutorials do what they say: their scenes, scripts and commands, as they stand in docs/tutorial-*.md.

    test_tutorials.py REPOSE [--pictures] [NAME...]     NAME: python, paraview, blender (all)

A block of a file (```lua silo.lua) is saved under its name, one of commands (```sh) is run, and one of text (```text) is
what the commands before it print; numbers may be off by 3 %. The picture that is left must be the one in
docs/images, as far as means over a few hundred pieces of it tell; --pictures puts it there instead. A tutorial whose
program is missing is skipped, unless CI=true.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77
PICTURES = {"python": "silo.png", "paraview": "impact.png", "blender": "100/impact.0004.png"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def blocks(name):
    """(first word, file name or "", text) of every fenced block."""
    with open(f"{ROOT}/docs/tutorial-{name}.md", encoding="utf-8") as file:
        text = file.read()
    return [(words.split()[0], (words.split() + [""])[1], body)
            for words, body in re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.M | re.S)]


def tools(folder):
    """A folder of programs as the tutorials call them; what is missing is left out."""
    where = os.path.join(folder, "bin")
    os.mkdir(where)

    def put(name, command):  # no links: Python looks for its library from where it is called
        with open(f"{where}/{name}", "w") as file:
            file.write(f'#!/bin/sh\nexec {command} "$@"\n')
        os.chmod(f"{where}/{name}", 0o755)

    put("repose", f"'{REPOSE}'")
    pythons = [shutil.which(name) for name in ("python3", "/usr/bin/python3") if shutil.which(name)]
    able = [path for path in pythons
            if subprocess.run([path, "-c", "import h5py, matplotlib"], capture_output=True).returncode == 0]
    if able:
        put("python3", able[0])
    screen = "" if os.environ.get("DISPLAY") else shutil.which("xvfb-run") and "xvfb-run -a "
    if shutil.which("pvpython") and screen is not None:
        put("pvpython", screen + shutil.which("pvpython"))
    if shutil.which("blender"):
        put("blender", shutil.which("blender"))
    return where


def run(commands, folder, programs):
    # Debian's Blender takes the library of the first Python of its version on the path, which may be that of this test
    path = [part for part in os.environ["PATH"].split(":") if sys.prefix == "/usr" or not part.startswith(sys.prefix)]
    env = dict(os.environ, PATH=":".join([programs, *path]))
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=1800)
    assert done.returncode == 0, f"{commands}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def compare_text(got, want):
    got, want = got.strip().splitlines(), want.strip().splitlines()
    assert len(got) == len(want), f"{len(got)} lines, the tutorial has {len(want)}:\n" + "\n".join(got)
    for a, b in zip(got, want):
        assert NUMBER.sub("#", a) == NUMBER.sub("#", b), f"it prints\n{a}\nand the tutorial has\n{b}"
        for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)):
            assert abs(float(x) - float(y)) <= 0.03 * abs(float(y)), f"it prints\n{a}\nand the tutorial has\n{b}"


def coarse(path):
    """Means of red, green and blue over 24 x 14 pieces of a picture."""
    return subprocess.run(["ffmpeg", "-loglevel", "error", "-i", path, "-vf", "scale=24:14:flags=area", "-f", "rawvideo",
                           "-pix_fmt", "rgb24", "-"], check=True, stdout=subprocess.PIPE).stdout


def compare_pictures(got, want):
    a, b = coarse(got), coarse(want)
    assert len(a) == len(b) == 3 * 24 * 14
    assert max(a) - min(a) > 60, f"{got} shows nothing"
    off = sum(abs(x - y) for x, y in zip(a, b)) / len(a)
    assert off < 4, f"{os.path.basename(want)} is another picture: pieces differ by {off:.1f} of 255 on average"
    return off


def walk(name):
    with tempfile.TemporaryDirectory() as folder:
        programs, said = tools(folder), ""
        needed = {"python": "python3", "paraview": "pvpython", "blender": "blender"}[name]
        if not os.path.exists(f"{programs}/{needed}") or not shutil.which("ffmpeg"):
            print(f"SKIPPED: {name}, for want of {needed} and what it needs, or ffmpeg", file=sys.stderr)
            return False
        counts = {"files": 0, "commands": 0}
        work = os.path.join(folder, "work")
        os.mkdir(work)
        for kind, file_name, text in blocks(name):
            if file_name:
                counts["files"] += 1
                with open(os.path.join(work, file_name), "w", encoding="utf-8") as file:
                    file.write(text)
            elif kind == "sh":
                counts["commands"] += 1
                said = run(text, work, programs)
            elif kind == "text":
                compare_text(said, text)
            else:
                raise AssertionError(f"a block of {kind} without a name is not tried by anybody")
        picture, kept = os.path.join(work, PICTURES[name]), f"{ROOT}/docs/images/tutorial-{name}.png"
        if name == "blender":
            assert os.path.getsize(os.path.join(work, "impact.mp4")) > 10000
        if "--pictures" in sys.argv:
            shutil.copy(picture, kept)
        print(f"{name}: {counts['files']} files, {counts['commands']} blocks of commands, the picture differs by "
              f"{compare_pictures(picture, kept):.2f} of 255")
    return True


def main():
    global REPOSE
    REPOSE = os.path.abspath(sys.argv[1])
    names = [word for word in sys.argv[2:] if not word.startswith("-")] or list(PICTURES)
    done = [walk(name) for name in names]
    return 0 if all(done) else 1 if os.environ.get("CI") == "true" else SKIPPED if not any(done) else 0


if __name__ == "__main__":
    sys.exit(main())
