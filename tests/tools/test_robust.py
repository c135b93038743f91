#!/usr/bin/env python3
"""What a hostile or unlucky surrounding does to the command: it ends in 0, 2, 3 or 4 with a sentence, touches nothing
that is not its own, and what it leaves is whole.

    test_robust.py PROGRAM [-v] [NAME ...]

The program may be named by the environment variable REPOSE instead.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

REPOSE = os.path.abspath(os.environ.get("REPOSE") or (sys.argv.pop(1) if len(sys.argv) > 1 else "repose"))

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


class WhileItRuns(Folder):
    def test_a_table_that_is_deleted_is_missed(self):
        for name in ("stats.csv", "forces.csv"):
            self.write("slow.lua", HEAP.replace("frames = %(frames)d", "frames = 100000") % {})
            run = subprocess.Popen([REPOSE, "run", "slow.lua", "-o", f"out-{name}"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
            while not os.path.exists(f"out-{name}/frames/frame.000002.hdf"):
                self.assertIsNone(run.poll())
            os.remove(f"out-{name}/{name}")
            said = run.communicate(timeout=60)[1]
            self.assertEqual(run.returncode, 4, said)
            self.assertIn(f"cannot write out-{name}/{name}: No such file", said)


if __name__ == "__main__":
    unittest.main(verbosity=1)
