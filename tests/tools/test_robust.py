#!/usr/bin/env python3
"""What a hostile or unlucky surrounding does to the command: it ends in 0, 2, 3 or 4 with a sentence, touches nothing
that is not its own, and what it leaves is whole.

    test_robust.py PROGRAM [-v] [NAME ...]

The program may be named by the environment variable REPOSE instead.
"""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

REPOSE = os.path.abspath(os.environ.get("REPOSE") or (sys.argv.pop(1) if len(sys.argv) > 1 else "repose"))
SLOW = 5.0 if os.environ.get("REPOSE_INSTRUMENTED") else 1.0

# a 2D heap of 100 particles with a collider that moves: a frame takes milliseconds
HEAP = """
scene { title = "Small heap", dimension = 2, dx = 0.04, fps = 48, frames = %(frames)d }
particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.2, 0.2} }, sampling = "lattice" }
collider { name = "floor", shape = half_space { point = {0, 0}, normal = {0, 1} } }
collider { name = "ball", shape = sphere { center = {0.5, 0.3}, radius = 0.1 }, velocity = {-0.1, 0} }
"""


class Folder(unittest.TestCase):
    """Each test in an empty folder of its own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)
        self.write("heap.lua", HEAP % {"frames": 2})

    def write(self, name, text=""):
        if os.path.dirname(name):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read(self, name):
        with open(name, "rb") as file:
            return file.read()

    def all_files(self, folder):
        return {os.path.relpath(os.path.join(at, name), folder): self.read(os.path.join(at, name))
                for at, _, names in os.walk(folder) for name in names}

    def repose(self, *words, status=0, **more):
        done = subprocess.run([REPOSE, *words], capture_output=True, text=True, errors="replace", timeout=120, **more)
        self.assertEqual(done.returncode, status, f"repose {words}\n{done.stdout}{done.stderr}")
        return done


class OthersFiles(Folder):
    """Only what a run has written is touched."""

    def test_a_folder_with_files_of_others_is_refused(self):
        for name in ("scene.lua", "run.log", "run.json", "stats.csv", "forces.csv", "state.hdf", "failure.hdf",
                     "scene.resolved.json", "scene.lua.tmp", "run.lock", "frames/frame.000000.hdf", "frames/mine",
                     "shapes/rock.ply", "shapes", "scene.files/rock.obj", "probes.csv"):
            for mode in ([], ["--overwrite"]):
                with self.subTest(name=name, mode=mode):
                    out = tempfile.mkdtemp(dir=".")
                    self.write(f"{out}/{name}", "mine\n")
                    before = self.all_files(out)
                    done = self.repose("run", "heap.lua", "-o", out, *mode, status=2)
                    self.assertIn(f"holds {name.split('/')[0]}, which is not of a run", done.stderr)
                    self.assertEqual(self.all_files(out), before)
                    # and again: the refusal has left nothing that makes it a run's folder
                    self.repose("run", "heap.lua", "-o", out, *mode, status=2)

    def test_other_files_do_not_matter(self):
        mine = ["notes.txt", "heap.lua", "a.tmp", "shapes.txt"]
        for name in mine:
            self.write(f"out/{name}", "mine\n")
        self.repose("run", "heap.lua", "-o", "out")
        # also among those of the run, which has its lock now
        mine += ["shapes/rock.ply", "shapes/ball.ply.bak", "frames/notes.tmp", "frames/frame.hdf.tmp", "b.tmp"]
        for name in mine:
            self.write(f"out/{name}", "mine\n")
        self.repose("run", "heap.lua", "-o", "out", "--overwrite")
        self.repose("run", "--resume", "-o", "out", "--frames", "3")
        for name in mine:
            self.assertEqual(self.read(f"out/{name}"), b"mine\n", name)
        # those of another scene go with it
        self.write("bare.lua", "\n".join(HEAP.splitlines()[:-1]) % {"frames": 1})
        self.repose("run", "bare.lua", "-o", "out", "--overwrite")
        self.assertFalse(os.path.exists("out/shapes/ball.ply"))
        self.assertTrue(os.path.exists("out/shapes/floor.ply"))
        for name in mine:
            self.assertEqual(self.read(f"out/{name}"), b"mine\n", name)

    def test_a_run_that_came_from_elsewhere_is_a_run(self):
        self.repose("run", "heap.lua", "-o", "out")
        os.remove("out/run.lock")
        self.repose("run", "--resume", "-o", "out", "--frames", "3")
        self.repose("run", "heap.lua", "-o", "out", "--overwrite")

    def test_one_that_was_killed_before_its_first_frame_is_a_run(self):
        self.repose("run", "heap.lua", "-o", "out")
        for name in ("run.json", "stats.csv", "forces.csv"):
            os.remove(f"out/{name}")
        for name in os.listdir("out/frames"):
            os.remove(f"out/frames/{name}")
        self.write("out/scene.lua.tmp", "half")
        self.repose("run", "heap.lua", "-o", "out")
        self.assertFalse(os.path.exists("out/scene.lua.tmp"))


class Descriptors(Folder):
    """Standard input, output and error may be closed, each or all."""

    def closed(self, fds, *words):
        """Runs the command with these descriptors closed, others to files; gives its status."""
        plug = "import os, sys; [os.close(int(c)) for c in sys.argv[1]]; os.execv(sys.argv[2], sys.argv[2:])"
        return subprocess.run([sys.executable, "-c", plug, fds, REPOSE, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120).returncode

    def test_what_is_said_goes_into_no_file(self):
        self.repose("run", "heap.lua", "-o", "whole")
        self.repose("render", "whole", "--preview", "--size", "64x48", "-o", "whole.png")
        self.repose("export", "whole", "--to", "csv", "-o", "whole-csv")
        names = set(self.all_files("whole"))
        swept = 0
        for fds in ("0", "1", "2", "01", "02", "12", "012"):
            with self.subTest(closed=fds):
                self.assertEqual(self.closed(fds, "run", "heap.lua", "-o", f"out{fds}"), 0)
                self.assertEqual(set(self.all_files(f"out{fds}")), names)
                for name in names - {"run.json", "run.log", "run.lock", "stats.csv"}:
                    self.assertEqual(self.read(f"out{fds}/{name}"), self.read(f"whole/{name}"), name)
                self.assertRegex(self.read(f"out{fds}/run.lock"), rb"^\d+\n?$")
                self.assertEqual(json.loads(self.read(f"out{fds}/run.json"))["status"], "finished")
                for table in ("stats.csv", "run.log"):
                    self.assertEqual(self.read(f"out{fds}/{table}").count(b"\n"), self.read(f"whole/{table}").count(b"\n"))
                self.assertEqual(self.closed(fds, "render", "whole", "--preview", "--size", "64x48", "-o", f"{fds}.png"), 0)
                self.assertEqual(self.read(f"{fds}.png"), self.read("whole.png"))
                self.assertEqual(self.closed(fds, "export", "whole", "--to", "csv", "-o", f"csv{fds}"), 0)
                self.assertEqual(self.all_files(f"csv{fds}"), self.all_files("whole-csv"))
                # what fails does so with the same status
                self.assertEqual(self.closed(fds, "run", "no.lua"), 4)
                self.assertEqual(self.closed(fds, "run", "heap.lua", "--frames", "x"), 2)
                swept += 5
        print(f"{swept} commands with closed descriptors")


class Inputs(Folder):
    """What is no ordinary file is neither waited for nor written to."""

    def test_pipes_are_not_waited_for(self):
        self.repose("run", "heap.lua", "-o", "run")
        os.mkfifo("pipe")
        commands = [["check", "pipe"], ["run", "pipe", "-o", "no"], ["info", "pipe"], ["render", "pipe", "-o", "no.png"],
                    ["export", "pipe", "--to", "csv", "-o", "no"], ["measure", "pipe", "runout"], ["view", "pipe"],
                    ["validate", "--checks", "pipe"]]
        for words in commands:
            with self.subTest(words=words):
                done = subprocess.run([REPOSE, *words], capture_output=True, text=True, timeout=60)
                self.assertIn(done.returncode, (2, 4))
                self.assertRegex(done.stderr, "^repose: ")

    def test_pipes_in_the_folder_of_a_run_are_not_waited_for(self):
        self.repose("run", "heap.lua", "-o", "run")
        commands = [["info", "out"], ["render", "out", "--preview", "--size", "32x32", "-o", "out.png"],
                    ["export", "out", "--to", "csv", "-o", "csv"], ["measure", "out", "runout"],
                    ["run", "--resume", "-o", "out", "--frames", "3"], ["run", "heap.lua", "-o", "out", "--overwrite"]]
        names = ["run.json", "stats.csv", "forces.csv", "run.log", "run.lock", "scene.lua", "scene.resolved.json",
                 "frames/frame.000002.hdf", "shapes/shapes.json", "state.hdf"]
        for name in names:
            for words in commands:
                with self.subTest(name=name, words=words):
                    shutil.rmtree("out", ignore_errors=True)
                    shutil.copytree("run", "out")
                    if os.path.exists(f"out/{name}"):
                        os.remove(f"out/{name}")
                    os.mkfifo(f"out/{name}")
                    done = subprocess.run([REPOSE, *words], capture_output=True, text=True, timeout=60)
                    self.assertIn(done.returncode, (0, 2, 4), done.stderr)


class Numbers(Folder):
    """What cannot be computed, or held, is said before it is tried."""

    def test_numbers_beyond_all_reason(self):
        scene = HEAP % {"frames": 2}
        cases = [("material.sand {}", "material.sand { density = 1e300 }", "density: want .* in single precision, got 1e.300"),
                 ("material.sand {}", "material.sand { density = 1e-300 }", "density: want .* in single precision, got 1e-300"),
                 ("material.sand {}", "material.sand { young = 1e300 }", "stiffness: want .* in single precision, got "),
                 ("fps = 48", "fps = 1e-300", r"scene\.fps: want 1e-09 to .*, got 1e-300"),
                 ("fps = 48", "fps = 1e300", r"scene\.fps: want 1e-09 to .*, got 1e.300"),
                 ("fps = 48", "fps = 1e-9, dx = 1e-4", "choose a larger fps")]
        for old, new, sentence in cases:
            with self.subTest(new=new):
                self.write("odd.lua", scene.replace("dx = 0.04, " if "dx" in new else "\0", "").replace(old, new)
                           .replace("0.2, 0.2", "2e-3, 2e-3" if "dx" in new else "0.2, 0.2"))
                for words in (["check", "odd.lua"], ["run", "odd.lua", "-o", "out"]):
                    done = self.repose(*words, status=2)
                    self.assertRegex(done.stderr, sentence)
                self.assertFalse(os.path.exists("out"))

    def test_no_particles_at_all(self):
        self.write("empty.lua", "\n".join(l for l in HEAP.splitlines() if not l.startswith("particles")) % {"frames": 1})
        for words in (["check", "empty.lua"], ["run", "empty.lua", "-o", "out"]):
            self.assertIn("no particles, neither at the start nor later", self.repose(*words).stderr)
        # what is poured later is enough
        self.write("late.lua", self.read("empty.lua").decode() +
                   'emitter { material = material.sand {}, shape = box { min = {0, 0.4}, max = {0.2, 0.5} }, velocity = {0, -9} }')
        for words in (["check", "late.lua"], ["run", "late.lua", "-o", "late"]):
            self.assertNotIn("no particles", self.repose(*words).stderr)

    def test_more_frames_than_the_disk_could_ever_hold(self):
        self.write("long.lua", HEAP.replace("dx = 0.04", "dx = 0.001") % {"frames": 1000000})
        if shutil.disk_usage(".").total > 5e12:
            self.skipTest("a disk of more than 5 TB")
        for words in (["check", "long.lua"], ["run", "long.lua", "-o", "some/where"]):
            done = self.repose(*words, status=2)
            self.assertRegex(done.stderr, r"the frames take about [\d.]+ TB in all, and the disk of \S+ holds [\d.]+ .B: fewer")
        self.assertFalse(os.path.exists("some"))


class Words(Folder):
    """What others have written does not command a terminal or a table program."""

    EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m"

    def clean(self, *words, status=0):
        done = subprocess.run([REPOSE, *words], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        for said in (done.stdout, done.stderr):
            text = said.decode()  # and that is UTF-8
            self.assertFalse([c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0], text)
        return done

    def test_commands_to_a_terminal(self):
        evil = '"\\27]0;owned\\7\\27[2J\\u{9b}31m"'
        self.write("print.lua", f"print({evil})\n" + HEAP % {"frames": 1})
        self.assertIn(b"?]0;owned", self.clean("check", "print.lua").stderr)
        self.clean("run", "print.lua", "-o", "out")
        self.assertNotIn(b"\x1b", self.read("out/run.log"))
        self.write("error.lua", f"error({evil})")
        self.clean("check", "error.lua", status=2)
        self.write("title.lua", f"scene {{ title = {evil}, dimension = 2, dx = 0.1 }}")
        self.clean("check", "title.lua", status=2)
        self.clean("check", "no" + self.EVIL + ".lua", status=4)
        self.clean(self.EVIL, status=2)
        self.clean("run", "print.lua", "--" + self.EVIL, status=2)
        # a record that somebody else has sent
        for name in ("run.json", "scene.resolved.json"):
            record = json.loads(self.read(f"out/{name}"))
            record.update(title=self.EVIL, host=self.EVIL, status=self.EVIL, warnings=[self.EVIL],
                          params={"a": {"value": self.EVIL, "default": "b", "note": self.EVIL}})
            self.write(f"out/{name}", json.dumps(record))
        self.assertIn(b"?]0;owned", self.clean("info", "out").stdout)

    def test_names_in_tables(self):
        names = ["=1+1", "+1", "-1", "@SUM(A1)", 'a "b", c', "a,b"]
        self.write("names.lua", HEAP % {"frames": 1} + "".join(
            f"collider {{ name = [[{name}]], shape = sphere {{ center = {{9, 9}}, radius = 0.1 }} }}\n" for name in names))
        self.repose("run", "names.lua", "-o", "out")
        with open("out/forces.csv", encoding="utf-8", newline="") as file:
            cells = {row["name"] for row in csv.DictReader(file)}
        self.assertEqual(cells, {"floor", "ball"} | {("'" if name[0] in "=+-@" else "") + name for name in names})
        measured = self.repose("measure", "out", "wall", "collider=@SUM(A1)", "--csv").stdout
        self.assertFalse([cell for row in csv.reader(measured.splitlines()) for cell in row
                          if cell[:1] in ("=", "+", "@") or (cell[:1] == "-" and not re.fullmatch(r"-[\d.e+-]+|-nan|-inf", cell))])

    def test_odd_names_of_files(self):
        names = ["a:b", "-o", "--help", "file:x", "a b'c\"d", "%d%s%n", "$(touch owned)", "pipe:1", "concat:x|y", "é\u202e",
                 b"\xff\xfe".decode(errors="surrogateescape"), "a\nb", "x" * 200]
        swept = 0
        for number, name in enumerate(names):
            with self.subTest(name=name):
                scene = f"./{name}.lua"
                shutil.copyfile("heap.lua", scene)
                self.repose("check", scene)
                self.repose("run", scene, f"-o{name}")
                self.repose("run", "--resume", f"-o{name}", "--frames", "3")
                self.repose("info", "--", name)
                self.repose("measure", "--", name, "runout")
                self.repose("export", f"-o{name}-csv", "--to", "csv", "--", name)
                self.repose("render", f"-o{name}.png", "--preview", "--size", "32x32", "--", name)
                self.assertEqual(self.read(f"./{name}.png")[:4], b"\x89PNG")
                swept += 7
                if shutil.which("ffmpeg"):
                    self.repose("render", f"-o{name}.mp4", "--movie", "--preview", "--size", "32x32", "--", name)
                    self.assertEqual(self.read(f"./{name}.mp4")[4:8], b"ftyp")
                    swept += 1
        self.assertFalse(os.path.exists("owned"))
        print(f"\n{swept} commands with odd names")  # in a line of its own, which `make check-all` shows


# A function of the script that is in the middle of something long when it is told to stop. Its loop is no part of what
# the scene is checked with, nor of what the first step is chosen by.
BUSY = HEAP + """
local function busy(t)
    local sum = 0
    if t * 48 > 0.66 and t * 48 < 0.67 then
        print("busy")
        for i = 1, %(turns)d do sum = sum + i end
    end
    return { position = {1e-20 * sum, 0} }
