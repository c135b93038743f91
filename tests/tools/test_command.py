#!/usr/bin/env python3
"""The command as a user meets it: what it prints, what it leaves behind, how it ends.

The program is named by the environment variable REPOSE or by the first argument.
"""

import csv
import glob
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

REPOSE = os.path.abspath(os.environ.get("REPOSE") or (sys.argv.pop(1) if len(sys.argv) > 1 else "repose"))
SCENES = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../scenes"))

# a small 2D heap: 400 particles, a frame takes milliseconds
HEAP = """
scene { title = "Small heap", dimension = 2, dx = 0.02, fps = 48, frames = %(frames)d }
local sand = material.sand {}
particles { material = sand, shape = box { min = {0, 0}, max = {0.2, 0.2} }, sampling = "lattice" }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }
"""


def grey_png(width, height, grey):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(grey[width * i:width * (i + 1)]) for i in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def heap(frames=2, extra=""):
    return HEAP % {"frames": frames} + extra


class Folder(unittest.TestCase):
    """Each test in an empty folder of its own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.back = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, self.back)

    def write(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read(self, name, mode="r"):
        with open(name, mode) as file:
            return file.read()

    def frames(self, out):
        """The frames that a run has left, and an index that lists just them."""
        names = sorted(os.listdir(f"{out}/frames"))
        self.assertEqual(names.pop(), "frame.hdf.series")
        index = json.loads(self.read(f"{out}/frames/frame.hdf.series"))
        self.assertEqual([entry["name"] for entry in index["files"]], names)
        return names

    def repose(self, *words, status=0, **more):
        done = subprocess.run([REPOSE, *words], capture_output=True, text=True, timeout=120, **more)
        self.assertEqual(done.returncode, status, f"repose {' '.join(words)}\n{done.stdout}{done.stderr}")
        self.assertNotIn("ERROR: AddressSanitizer", done.stderr)
        return done

    def refused(self, text, *wanted, status=2, words=("check",)):
        """A scene that must be refused with file, line and the given words."""
        self.write("scene.lua", text)
        done = self.repose(*words, "scene.lua", status=status)
        for word in wanted:
            self.assertIn(word, done.stderr)
        return done


class BadScenes(Folder):
    def test_a_misspelt_key_is_named_with_line_and_the_nearest_spelling(self):
        self.refused("scene { dx = 0.1, frames = 1 }\n\nlocal s = material.sand { frction_angle = 30 }",
                     "scene.lua:3", "material.sand", "frction_angle", "friction_angle")

    def test_a_misspelt_word(self):
        self.refused("scene { dx = 0.1, frames = 1 }\npartikles {}", "scene.lua:2", "partikles", "particles")

    def test_a_wrong_type(self):
        self.refused("scene { dx = 'fine', frames = 1 }", "scene.lua:1", "scene.dx", "fine")

    def test_values_out_of_range(self):
        for key, value in (("density", "-5"), ("poisson", "0.5"), ("young", "0"), ("density", "0/0"),
                           ("cohesion", "1/0"), ("friction_angle", "95")):
            with self.subTest(key=key, value=value):
                self.refused("scene { dx = 0.1, frames = 1 }\nmaterial.sand { %s = %s }" % (key, value),
                             "scene.lua:2", "material.sand." + key)

    def test_a_grid_without_size(self):
        self.refused("scene { dx = 0, frames = 1 }", "scene.lua:1", "scene.dx", "0")
        self.refused("scene { dx = 0/0, frames = 1 }", "scene.lua:1", "scene.dx")

    def test_an_empty_shape(self):
        self.refused("scene { dx = 0.1, frames = 1 }\nsphere { center = {0, 0, 0}, radius = 0 }",
                     "scene.lua:2", "sphere.radius")
        self.refused("scene { dx = 0.1, frames = 1 }\nbox { min = {0, 0, 0}, max = {0, 1, 1} }",
                     "scene.lua:2", "box")

    def test_no_scene_at_all(self):
        self.refused("local x = 1", "scene.lua", "scene")

    def test_a_syntax_error(self):
        self.refused("scene { dx = 0.1,, frames = 1 }", "scene.lua:1")

    def test_what_the_method_cannot_do(self):
        self.refused("scene { dx = 0.1, frames = 1, method = 'implicid' }", "scene.lua:1", "explicit")
        self.write("heap.lua", heap())
        done = self.repose("check", "heap.lua", "--method", "implicid", status=2)
        self.assertIn("explicit", done.stderr)
        # both would have one velocity
        self.write("pond.lua", heap() + "particles { material = material.water {}, shape = box { min = {2, 0, 0}, max = {3, 1, 1} } }")
        done = self.repose("check", "pond.lua", status=2)
        self.assertIn("use method mixture", done.stderr)

    def test_scripts_that_never_end(self):
        # each must be stopped by the clock of the loader, however it hides
        for name, text in {
            "pcall": "while true do pcall(function() while true do end end) end",
            "pattern": "local s = string.rep('a', 30) .. 'b'\nstring.find(s, string.rep('a?', 30) .. string.rep('a', 30))",
            "move": "table.move({}, 1, 1e15, 2)",
            "gc": "setmetatable({}, { __gc = function() while true do end end })\nwhile true do local t = {} end",
            "rep": "local s = 'x' while true do s = s .. s end",
            "digits": "local a = string.rep('9', 8e7)\nwhile true do local x = a + 0 end",
        }.items():
            with self.subTest(name=name):
                worked = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])  # processor time [s]
                began = worked()
                done = self.refused(text, "scene.lua:")
                self.assertLess(worked() - began, 20)
                wanted = {"pcall": "want an end within", "pattern": "left out",
                          "move": "left out", "gc": "__gc"}.get(name, "memory")
                self.assertIn(wanted, done.stderr)

    def test_a_script_that_eats_memory(self):
        self.refused("local t = {} for i = 1, 1e9 do t[i] = {i} end", "scene.lua", "memory")

    def test_a_script_that_reaches_outside(self):
        for word in ("io.open('/etc/passwd')", "os.execute('true')", "require('os')", "load('return 1')()",
                     "dofile('/etc/passwd')", "string.dump(print)", "collectgarbage()", "debug.getinfo(1)"):
            with self.subTest(word=word):
                self.refused(word, "scene.lua:1")

    def test_functions_must_be_pure(self):
        self.refused("local n = 0\nscene { dx = 0.1, frames = 1, gravity = function(t) n = n + 1 return 0, n, 0 end }",
                     "scene.lua:2", "gravity", "depend on t alone")

    def test_a_motion_that_fails_in_mid_run(self):
        self.write("scene.lua", """
