#!/usr/bin/env python3
"""repose validate and repose measure as a user meets them.

The program is named by the environment variable REPOSE or by the first argument.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

REPOSE = os.path.abspath(os.environ.get("REPOSE") or (sys.argv.pop(1) if len(sys.argv) > 1 else "repose"))

SCENE = """scene { dimension = 2, dx = 0.05, fps = 10, frames = %d }
particles { material = material.elastic {}, shape = box { min = {0, 1}, max = {0.2, 1.2} } }
"""


def check(name, body, cost="quick", more=""):
    return f'check {{ id = "{name}", title = "A <test>", source = "[A] & so on", cost = "{cost}"{more} }}\n{body}'


def falls(frames=2, band="{-0.5, 0}"):
    return (f"local run = simulate {{ scene = [[\n{SCENE % frames}]] }}\n"
            'local c = measure(run, "center", { all = true })\n'
            "expect { what = 'fall', value = c.y_m[c.rows] - c.y_m[1], band = %s, unit = 'm', source = '[A]' }\n"
            "plot { title = 'Height', x = 't', y = 'y', series = { { name = 'y', x = c.time_s, y = c.y_m } } }\n" % band)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.back = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, self.back)
        os.mkdir("checks")

    def add(self, name, text):
        with open(f"checks/{name}.lua", "w", encoding="utf-8") as file:
            file.write(text)

    def repose(self, *words, status=0):
        done = subprocess.run([REPOSE, *words], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, f"repose {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def validate(self, *words, status=0):
        return self.repose("validate", "--checks", "checks", "-o", "out", *words, status=status)

    def rows(self):
        with open("out/results.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def page(self):
        with open("out/report.html", encoding="utf-8") as file:
            return file.read()


class Validate(Folder):
    def test_the_example_of_the_docs(self):
        docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "validate.md")
        with open(docs, encoding="utf-8") as file:
            self.add("example", file.read().split("```lua\n")[1].split("```")[0])
        self.assertEqual(self.validate().stdout.splitlines()[-1], "1 passed, 0 failed")

    def test_a_check_that_holds(self):
        self.add("one", check("T1", falls()))
        done = self.validate()
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed")
        row, = self.rows()
        self.assertEqual((row["check"], row["what"], row["result"]), ("T1", "fall", "passed"))
        self.assertAlmostEqual(float(row["measured"]), -0.5 * 9.81 * 0.04, delta=0.02)
        page = self.page()
        self.assertIn("A &lt;test&gt;", page)
        self.assertIn("[A] &amp; so on", page)
        self.assertIn("<svg", page)
        self.assertNotIn("http", page.replace("http-equiv", ""))
        self.assertEqual(sorted(os.listdir("out")), ["report.html", "results.csv"])

    def test_a_check_that_fails_is_red_and_explained(self):
        self.add("one", check("T1", falls(band="{1, 2}"), more=', why = "sand falls down"'))
        self.add("two", check("T2", falls()))
        done = self.validate(status=3)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed")
        self.assertIn('class="bad">failed', self.page())
        self.assertIn("sand falls down", self.page())
        self.assertEqual([row["result"] for row in self.rows()], ["failed", "passed"])

    def test_errors_of_a_check_fail_it_and_no_other(self):
        bodies = {"lua": "local x = nil + 1", "scene": 'simulate { scene = "scene { dx = 1\\n" }', "nothing": "note('hm')",
                  "field": "expect { wat = 1 }", "measure": 'measure({ folder = "/nowhere" }, "runout")',
                  "io": "io.open('x')", "nan": "expect { what = 'x', value = 0/0, band = {-1, 1}, source = '' }"}
        for name, body in bodies.items():
            self.add(name, check(name, body + "\n"))
        self.add("good", check("good", falls()))
        done = self.validate(status=3)
        self.assertEqual(done.stdout.splitlines()[-1], f"1 passed, {len(bodies)} failed")
        for word in ("attempt to perform arithmetic", "it expects nothing", "there is no field", "/nowhere"):
            self.assertIn(word, done.stdout)

    def test_names_and_costs_choose(self):
        self.add("one", check("T-1", falls()))
        self.add("two", check("T-2", falls(), cost="full"))
        self.assertEqual(self.validate("--list").stdout.split("\n")[0].split(), ["T-1", "quick", "A", "<test>"])
        self.assertEqual(len(self.validate("--list", "--quick").stdout.splitlines()), 1)
        self.assertIn("T-2", self.validate("--only", "t-2").stdout)
        self.assertEqual({row["check"] for row in self.rows()}, {"T-2"})
        self.assertEqual(self.validate("--only", "T-1,T-2").stdout.splitlines()[-1], "2 passed, 0 failed")

    def test_mistakes_are_named(self):
        self.add("one", check("T-1", falls()))
        self.assertIn("did you mean T-1", self.validate("--only", "T-11", status=2).stderr)
        self.assertIn("--jobs", self.validate("--jobs", "x", status=2).stderr)
        self.assertIn("no option", self.validate("--quik", status=2).stderr)
        self.repose("validate", "--checks", "nowhere", status=4)
        with open("file", "w", encoding="utf-8"):
            pass
        self.repose("validate", "--checks", "checks", "-o", "file/out", status=4)
        self.add("two", "local x = 1\n")
        self.assertIn("a check begins with", self.validate(status=2).stderr)
        self.add("two", 'check { id = "x", title = "y", source = "z", cost = "dear" }\n')
        self.assertIn("quick", self.validate(status=2).stderr)

    def test_a_kill_leaves_what_was_found(self):
        self.add("one", check("T1", falls(), more=", minutes = 9"))
        self.add("two", check("T2", falls(frames=1000000)))
        for sign, status in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
            run = subprocess.Popen([REPOSE, "validate", "--checks", "checks", "-o", "out", "--jobs", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.assertIn("T1", run.stdout.readline())
            time.sleep(0.5)
            run.send_signal(sign)
            said = run.communicate(timeout=60)[0]
            self.assertEqual(run.returncode, status)
            if sign == signal.SIGINT:
                self.assertEqual(said.splitlines()[-2:], ["1 not run", "1 passed, 0 failed"])
            found = {row["check"]: row["result"] for row in self.rows()}
            self.assertEqual(found["T1"], "passed")
            self.assertIn(found["T2"], ("not run", "not finished"))
            self.assertIn("passed", self.page())


class Measure(Folder):
    def test_a_run_is_measured(self):
        with open("fall.lua", "w", encoding="utf-8") as file:
            file.write(SCENE % 2)
        self.repose("run", "fall.lua", "--quiet")
        self.assertIn("runout", self.repose("measure").stdout.split())
        found = json.loads(self.repose("measure", "fall-out", "center", "--all", "--json").stdout)
        self.assertEqual(found["frame"], [0, 1, 2])
        self.assertAlmostEqual(found["vy_m_s"][2], -1.962, places=4)
        rows = self.repose("measure", "fall-out", "runout", "along=y", "quantile=0.5", "--csv", "--frame", "1").stdout
        self.assertEqual(len(rows.splitlines()), 2)
        for words in (("fall-out", "runaut"), ("fall-out", "runout", "quantile"), ("fall-out", "runout", "quantile=7"),
                      ("fall-out",), ("fall-out", "center", "--all", "--frame", "1"), ("fall-out", "center", "--frame", "9")):
            self.repose("measure", *words, status=2)
        self.repose("measure", "nowhere", "center", status=4)


if __name__ == "__main__":
    unittest.main()
