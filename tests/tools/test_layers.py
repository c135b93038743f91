#!/usr/bin/env python3
"""tools/layers lets the arrows of the design pass and names every other."""

import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/layers")

# a small tree in which every include is allowed
GOOD = {
    "include/repose/base.h": "",
    "include/repose/world.h": '#include "base.h"\n#include <stdint.h>\n',
    "src/base/result.h": '#include "repose/base.h"\n',
    "src/core/grid.h": '#include "base/result.h"\n',
    "src/core/grid.c": '#include "grid.h"\n#include "core/grid.h"\n',
    "src/model/law.h": '#include "repose/base.h"\n',
    "src/kernel/kernels.c": '#include "model/law.h"\n  #  include "kernel/variant_list.h"\n',
    "src/solver/solver.h": '#include "core/grid.h"\n',
    "src/solver/list.c": '#include "solver/explicit/explicit.h"\n',
    "src/solver/explicit/explicit.h": '#include "solver/solver.h"\n',
    "src/solver/krylov/krylov.h": "",
    "src/solver/implicit/implicit.c": '#include "solver/solver.h"\n#include "solver/krylov/krylov.h"\n',
    "src/sim/world.c": '#include "solver/solver.h"\n#include "repose/world.h"\n',
    "src/scene/scene.c": '#include "repose/world.h"\n#include "scene_words.h"\n',
    "src/scene/scene_words.h": "",
    "apps/repose/main.c": '#include <repose/world.h>\n#include <png.h>\n#include "options.h"\n',
    "apps/repose/options.h": "",
    "bench/main.c": '#include "repose/world.h"\n',
    "examples/heap.c": '#include "repose/world.h"\n',
}


def run(extra, *arguments):
    """The tool on GOOD with some files added or replaced."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**GOOD, **extra}.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return subprocess.run([sys.executable, TOOL, "--root", root, *arguments],
                              capture_output=True, text=True, check=False)


class Layers(unittest.TestCase):
    def refuses(self, extra, *words):
        result = run(extra, "--check")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_the_allowed_arrows_pass_in_silence(self):
        result = run({}, "--check")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_an_arrow_up_is_named_with_file_line_and_rule(self):
        self.refuses({"src/base/log.c": '\n\n#include "core/grid.h"\n'},
                     "src/base/log.c:3:", "core/grid.h", "core lies above base")

    def test_an_arrow_up_may_not_hide_in_angle_brackets_or_a_relative_path(self):
        self.refuses({"src/base/log.c": "#include <core/grid.h>\n"}, "core lies above base")
        self.refuses({"src/base/log.c": '#include "../core/grid.h"\n'}, "core lies above base")

    def test_a_header_generated_for_a_higher_folder_counts_as_that_folder(self):
        self.refuses({"src/core/grid.c": '#include "kernel/variant_list.h"\n'}, "kernel lies above core")

    def test_neighbours_on_a_row_do_not_include_each_other(self):
        self.refuses({"src/core/sort.c": '#include "model/law.h"\n'}, "core and model are neighbours")

    def test_solvers_do_not_include_each_other(self):
        header = "solver/explicit/explicit.h"
        self.refuses({"src/solver/implicit/step.c": f'#include "{header}"\n'},
                     "solvers do not include each other")
        self.refuses({"src/solver/solver.h": f'#include "{header}"\n'}, "include none of them")
        self.refuses({"src/solver/krylov/cg.c": '#include "solver/solver.h"\n'}, "krylov lies below")

    def test_public_headers_include_only_each_other(self):
        self.refuses({"include/repose/grid.h": '#include "core/grid.h"\n'},
                     "public headers include only each other")

    def test_programs_use_the_public_headers_only(self):
        for path in ("apps/repose/run.c", "bench/p2g.c", "examples/heap.c", "src/scene/lua.c",
                     "bindings/python/module.c"):
            self.refuses({path: '#include "core/grid.h"\n'}, path, "above the public headers")

    def test_an_unknown_folder_is_refused(self):
        self.refuses({"src/misc/x.c": ""}, "src/misc/x.c", "no layer knows")
        self.refuses({"src/x.c": ""}, "src/x.c", "no layer knows")

    def test_what_cannot_be_followed_is_refused(self):
        self.refuses({"src/base/x.c": '#include "nowhere.h"\n'}, "nowhere.h")
        self.refuses({"src/base/x.c": "#include RP_FILE\n"}, "macro")

    def test_the_graph_counts_arrows(self):
        result = run({})
        self.assertEqual(result.returncode, 0)
        self.assertIn("sim -> solver  1\n", result.stdout)
        self.assertNotIn("core -> core", result.stdout)


if __name__ == "__main__":
    unittest.main()