scene { dimension = 2, dx = 0.1, fps = 1, frames = 5, gravity = {0, 0}, dt_max = 0.1 }
particles { material = material.elastic { young = 10 }, shape = box { min = {0, 0}, max = {0.2, 0.2} } }
collider { name = "lid", shape = half_space { point = {0, 9}, normal = {0, -1} }, motion = function(t)
    if t >= 3 and t < 4.5 then error("the motor stopped") end
    return { position = {0, 0.01 * t} }
end }
""")
        done = self.repose("run", "scene.lua", "-o", "out", status=2)
        for word in ("scene.lua:5", "lid", "t = 3", "the motor stopped"):
            self.assertIn(word, done.stderr)
        # what was done up to then is there, and whole
        self.repose("info", "out")
        self.assertTrue(os.path.exists("out/frames/frame.000002.hdf"))
        self.assertEqual(json.loads(self.read("out/run.json"))["status"], "failed")

    def test_more_particles_than_memory(self):
        self.write("scene.lua", heap(1).replace("0.02", "0.0005"))
        for words in (("check",), ("run",)):
            done = self.repose(*words, "scene.lua", "--memory", "0.05", status=2)
            self.assertIn("GB", done.stderr)
            self.assertIn("particles", done.stderr)
        self.assertFalse(os.path.exists("scene-out"))

    def test_more_particles_than_a_world_holds(self):
        self.refused(heap(1).replace("0.02", "1e-9"), "scene.lua:4", "particles")

    def test_params(self):
        self.write("scene.lua", heap().replace("0.02", "param('dx', 0.02, 'm')"))
        self.repose("check", "scene.lua", "--set", "dx=0.04")
        for given, wanted in (("dy=1", "dx"), ("dx=fine", "dx"), ("dx", "NAME=VALUE"), ("dx=-1", "scene.dx")):
            self.assertIn(wanted, self.repose("check", "scene.lua", "--set", given, status=2).stderr)

    def test_a_choice_names_what_there_is(self):
        self.write("scene.lua", heap().replace("0.02", "param('size', {'quick', 'fine'}) == 'fine' and 0.01 or 0.02"))
        self.repose("check", "scene.lua", "--set", "size=fine")
        done = self.repose("check", "scene.lua", "--set", "size=fein", status=2)
        self.assertIn("param 'size': want \"quick\" or \"fine\", got 'fein'; did you mean \"fine\"?", done.stderr)

    def test_a_missing_file(self):
        done = self.repose("run", "nowhere.lua", status=4)
        self.assertIn("nowhere.lua", done.stderr)


class BadUsage(Folder):
    def test_mistakes_are_named_and_nothing_happens(self):
        self.write("heap.lua", heap())
        for words, wanted in (
            (["rnu"], "run"), (["run"], "SCENE"), (["run", "heap.lua", "--frmes", "3"], "--frames"),
            (["run", "heap.lua", "--frames", "many"], "many"), (["run", "heap.lua", "--frames"], "--frames"),
            (["run", "heap.lua", "--threads", "0"], "--threads"), (["run", "heap.lua", "more"], "more"),
            (["run", "heap.lua", "--resume", "--overwrite"], "exclude"), (["run", "heap.lua", "--quiet=1"], "--quiet"),
            (["run", "heap.lua", "--every", "-1"], "--every"), (["run", "heap.lua", "--control-fd", "99"], "99"),
            (["run", "heap.lua", "--memory", "nan"], "--memory"), (["list", "x"], "x"), (["check"], "SCENE"),
        ):
            with self.subTest(words=words):
                self.assertIn(wanted, self.repose(*words, status=2).stderr)
        self.assertEqual(os.listdir("."), ["heap.lua"])

    def test_help_for_everything(self):
        self.assertIn("Usage: repose", self.repose("--help").stdout)
        for name in ("run", "check", "list", "info", "render"):
            text = self.repose(name, "--help").stdout
            self.assertIn(f"Usage: repose {name}", text)
            self.assertIn("Options:", text)
        self.assertRegex(self.repose("--version").stdout, r"^repose \d+\.\d+")

    def test_the_manual_and_the_completion(self):
        manual = self.repose("--print-man").stdout
        self.assertIn(".TH REPOSE 1", manual)
        self.assertIn("control\\-fd", manual)
        self.write("repose.bash", self.repose("--print-bash").stdout)
        for line, wanted in (("repose ru", "run"), ("repose run --ov", "--overwrite"),
                             ("repose run --method e", "explicit"), ("repose run colu", "column-collapse")):
            words = line.split()
            script = (f"source ./repose.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _repose; "
                      'printf "%s\\n" "${COMPREPLY[@]}"')
            path = os.path.dirname(REPOSE) + ":" + os.environ["PATH"]
            said = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                                  env={**os.environ, "PATH": path}).stdout
            self.assertIn(wanted, said.split(), line)


class Runs(Folder):
    def test_a_run_leaves_what_it_should(self):
        self.write("heap.lua", heap(3))
        done = self.repose("run", "heap.lua")
        self.assertIn("frame 3 of 3", done.stdout)
        self.assertIn("heap-out", done.stderr)
        self.assertEqual(self.frames("heap-out"), [f"frame.{i:06}.hdf" for i in range(4)])
        self.assertEqual(self.read("heap-out/scene.lua"), heap(3))
        record = json.loads(self.read("heap-out/run.json"))
        self.assertEqual((record["status"], record["frames_done"]), ("finished", 3))
        resolved = json.loads(self.read("heap-out/scene.resolved.json"))
        self.assertIn("young", json.dumps(resolved))
        lines = self.read("heap-out/stats.csv").splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["frame", "0", "1", "2", "3"])
        self.assertEqual(len({line.count(",") for line in lines}), 1)
        said = self.repose("info", "heap-out").stdout
        for word in ("Small heap", "finished", "velocity", "m/s", "400"):
            self.assertIn(word, said)
        self.repose("render", "heap-out", "--preview", "--size", "320x180")
        self.assertEqual(self.read("heap-out.png", "rb")[:4], b"\x89PNG")

    def test_quiet_and_json(self):
        self.write("heap.lua", heap(3))
        done = self.repose("run", "heap.lua", "-o", "a", "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")
        done = self.repose("run", "heap.lua", "-o", "b", "--json")
        frames = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([f["frame"] for f in frames], [1, 2, 3])
        self.assertEqual(frames[-1]["particles"], 400)

    def test_warnings_are_kept(self):
        # a warning and a remark, both of a world that is made twice: once to plan it
        self.write("heap.lua", heap(1, "collider { shape = sphere { center = {0.1, 0.3}, radius = 0.15 } }\n"
                                       "print('twice') print('twice')\nlocal spare = material.sand {}"))
        warning, remark = "heap.lua:8: material.sand: made, but nothing uses it", "particles would lie inside"
        done = self.repose("run", "heap.lua", "-o", "loud")
        self.assertEqual((done.stderr.count(warning), done.stderr.count(remark), done.stderr.count("twice")), (1, 1, 2))
        self.assertIn("1 frame is in loud", done.stderr)
        done = self.repose("run", "heap.lua", "-o", "out", "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", f"repose: warning: {warning}\n"))
        log = self.read("out/run.log")
        self.assertEqual((log.count(warning), log.count(remark), log.count("twice")), (1, 1, 2))
        self.assertEqual(json.loads(self.read("out/run.json"))["warnings"], [warning])
        # those of a run that goes on are added to it
        done = subprocess.run([REPOSE, "run", "--resume", "-o", "out", "--frames", "3", "--control-fd", "0"],
                              input="jump\n", capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        warnings = json.loads(self.read("out/run.json"))["warnings"]
        self.assertEqual(warnings[0], warning)
        self.assertEqual(warnings[-1], "control: want pause, resume or stop, got 'jump'")
        self.assertIn(f"warning        {warning}", self.repose("info", "out").stdout)

    def test_whoever_has_seen_enough_may_go(self):
        self.write("heap.lua", heap(1))
        self.repose("run", "heap.lua", "-o", "out", "--quiet")
        for words in (("measure", "out", "stats"), ("info", "out"), ("--help",), ("check", "heap.lua")):
            with self.subTest(words=words):
                reader, writer = os.pipe()
                os.close(reader)
                done = subprocess.run([REPOSE, *words], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
                os.close(writer)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                with open("/dev/full", "w") as full:
                    done = subprocess.run([REPOSE, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, 4)
                self.assertIn("cannot write to standard output", done.stderr)

    def test_a_folder_that_holds_a_run(self):
        self.write("heap.lua", heap())
        self.repose("run", "heap.lua", "-o", "out")
        self.write("out/notes.txt", "mine")
        before = self.read("out/frames/frame.000002.hdf", "rb")
        self.assertIn("already holds a run", self.repose("run", "heap.lua", "-o", "out", status=2).stderr)
        # a scene that cannot be run must not cost what it would overwrite
        self.write("bad.lua", "scene {}")
        self.repose("run", "bad.lua", "-o", "out", "--overwrite", status=2)
        self.write("bad.lua", heap(2).replace("max = {0.2, 0.2} }", "max = {0.2, 0.2} }, velocity = function(x, y) "
                                              "if x > 0.1 then error('too far') end return 0, 0 end"))
        for words in (("check",), ("run", "-o", "out", "--overwrite")):
            self.assertIn("too far", self.repose(words[0], "bad.lua", *words[1:], status=2).stderr)
        self.assertEqual(self.read("out/frames/frame.000002.hdf", "rb"), before)
        self.repose("run", "heap.lua", "-o", "out", "--overwrite", "--frames", "1")
        self.assertEqual(self.frames("out"), ["frame.000000.hdf", "frame.000001.hdf"])
        self.assertEqual(self.read("out/notes.txt"), "mine")

    def test_a_folder_that_cannot_be_written(self):
        self.write("heap.lua", heap())
        self.write("file", "")
        self.assertIn("file", self.repose("run", "heap.lua", "-o", "file", status=4).stderr)
        self.assertIn("file/out", self.repose("run", "heap.lua", "-o", "file/out", status=4).stderr)
        self.repose("run", "heap.lua", "-o", "nowhere/at/all/", "--quiet")
        self.write("mine/stats.csv" if os.makedirs("mine") is None else "", "my own numbers")
        self.repose("run", "heap.lua", "-o", "mine", status=2)
        self.assertEqual(self.read("mine/stats.csv"), "my own numbers")

    def test_one_process_at_a_time(self):
        self.write("heap.lua", heap(100000))
        first = subprocess.Popen([REPOSE, "run", "heap.lua", "-o", "out", "--quiet"])
        try:
            while not os.path.exists("out/frames/frame.000001.hdf"):
                time.sleep(0.02)
            for mode in ([], ["--resume"], ["--overwrite"]):
                done = self.repose("run", "heap.lua", "-o", "out", *mode, status=4)
                self.assertIn("in use", done.stderr)
                self.assertIn(str(first.pid), done.stderr)
        finally:
            first.terminate()
            self.assertEqual(first.wait(), 143)

    def test_interrupts_save_and_tell_how_to_go_on(self):
        self.write("heap.lua", heap(6))
        self.repose("run", "heap.lua", "-o", "whole", "--quiet")
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=number):
                self.write("endless.lua", heap(100000))
                out = f"out{status}"
                run = subprocess.Popen([REPOSE, "run", "endless.lua", "-o", out], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
                while not os.path.exists(f"{out}/frames/frame.000002.hdf"):
                    time.sleep(0.01)
                run.send_signal(number)
                said = run.communicate(timeout=30)[1]
                self.assertEqual(run.returncode, status)
                self.assertIn("--resume", said)
                self.assertEqual(json.loads(self.read(f"{out}/run.json"))["status"], "interrupted")
                self.repose("run", "endless.lua", "-o", out, "--resume", "--frames", "6", "--quiet")
                self.assertEqual(self.read(f"{out}/frames/frame.000006.hdf", "rb"),
                                 self.read("whole/frames/frame.000006.hdf", "rb"))

    def test_control(self):
        self.write("heap.lua", heap(100000))
        reader, writer = os.pipe()
        run = subprocess.Popen([REPOSE, "run", "heap.lua", "-o", "out", "--quiet", "--control-fd", str(reader)],
                               pass_fds=[reader])
        os.close(reader)
        frames = lambda: len(os.listdir("out/frames")) if os.path.isdir("out/frames") else 0
        while frames() < 3:
            time.sleep(0.01)
        os.write(writer, b"pause\n")
        time.sleep(0.5)
        paused = frames()
        time.sleep(0.7)
        self.assertEqual(frames(), paused)
        os.write(writer, b"resume\n")
        while frames() < paused + 3:
            time.sleep(0.01)
        os.write(writer, b"st")
        os.write(writer, b"op\n")
        self.assertEqual(run.wait(timeout=30), 0)
        os.close(writer)
        self.repose("run", "--resume", "-o", "out", "--frames", str(frames() + 1), "--quiet")

    def test_what_is_told_to_stop_does_not_pause(self):
        self.write("heap.lua", heap(100000))
        for words in (b"stop\npause\n", b"pause\nstop\npause\n", b"stop\npause\nresume\npause\n"):
            with self.subTest(words=words):
                reader, writer = os.pipe()
                os.write(writer, words)
                run = subprocess.Popen([REPOSE, "run", "heap.lua", "-o", "out", "--quiet", "--overwrite",
                                        "--control-fd", str(reader)], pass_fds=[reader])
                os.close(reader)
                try:
                    self.assertEqual(run.wait(timeout=10), 0)
                finally:
                    run.kill()
                    run.wait()
                    os.close(writer)

    def test_a_full_disk_harms_nothing(self):
        # files may grow to this size: stats and script fit, a frame does not
        self.write("heap.lua", heap(4))
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "2")
        before = {name: self.read(f"out/frames/{name}", "rb") for name in self.frames("out")}
        limit = len(before["frame.000002.hdf"]) * 2 // 3

        def small_disk():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = self.repose("run", "heap.lua", "-o", "out", "--resume", "--frames", "4", status=4,
                           preexec_fn=small_disk)
        self.assertRegex(done.stderr, "frame.000003.hdf|large|space")
        self.assertEqual(before, {name: self.read(f"out/frames/{name}", "rb") for name in self.frames("out")})
        # with room again it goes on, and ends as if nothing had been
        self.repose("run", "heap.lua", "-o", "out", "--resume", "--frames", "4", "--quiet")
        self.repose("run", "heap.lua", "-o", "whole", "--quiet")
        self.assertEqual(self.read("out/frames/frame.000004.hdf", "rb"),
                         self.read("whole/frames/frame.000004.hdf", "rb"))

    def test_a_state_that_is_no_longer_physical(self):
        self.write("heap.lua", heap(2).replace("fps = 48", "fps = 48, gravity = {0, -1e30}"))
        done = self.repose("run", "heap.lua", "-o", "out", status=3)
        for word in ("particle", "cell", "material", "step", "dt", "bounded by", "failure.hdf"):
            self.assertIn(word, done.stderr)
        said = self.repose("info", "out/failure.hdf").stdout
        for word in ("failure", "guilty", "particle"):
            self.assertIn(word, said)
        self.repose("render", "out/failure.hdf", "--preview", "--size", "64x36")
        self.assertTrue(os.path.exists("out/frames/frame.000000.hdf"))

    def test_steps_that_would_never_end_a_frame(self):
        self.write("heap.lua", heap(2).replace("max = {0.2, 0.2} }", "max = {0.2, 0.2} }, velocity = {1e14, 0}"))
        for words in (["check", "heap.lua"], ["run", "heap.lua", "-o", "out"]):
            done = self.repose(*words, status=2)
            self.assertRegex(done.stderr, "would take 1e.14 steps .* bounded by speed")
        # in mid-run it is a failure
        self.write("heap.lua", heap(2) + """