end
for i = 1, %(colliders)d do
    collider { shape = sphere { center = {2 * i, 2}, radius = 0.1 }, motion = busy }
end
"""


class Signals(Folder):
    def busy_run(self, out):
        """A run that is busy in its script, past its first frame: before that nobody has anything to save."""
        with open("said", "w", encoding="utf-8") as said:
            run = subprocess.Popen([REPOSE, "run", "busy.lua", "-o", out], stdout=subprocess.DEVNULL, stderr=said)
        while not os.path.exists(f"{out}/frames/frame.000000.hdf"):
            self.assertIsNone(run.poll())
        before = self.read("said").count(b"busy")
        while self.read("said").count(b"busy") == before:
            self.assertIsNone(run.poll())
            time.sleep(0.001)
        return run

    def test_ctrl_c_does_not_wait_for_scripts(self):
        self.write("busy.lua", BUSY % {"frames": 2, "turns": 30000000, "colliders": 12})
        run = self.busy_run("out")
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        status = run.wait(timeout=120)
        took = time.monotonic() - began
        self.assertEqual(status, 130, self.read("said"))
        self.assertLess(took, 2.0 * SLOW)
        self.assertIn(b"saved; to go on", self.read("said"))

    def test_what_was_stopped_in_a_script_goes_on_to_the_same_bits(self):
        self.write("busy.lua", BUSY % {"frames": 2, "turns": 2000000, "colliders": 4})
        self.repose("run", "busy.lua", "-o", "whole", "--quiet")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                out = f"out{number}"
                run = self.busy_run(out)
                run.send_signal(number)
                self.assertEqual(run.wait(timeout=60), 128 + number, self.read("said"))
                self.assertTrue(os.path.exists(f"{out}/state.hdf"))
                self.repose("run", "--resume", "-o", out, "--quiet")
                for frame in range(3):
                    name = f"frames/frame.{frame:06}.hdf"
                    self.assertEqual(self.read(f"{out}/{name}"), self.read(f"whole/{name}"), name)
                self.assertEqual(self.read(f"{out}/forces.csv"), self.read("whole/forces.csv"))

    def test_a_hangup_that_is_ignored_stays_ignored(self):
        self.write("long.lua", HEAP % {"frames": 200})
        run = subprocess.Popen(["nohup", REPOSE, "run", "long.lua", "-o", "out"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while not os.path.exists("out/frames/frame.000001.hdf"):
            self.assertIsNone(run.poll())
        run.send_signal(signal.SIGHUP)
        self.assertEqual(run.wait(timeout=120), 0)


class WhileItRuns(Folder):
    def endless(self, out):
        """A run without end, past its first frames."""
        self.write("endless.lua", HEAP % {"frames": 100000} + 'probe { name = "middle", point = {0.1, 0.1} }')
        run = subprocess.Popen([REPOSE, "run", "endless.lua", "-o", out], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        while not os.path.exists(f"{out}/frames/frame.000002.hdf"):
            self.assertIsNone(run.poll())
        return run

    def test_a_table_that_is_deleted_is_missed(self):
        for name in ("stats.csv", "forces.csv", "probes.csv"):
            run = self.endless(f"out-{name}")
            os.remove(f"out-{name}/{name}")
            said = run.communicate(timeout=60)[1]
            self.assertEqual(run.returncode, 4, said)
            self.assertIn(f"cannot write out-{name}/{name}: No such file", said)

    def test_a_folder_that_is_removed_is_missed(self):
        for turn in range(5):
            out = f"out{turn}"
            run = self.endless(out)
            while os.path.exists(out):  # it races with what the run writes
                subprocess.run(["rm", "-rf", out], stderr=subprocess.DEVNULL)
            said = run.communicate(timeout=60)[1]
            self.assertEqual(run.returncode, 4, said)
            self.assertRegex(said, f"repose: cannot \\w+ {out}/.*: No such file")


if __name__ == "__main__":
    unittest.main(verbosity=1)