emitter { material = sand, shape = box { min = {0.5, 0.5}, max = {0.52, 0.52} }, velocity = {1e14, 0}, start = 0.03, stop = 0.03 + 1e-17 }""")
        done = self.repose("run", "heap.lua", "-o", "out", status=3)
        self.assertRegex(done.stderr, "time step fell to .* bounded by ")

    def test_damaged_frames_are_passed_over(self):
        self.write("heap.lua", heap(4))
        self.repose("run", "heap.lua", "-o", "whole", "--quiet")
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "3")
        whole = self.read("out/frames/frame.000003.hdf", "rb")
        with open("out/frames/frame.000003.hdf", "wb") as file:
            file.write(whole[:len(whole) // 2])
        with open("out/frames/frame.000002.hdf", "r+b") as file:
            file.seek(len(whole) // 3)
            file.write(b"garbage")
        done = self.repose("run", "heap.lua", "-o", "out", "--resume", "--frames", "4")
        self.assertIn("frame.000003.hdf", done.stderr)
        for i in (2, 3, 4):
            self.assertEqual(self.read(f"out/frames/frame.{i:06}.hdf", "rb"),
                             self.read(f"whole/frames/frame.{i:06}.hdf", "rb"))
        said = self.repose("info", self.write("foreign.hdf", "no frame at all"), status=4).stderr
        self.assertIn("foreign.hdf", said)

    def test_frames_of_which_none_is_whole_are_left_alone(self):
        self.write("heap.lua", heap(2))
        self.repose("run", "heap.lua", "-o", "out", "--quiet")
        for name in self.frames("out"):
            with open(f"out/frames/{name}", "r+b") as file:
                file.truncate(1000)
        before = {name: self.read(f"out/frames/{name}", "rb") for name in self.frames("out")}
        self.assertIn("no whole state", self.repose("run", "-o", "out", "--resume", status=4).stderr)
        self.assertEqual(before, {name: self.read(f"out/frames/{name}", "rb") for name in self.frames("out")})

    def test_what_a_kill_left_is_tidied_up(self):
        self.write("heap.lua", heap(4, 'output { state = "latest" }'))
        self.repose("run", "heap.lua", "-o", "whole", "--quiet")
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "3")
        self.repose("run", "heap.lua", "-o", "full", "--quiet", "--frames", "1")
        # as if killed after the rename of frame 3: frame 1 still has its state, the index lacks the last, and so on
        os.replace("full/frames/frame.000001.hdf", "out/frames/frame.000001.hdf")
        shutil.copy("full/frames/frame.000000.hdf", "out/state.hdf")
        self.write("out/frames/frame.000001.hdf.tmp", "half")
        self.write("out/frames/frame.hdf.series", "{")
        self.write("out/run.json.tmp", "{")
        self.repose("run", "heap.lua", "-o", "out", "--resume", "--frames", "4", "--quiet")
        self.assertEqual(self.frames("out"), self.frames("whole"))
        for name in self.frames("whole"):
            self.assertEqual(self.read(f"out/frames/{name}", "rb"), self.read(f"whole/frames/{name}", "rb"), name)
        self.assertEqual(sorted(os.listdir("out")), sorted(os.listdir("whole")))

    def test_tables_of_another_version_are_kept(self):
        self.write("heap.lua", heap(3))
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "1")
        self.write("out/stats.csv", "other,columns\n0,1\n")
        self.assertIn("stats.csv.old", self.repose("run", "heap.lua", "-o", "out", "--resume", "--frames", "2").stderr)
        self.assertEqual(self.read("out/stats.csv.old"), "other,columns\n0,1\n")

    def test_a_changed_scene_is_not_resumed(self):
        self.write("heap.lua", heap(3, "param('x', 1, '')"))
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "1", "--set", "x=2")
        before = self.read("out/frames/frame.000001.hdf", "rb")
        self.assertIn("x", self.repose("run", "heap.lua", "-o", "out", "--resume", "--set", "x=3", status=2).stderr)
        self.write("heap.lua", heap(3, "param('x', 1, '') -- other"))
        self.assertIn("changed", self.repose("run", "heap.lua", "-o", "out", "--resume", status=2).stderr)
        self.repose("run", "nothing-out.lua", "-o", "nothing", "--resume", status=2)
        self.assertEqual(self.read("out/frames/frame.000001.hdf", "rb"), before)
        self.repose("run", "-o", "out", "--resume", "--frames", "2", "--quiet")

    def test_a_run_with_a_mesh_is_resumed_from_elsewhere(self):
        # files are found from the folder of the scene, also when the run's own copy is what is read
        os.makedirs("scenes/meshes")
        self.write("scenes/meshes/wedge.obj",
                   "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
        self.write("scenes/wedge.lua", """
scene { dx = 0.05, frames = 2 }
particles { material = material.sand {}, shape = mesh { file = "meshes/wedge.obj", scale = 0.4 } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
""")
        self.repose("run", "scenes/wedge.lua", "-o", "out", "--quiet", "--frames", "1")
        os.makedirs("elsewhere")
        os.chdir("elsewhere")
        try:
            self.repose("run", "-o", "../out", "--resume", "--frames", "2", "--quiet")
        finally:
            os.chdir("..")
        self.assertTrue(os.path.exists("out/frames/frame.000002.hdf"))
        # another mesh under the same name would be another run; the run itself has its own copy
        whole = self.read("scenes/meshes/wedge.obj")
        self.write("scenes/meshes/wedge.obj", whole.replace("0 0 1", "0 0 2"))
        refused = self.repose("run", "scenes/wedge.lua", "-o", "out", "--resume", "--frames", "3", status=2).stderr
        self.assertIn("scenes/meshes/wedge.obj has changed since the run in out was started", refused)
        self.repose("run", "-o", "out", "--resume", "--frames", "3", "--quiet")
        self.assertEqual(self.read("out/scene.files/meshes/wedge.obj"), whole)
        self.write("out/scene.files/meshes/wedge.obj", whole.replace("0 0 1", "0 0 2"))
        refused = self.repose("run", "-o", "out", "--resume", "--frames", "4", status=2).stderr
        self.assertIn("out/scene.files/meshes/wedge.obj has changed since", refused)

    def test_a_run_can_be_moved_to_another_machine(self):
        # all that the scene reads: beside it, above it, by a whole path, and what a file itself names
        os.makedirs("here/scenes/meshes")
        wedge = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
        for path in ("here/scenes/meshes/wedge.obj", "here/above.obj", "here/far.obj"):
            self.write(path, wedge)
        with open("here/hills.png", "wb") as file:
            file.write(grey_png(4, 4, [10 * i for i in range(16)]))
        points = struct.pack("<12f12H", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2)
        with open("here/scenes/meshes/wedge.bin", "wb") as file:
            file.write(points)
        self.write("here/scenes/meshes/wedge.gltf", json.dumps({
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "buffers": [{"uri": "wedge.bin", "byteLength": len(points)}],
            "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48},
                            {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3",
                           "min": [0, 0, 0], "max": [1, 1, 1]},
                          {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}]}))
        self.write("here/scenes/wedge.lua", """
scene { title = "Wedges", dx = 0.05, frames = 4 }
local function at(x, name) return move(mesh { file = name, scale = 0.3 }, { position = {x, 0.1, 0} }) end
particles { material = material.sand {}, shape = at(0, "meshes/wedge.obj") }
particles { material = material.sand {}, shape = at(1, "./meshes/../meshes/wedge.gltf") }
particles { material = material.sand {}, shape = at(2, "../above.obj") }
particles { material = material.sand {}, shape = at(3, "%s/here/far.obj") }
collider { shape = height_field { min = {-1, -0.1, -1}, max = {5, 0, 1}, file = "../hills.png" } }
""" % os.getcwd())
        self.repose("run", "here/scenes/wedge.lua", "-o", "whole", "--quiet")
        self.repose("run", "here/scenes/wedge.lua", "-o", "here/out", "--quiet", "--frames", "2")
        os.makedirs("there")
        shutil.move("here/out", "there/out")
        shutil.rmtree("here")
        self.repose("run", "--resume", "-o", "there/out", "--frames", "4", "--quiet")
        for i in range(5):
            name = f"frames/frame.{i:06}.hdf"
            self.assertEqual(self.read(f"there/out/{name}", "rb"), self.read(f"whole/{name}", "rb"), name)
        # its copy of the scene is a scene like any other, but not in its own place
        self.repose("run", "there/out/scene.lua", "-o", "again", "--quiet", "--frames", "1")
        self.assertEqual(self.read("again/frames/frame.000001.hdf", "rb"),
                         self.read("whole/frames/frame.000001.hdf", "rb"))
        refused = self.repose("run", "again/scene.lua", "-o", "again", "--overwrite", status=2).stderr
        self.assertIn("the scene reads again/scene.files/meshes/wedge.obj, in the folder that would be", refused)
        # what is in the way stays there; what is a run's own is removed with it, and only that
        self.write("again/scene.files/mine.txt", "mine")
        self.write("heap.lua", heap(1))
        self.repose("run", "heap.lua", "-o", "again", "--overwrite", "--quiet")
        self.assertEqual(os.listdir("again/scene.files"), ["mine.txt"])
        os.makedirs("third/scene.files/meshes")
        self.write("third/scene.files/meshes/wedge.obj", "mine")
        refused = self.repose("run", "there/out/scene.lua", "-o", "third", status=2).stderr
        self.assertIn("third holds scene.files, which is not of a run", refused)
        self.assertEqual(self.read("third/scene.files/meshes/wedge.obj"), "mine")
        # nor in a folder that a run has, but not this file of it
        os.makedirs("again/scene.files/meshes")
        self.write("again/scene.files/meshes/wedge.obj", "mine")
        refused = self.repose("run", "there/out/scene.lua", "-o", "again", "--overwrite", status=2).stderr
        self.assertIn("again/scene.files/meshes/wedge.obj is in the way", refused)
        self.assertEqual(self.read("again/scene.files/meshes/wedge.obj"), "mine")
        self.assertEqual(self.frames("again"), ["frame.000000.hdf", "frame.000001.hdf"])  # the run is still there

    def test_damaged_records_are_named(self):
        self.write("heap.lua", heap(3))
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "1")
        for text, wanted in (("{", "run.json:1"), ("[]", "run.json"), ('{"format": 99, "about": {}}', "99")):
            self.write("out/run.json", text)
            self.assertIn(wanted, self.repose("run", "-o", "out", "--resume", status=4).stderr)

    def test_only_the_newest_frames_keep_their_state(self):
        self.write("heap.lua", heap(4, 'output { state = "latest" }'))
        self.repose("run", "heap.lua", "-o", "out", "--quiet")
        can = ["yes" in re.search("can resume (.*)", self.repose("info", f"out/frames/frame.{i:06}.hdf").stdout)[1]
               for i in range(5)]
        self.assertEqual(can, [False, False, False, True, True])


    def test_frames_of_chosen_columns_are_small_and_the_run_resumes_from_its_state(self):
        self.write("heap.lua", heap(4, 'output { columns = {"velocity", "stress"} }'))
        forecast = json.loads(self.repose("check", "heap.lua", "--json").stdout)
        said = self.repose("run", "heap.lua", "-o", "whole").stderr
        self.assertIn("cannot go on from them", said)
        size = os.path.getsize("whole/frames/frame.000004.hdf")
        self.assertLess(abs(forecast["frame_bytes"] - 40e3 - size), 0.1 * size + 40e3)
        columns = re.findall("^  ([a-z_]+) ", self.repose("info", "whole").stdout, re.M)
        self.assertEqual(columns, ["position", "group", "id", "material", "species", "stress", "velocity"])
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "2")
        # as if killed after the second frame and before its state
        self.repose("run", "heap.lua", "-o", "one", "--quiet", "--frames", "1")
        os.replace("one/state.hdf", "out/state.hdf")
        self.repose("run", "-o", "out", "--resume", "--frames", "4", "--quiet")
        # and the same of the very first one: nothing is lost, and it begins anew
        os.remove("one/frames/frame.000001.hdf")
        self.repose("run", "-o", "one", "--resume", "--frames", "4", "--quiet")
        for out in "out", "one":
            self.assertEqual(sorted(os.listdir(out)), sorted(os.listdir("whole")))
            for name in ["state.hdf"] + ["frames/" + name for name in self.frames("whole")]:
                self.assertEqual(self.read(f"{out}/{name}", "rb"), self.read(f"whole/{name}", "rb"), name)
        # with frames and no state, there is nothing to go on from
        os.remove("out/state.hdf")
        self.assertIn("no whole state", self.repose("run", "-o", "out", "--resume", status=4).stderr)


    def probes(self, out):
        rows = list(csv.DictReader(self.read(f"{out}/probes.csv").splitlines()))
        return {name: [row for row in rows if row["probe"] == name] for name in {row["probe"] for row in rows}}

    def test_probes_are_read_at_their_own_rate(self):
        self.write("heap.lua", heap(4, """
probe { name = "often", point = {0.05, 0.05}, every = 0.004 }
probe { name = "seldom", plane = { point = {0, 0.1}, normal = {0, -1} }, every = 0.05 }
probe { name = "frames", particle = 3, every = 1 / 48 }
probe { name = "steps", plane = { point = {0, 0.1}, normal = {0, -1} } }"""))
        self.repose("run", "heap.lua", "-o", "whole", "--quiet")
        rows, end = self.probes("whole"), 4 / 48
        times = {name: [float(row["time_s"]) for row in rows[name]] for name in rows}
        steps = times["steps"]  # all there are
        self.assertEqual([int(row["step"]) for row in rows["steps"]], list(range(len(steps))))
        self.assertEqual((steps[0], steps[-1]), (0.0, end))
        self.assertEqual(times["frames"], [i / 48 for i in range(5)])
        for name, every in ("often", 0.004), ("seldom", 0.05):
            # the first step that reaches each multiple, which ends when it ends
            due = [i * every for i in range(100) if i * every <= end]
            self.assertEqual(times[name], [min(t for t in steps if t > d - 1e-9) for d in due], name)
        row = rows["often"][-1]
        self.assertEqual(float(row["x_m"]), 0.05)
        self.assertGreater(float(row["density_kg_m3"]), 1000)
        self.assertAlmostEqual(float(row["pressure_Pa"]), -sum(float(row[k + "_Pa"]) for k in ("xx", "yy")) / 2, 6)
        self.assertEqual((row["flux_kg_s"], rows["seldom"][-1]["pressure_Pa"]), ("", ""))
        # stopped in mid-frame, and torn: resuming cuts back to the state and goes on
        self.repose("run", "heap.lua", "-o", "out", "--quiet", "--frames", "2")
        with open("out/probes.csv", "a") as file:
            file.write("999999,1,often,0\n1000")
        self.repose("run", "-o", "out", "--resume", "--quiet", "--frames", "4")
        self.assertEqual(self.read("out/probes.csv"), self.read("whole/probes.csv"))
        os.remove("out/probes.csv")
        self.assertIn("probes.csv is missing", self.repose("run", "-o", "out", "--resume", "--frames", "5").stderr)
        # without probes there is no table, and one of an earlier run goes with it
        self.write("bare.lua", heap(1))
        self.repose("run", "bare.lua", "-o", "out", "--overwrite", "--quiet")
        self.assertFalse(os.path.exists("out/probes.csv"))

    def test_probes_tell_what_led_to_a_failure(self):
        boom = "gravity = function(t) return 0, t < 0.01 and -9.81 or -1e30 end"
        self.write("boom.lua", heap(2, "probe { particle = 7 }").replace("fps = 48", f"fps = 48, {boom}"))
        self.repose("run", "boom.lua", "-o", "out", "--quiet", status=3)
        self.assertFalse(os.path.exists("out/frames/frame.000001.hdf"))
        self.assertGreater(len(self.probes("out")["0"]), 3)


class Forecasts(Folder):
    def test_check_foretells_how_long_any_method_takes(self):
        """By processor time, on one thread: others may be at work. It was 30 to 900 times too short for all but explicit."""
        for method, dx in (("explicit", 0.01), ("nonsmooth", 0.01), ("sph", 0.02)):
            with self.subTest(method=method):
                self.write("dam.lua", f"""
scene {{ dimension = 2, method = "{method}", dx = {dx}, fps = 24, frames = 16 }}
particles {{ material = material.sand {{}}, shape = box {{ min = {{0, 0}}, max = {{0.2, 0.3}} }} }}
collider {{ shape = half_space {{ point = {{0, 0}}, normal = {{0, 1}} }}, contact = "separate", friction = 0.5 }}
collider {{ shape = half_space {{ point = {{0, 0}}, normal = {{1, 0}} }}, contact = "slip" }}
""")
                forecast = json.loads(self.repose("check", "dam.lua", "--json", "--threads", "1").stdout)["seconds"]
                run = subprocess.Popen([REPOSE, "run", "dam.lua", "-o", "out", "--overwrite", "--quiet", "--threads", "1"],
                                       stderr=subprocess.DEVNULL)
                _, status, used = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(run.returncode, 0)
                took = used.ru_utime + used.ru_stime
                if not os.environ.get("REPOSE_INSTRUMENTED"):
                    self.assertLess(max(took / forecast, forecast / took), 3.0, f"{method}: {forecast} s foreseen, {took} s")

    def test_check_says_what_a_run_will_need(self):
        text = heap(1).replace("0.02", "0.0012").replace("fps = 48", "fps = 2000")
        self.write("scene.lua", text)
        said = self.repose("check", "scene.lua").stdout
        for word in ("particles", "memory", "frames", "time step", "stiffness", "slope", "computing"):
            self.assertIn(word, said)
        self.assertNotIn("compared", said)  # another method may take minutes for one step
        self.write("small.lua", heap(1))
        for method, other in ("explicit", "implicit"), ("implicit", "explicit"), ("sph", None):
            said = self.repose("check", "small.lua", "--compare", "--method", method).stdout
            self.assertEqual(re.findall("compared +method (\\w+) would take", said), [other] if other else [])
        forecast = json.loads(self.repose("check", "scene.lua", "--json").stdout)
        run = subprocess.Popen([REPOSE, "run", "scene.lua", "-o", "out", "--quiet"])
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 0)
        peak = used.ru_maxrss * 1024
        if not os.environ.get("REPOSE_INSTRUMENTED"):  # sanitizers have memory of their own
            self.assertLess(abs(forecast["memory_bytes"] - peak), 0.1 * peak, f"{forecast}, peak {peak}")
        size = os.path.getsize("out/frames/frame.000000.hdf")
        self.assertLess(abs(forecast["frame_bytes"] - size), 0.1 * size)

    def test_params_are_shown(self):
        self.write("heap.lua", 'local size = param("size", {"quick", "fine", "paper"}, "how fine")\n'
                               'local wet = param("wet", false)\nlocal angle = param("angle", 35, "degrees")\n' + heap(1))
        lines = ["param          size = fine (quick, fine or paper; otherwise quick; how fine)", "param          wet = false",
                 "param          angle = 30.5 (otherwise 35; degrees)"]
        set_ = ("--set", "size=fine", "--set", "angle=30.5")
        said = self.repose("check", "heap.lua", *set_).stdout
        for line in lines:
            self.assertIn(line + "\n", said)
        said = json.loads(self.repose("check", "heap.lua", "--json", *set_).stdout)
        self.assertEqual(said["params"]["angle"], {"value": 30.5, "default": 35, "note": "degrees"})
        self.assertEqual(said["warnings"], [])
        self.repose("run", "heap.lua", "-o", "out", "--quiet", *set_)
        said = self.repose("info", "out").stdout
        for line in lines:
            self.assertIn(line + "\n", said)

    def test_check_counts_what_will_be_poured(self):
        self.write("spout.lua", """
scene { dx = 0.02, frames = 24, dimension = 2 }
emitter { material = material.sand {}, shape = sphere { center = {0, 0.3}, radius = 0.05 },
          velocity = {0, -1}, start = 0.25, stop = 0.75 }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }
""")
        forecast = json.loads(self.repose("check", "spout.lua", "--json").stdout)
        self.repose("run", "spout.lua", "-o", "out", "--quiet")
        born = self.read("out/stats.csv").splitlines()[-1].split(",")[6]
        self.assertEqual(forecast["particles"], 0)
        self.assertEqual(str(forecast["poured"]), born)

    def test_a_misspelt_scene_is_answered_with_the_right_one(self):
        self.assertIn("did you mean the scene hourglass?", self.repose("check", "hourglas", status=4).stderr)
        self.assertNotIn("did you mean", self.repose("run", "./hourglas", status=4).stderr)

    def test_a_folder_of_the_same_name_is_no_scene(self):
        os.makedirs("column-collapse")
        self.repose("check", "column-collapse")


class ScenesThatComeAlong(Folder):
    """scenes/THEME/NAME.lua: found by their names, each says what it shows, and each has two sizes."""

    def setUp(self):
        super().setUp()
        self.files = sorted(glob.glob(f"{SCENES}/*/*.lua"))
        self.names = [os.path.basename(path).removesuffix(".lua") for path in self.files]

    def test_no_two_have_the_same_name(self):
        self.assertGreaterEqual(len(self.names), 9)
        self.assertEqual(sorted(set(self.names)), sorted(self.names))
        self.assertEqual(self.repose("list", "--names").stdout.split(), self.names)
        # one that lies beside the themes would never be found
        self.assertEqual(glob.glob(f"{SCENES}/*.lua"), [])

    def test_a_list_says_what_each_shows(self):
        wanted = []
        for path, name in zip(self.files, self.names):
            theme = os.path.basename(os.path.dirname(path))
            if theme not in wanted:
                wanted += [theme]
            first = self.read(path).splitlines()[0]
            self.assertRegex(first, r"^-- [A-Z].{20,110}\.$", path)
            wanted += [f"{name}  {first.removeprefix('-- ')}"]
            # each param as the script says it; values that are computed are not looked at
            for param, note in re.findall(r'param\("(\w+)", .*?(?:, "([^"]*)")?\)\n', self.read(path)):
                wanted += [(param, note)]
        said = [re.sub("  +", "  ", line.strip()) for line in self.repose("list").stdout.splitlines()]
        said = [line for line in said if line]
        self.assertEqual(len(said), len(wanted))
        for line, want in zip(said, wanted):
            if isinstance(want, str):
                self.assertEqual(line, want)
            else:
                self.assertRegex(line, rf"^{want[0]} = \S+ \(([\w, ]+; )?{re.escape(want[1])}\)$")

    def test_each_has_the_size_of_the_paper_too(self):
        for name in self.names:
            with self.subTest(name=name):
                # the first is the default
                done = self.repose("check", name, "--set", "size=papr", status=2)
                self.assertIn("want \"quick\" or \"paper\", got 'papr'; did you mean \"paper\"?", done.stderr)

    @unittest.skipUnless("REPOSE_LONG_TESTS" in os.environ, "long: each is stepped for a while")
    def test_each_is_quick_unless_it_is_to_have_the_size_of_the_paper(self):
        for name in self.names:
            with self.subTest(name=name):
                # on a machine that has the memory for it
                quick, paper = (json.loads(self.repose("check", name, "--json", "--memory", "64", *more).stdout)
                                for more in ((), ("--set", "size=paper")))
                self.assertLess(quick["particles"] + quick["poured"], 500000)
                self.assertGreater(paper["particles"] + paper["poured"], quick["particles"] + quick["poured"])

    def test_an_installed_program_finds_them(self):
        os.makedirs("usr/bin")
        os.makedirs("usr/share/repose")
        shutil.copy(REPOSE, "usr/bin/repose")
        shutil.copytree(SCENES, "usr/share/repose/scenes")
        installed = os.path.abspath("usr/bin/repose")
        said = subprocess.run([installed, "list", "--names"], capture_output=True, text=True)
        self.assertEqual(said.stdout.split(), self.names)
        # with the mesh beside it
        said = subprocess.run([installed, "check", "rock"], capture_output=True, text=True)
        self.assertIn("usr/share/repose/scenes/obstacles/rock.lua: Rock", said.stdout)
        shutil.rmtree("usr/share/repose/scenes")
        said = subprocess.run([installed, "list"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 4)
        self.assertIn("were not found beside the program", said.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
