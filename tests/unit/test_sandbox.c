// Tests src/scene/sandbox.c and library.c: that no script can hang, eat memory, get out, or differ
// from run to run.
#include "scene/call.h"
#include "scene/sandbox.h"
#include "scene/scene.h"
#include "scene/words.h"

#include "check.h"
#include "scene_text.h"

#include <jansson.h>
#include <lauxlib.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// Every one of these tries to run for ever, to take all memory, to crash or to get out. It must end
// soon, with a sentence; what is harmless may also just work.
static const char *const hostile[] = {
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "local function f() pcall(f) end while true do f() end",
    "while true do xpcall(function() while true do end end, function() while true do end end) end",
    "local function f() return f() end f()",
    "local function f() return 1 + f() end f()",
    "local function f() return pcall(f) end f()",
    "repeat local ok = pcall(error, 'x') until false",
    "local t = {} for i = 1, math.huge do t[i] = i end",
    "local s = 'x' while true do s = s .. s end",
    "local s = ('x'):rep(1e7) while true do local t = s .. s end",
    "local s = ('x'):rep(1 << 62)",
    "local s = (''):rep(1 << 62)",
    "local s = (''):rep(1 << 62, '')",
    "local s = ('x'):rep(1e8) while true do local u = s:upper() end",
    "local s = ('x'):rep(5e7) local u = ('x'):rep(5e7) while true do local b = s == u end",
    "local s = ('x'):rep(5e7) local u = ('x'):rep(5e7) while true do local b = s < u end",
    "string.format('%99999d', 1)",
    "while true do string.format('%99.99f', 1e308) end",
    "string.format(('%s'):rep(1e6), 1)",
    "local t = setmetatable({}, {__index = table.concat, __len = rawlen}) table.concat(t, '', 1, "
    "1 << 53)",
    "table.concat({}, '', 1, 1 << 53)",
    "table.concat(setmetatable({}, {__index = function() return '' end}), '', 1, 1 << 53)",
    "table.unpack({}, 1, 1 << 53)",
    "table.unpack({}, 1, 1e6)",
    "while true do table.unpack({}, 1, 9e5) end",
    "table.insert(setmetatable({}, {__len = function() return 1 << 53 end, __index = function() "
    "end, "
    "__newindex = function() end}), 1, 1)",
    "local t = {} for i = 1, 3e6 do t[i] = i end while true do table.insert(t, 1, 0) "
    "table.remove(t, 1) end",
    "local t = {} for i = 1, 1e6 do t[i] = -i end table.sort(t) table.sort(t, function() return "
    "true end)",
    "table.sort({3, 2, 1}, function(a, b) while true do end end)",
    "table.sort({1, 2, 3}, pcall) table.sort({1, 2, 3}, error)",
    "local t = {} for i = 1, 2e5 do t['k' .. i] = i end while true do for k in pairs(t) do break "
    "end "
    "end",
    "local t = {} for i = 1, 1e6 do t[i] = i end local k while true do k = next(t, k) end",
    "for k, v in pairs(_G) do _G[k] = nil end",
    "for k, v in pairs(_G) do rawset(_G, k, false) end scene = nil",
    "setmetatable(_G, {})",
    "getmetatable('').__index = nil",
    "getmetatable(_G).__index = nil",
    "setmetatable({}, {__gc = function() while true do end end})",
    "local m = {} setmetatable({}, m) m.__gc = function() while true do end end",
    "local x <close> = setmetatable({}, {__close = function() while true do end end})",
    "local function f() local x <close> = setmetatable({}, {__close = function() while true do end "
    "end}) f() end f()",
    "error(setmetatable({}, {__tostring = function() while true do end end}))",
    "local t = setmetatable({}, {}) getmetatable(t).__tostring = tostring tostring(t)",
    "print(setmetatable({}, {__tostring = function() return 1 end}))",
    "local t = {} t.__index = t setmetatable(t, t) local x = t.y",
    "local t = setmetatable({}, {__index = function(t, k) return t[k] end}) local x = t.y",
    "local t = {} for i = 1, 300 do t = setmetatable({}, {__eq = function(a, b) return a == b "
    "end}) "
    "end return t == setmetatable({}, getmetatable(t))",
    "goto x ::x:: goto x",
    "local a = {} a[a] = a for k in pairs(a) do end",
    "return load('while true do end')()",
    "dofile('/etc/passwd')",
    "loadfile('/etc/passwd')",
    "require('os').exit(1)",
    "io.open('/etc/passwd')",
    "os.exit(1)",
    "debug.sethook()",
    "coroutine.wrap(function() while true do end end)()",
    "collectgarbage('stop')",
    "string.dump(print)",
    "('x'):rep(1e5):find(('x-'):rep(1e5))",
    "while true do local s = sphere { center = {0,0,0}, radius = 1 } end",
    "while true do param('p' .. math.random(1 << 60), 1) end",
    "while true do print('x') end",
    "local d = {} for i = 1, 1e5 do d = {d} end scene { title = d }",
    "scene { dx = 1, frames = 1, gravity = function() while true do end end }",
    "scene { dx = 1, frames = 1, gravity = function() while true do pcall(error) end end }",
    "scene { dx = 1, frames = 1, gravity = function() local s = 'x' while true do s = s .. s end "
    "end }",
    "local function f() return f() + 1 end scene { dx = 1, frames = 1, gravity = f }",
    "scene { dx = 1, frames = 1, gravity = error }",
    "scene { dx = 1, frames = 1, gravity = coroutine }",
    "scene { dx = 1, frames = 1, gravity = pcall }",
    "scene { dx = 1, frames = 1, gravity = scene }",
    "\x1bLua",
    "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
    "((((",
    "tonumber(('9'):rep(1e8))",
    "local t = table.pack(table.unpack({}, 1, 9e5)) while true do t = table.pack(table.unpack(t, "
    "1, "
    "9e5)) end",
    "string.char(table.unpack({}, 1, 9e5))",
    "select(-1, table.unpack({}, 1, 9e5))",
    "assert(false, setmetatable({}, {__name = ('x'):rep(1e7)}))",
    "error(('x'):rep(1e8))",
    "scene { [('x'):rep(1e7)] = 1 }",
    "local x = _G[('x'):rep(1e7)]",
    "rawset(material, 'sand', 1) material.sand {}",
    "setmetatable(sphere { center = {0,0,0}, radius = 1 }, {})",
    "rawget(sphere { center = {0,0,0}, radius = 1 }, 1)",
    "local s = sphere { center = {0,0,0}, radius = 1 } s.x = 1",
};

// Of this thread [s]: that is what scripts are given.
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void no_script_runs_for_ever_or_gets_out(void)
{
    for (size_t i = 0; i < COUNT_OF(hostile); i++) {
        check_context("%.200s", hostile[i]);
        rp_scene_def def = def_of(hostile[i]);
        def.load_seconds = 0.1;
        def.call_seconds = 0.05;
        rp_scene *scene;
        const double start = processor_time();
        const rp_result result = rp_scene_load(&def, &scene);
        const double took = processor_time() - start;
        // none of them says scene { ... } in full
        CHECK_EQUAL(result, RP_ERR_ARGUMENT);
        CHECK(scene == NULL);
        CHECK(strncmp(rp_last_error(), "test.lua:", 9) == 0);
        CHECK(strstr(rp_last_error(), "0x") == NULL);
        if (took > 0.5) {
            printf("%5.2f s: %.100s\n", took, hostile[i]);
        }
        CHECK(took < 5.0);
    }
}

static void limits_say_what_they_are(void)
{
    rp_scene_def def = def_of("local t = {} while true do t[#t + 1] = {} end");
    rp_scene *scene;
    def.memory = (size_t)8 << 20;
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_ARGUMENT,
                "test.lua: want at most 8 MiB of memory, got more");
    // a script that goes on as if nothing had been
    def = def_of("pcall(string.rep, 'x', 1 << 40)\n" START);
    CHECK_OK(rp_scene_load(&def, &scene));
    rp_scene_free(scene);
    def = def_of("\n\nwhile true do pcall(function() while true do end end) end");
    def.load_seconds = 0.1;
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_ARGUMENT,
                "test.lua:3: want an end within 0.1 s, got none");
    def = def_of("scene { dx = 1, frames = 1,\ngravity = function(t)\nwhile true do end end }");
    def.call_seconds = 0.1;
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_ARGUMENT,
                "test.lua:3: gravity of the scene at t = 0 s: want an end within 0.1 s");
    for (size_t memory = 1; memory < 100000; memory += 997) {
        def = def_of(START SAND);
        def.memory = memory;
        if (rp_scene_load(&def, &scene) == RP_OK) {
            rp_scene_free(scene);
            break;
        }
        CHECK(rp_last_error()[0] != '\0');
    }
    char *long_text = calloc(1, 5 << 20);
    memset(long_text, ' ', (5 << 20) - 1);
    def = def_of(long_text);
    CHECK_ERROR(rp_scene_load(&def, &scene), RP_ERR_ARGUMENT, "want a script of at most 4 MiB");
    free(long_text);
}

static int work_nap_work(lua_State *L)
{
    const struct timespec nap = {.tv_nsec = 300000000};
    for (int i = 0; i < 2; i++) {
        if (luaL_dostring(L, "for i = 1, 5000 do end")) {
            return lua_error(L);
        }
        if (i == 0) {
            nanosleep(&nap, NULL);
        }
    }
    return 0;
}

// Ctrl-Z and fg are a nap of the process: with the clock on the wall it ended the run.
static void a_nap_costs_a_script_no_time(void)
{
    sandbox s;
    CHECK_OK(rp_sandbox_open(&s, "test.lua", (size_t)8 << 20));
    CHECK_OK(rp_sandbox_run(&s, work_nap_work, NULL, 0.1));
    rp_sandbox_close(&s);
}

// The script checks itself; an assertion that fails is the message.
static void scripts_mean_the_same_every_time(void)
{
    const char *text = START
        "local keys = {}\n"
        "for k, v in pairs { z = 1, [2] = 1, [1.5] = 1, a = 1, [true] = 1, [-1] = 1, [1] = 1 } do\n"
        "    keys[#keys + 1] = tostring(k)\n"
        "end\n"
        "assert(table.concat(keys, ' ') == '-1 1 1.5 2 a z true')\n"
        "local t, k, n = { x = 1, y = 2, z = 3 }, nil, 0\n"
        "repeat k = next(t, k) n = n + 1 until k == nil\n"
        "assert(n == 4 and next({}) == nil and next(t) == 'x')\n"
        "for k in pairs(t) do t[k] = nil end\n"
        "assert(next(t) == nil)\n"
        "assert(not pcall(pairs, { [{}] = 1 }) and not pcall(next, { [print] = 1 }))\n"
        "local words = { 'b1', 'a1', 'b2', 'a2', 'a3' }\n"
        "table.sort(words, function(x, y) return x:sub(1, 1) < y:sub(1, 1) end)\n"
        "assert(table.concat(words, ' ') == 'a1 a2 a3 b1 b2')\n"
        "local numbers = {}\n"
        "for i = 1, 1000 do numbers[i] = i * 7919 % 1000 end\n"
        "table.sort(numbers)\n"
        "for i = 1, 1000 do assert(numbers[i] == i - 1) end\n"
        "assert(tostring({}) == 'table' and tostring(print) == 'function')\n"
        "assert(tostring(1) == '1' and tostring(1.5) == '1.5' and tostring(nil) == 'nil')\n"
        "assert(tostring(setmetatable({}, { __tostring = function() return 'me' end })) == 'me')\n"
        "assert(string.format('%s %5.2f %d%% %q', {}, 1, 3, 'x') == 'table  1.00 3% \"x\"')\n"
        "assert(not pcall(string.format, '%p', {}))\n"
        "assert(('ab'):rep(3, '-') == 'ab-ab-ab' and (''):rep(9) == '')\n"
        "assert(table.unpack({ 1, 2, 3 }, 2) == 2 and #table.pack(1, 2) == 2)\n"
        "assert(not pcall(math.randomseed, 1))\n"
        "for i = 1, 1000 do\n"
        "    local x, n, m = math.random(), math.random(6), math.random(-2, 2)\n"
        "    assert(x >= 0 and x < 1 and n >= 1 and n <= 6 and m >= -2 and m <= 2)\n"
        "end\n"
        "assert(not pcall(math.random, 0) and not pcall(math.random, 2, 1))\n"
        "math.random(math.mininteger, math.maxinteger)\n"
        "local s = sphere { center = {0,0,0}, radius = 1 }\n"
        "assert(tostring(s) == 'shape' and getmetatable(s) == false and type(s) == 'userdata')\n"
        "collider { shape = s }\n";
    CHECK_OK(load(text));
}

static void random_numbers_follow_the_seed(void)
{
    double drawn[3];
    static const char *const seeds[] = {"1", "1", "2"};
    for (int i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "scene { dx = 1, frames = 1, seed = %s }\n"
                 "camera { eye = {math.random(), 1, 1}, look_at = {0, 0, 0} }",
                 seeds[i]);
        rp_scene *scene = scene_of(text);
        rp_scene_info info;
        rp_scene_get_info(scene, &info);
        drawn[i] = info.eye[0];
        rp_scene_free(scene);
    }
    CHECK_NEAR(drawn[1], drawn[0], 0.0);
    CHECK(drawn[2] != drawn[0]);
}

// A host that writes 0,5 for a half must not change what a script means.
static void the_locale_of_the_host_does_not_matter(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < COUNT_OF(names) && setlocale(LC_ALL, names[i]) == NULL; i++) {
    }
    const char *text = "assert(tostring(0.5) == '0.5' and tonumber('0.5') == 0.5)\n"
                       "local x = param('x', 1)\n"
                       "assert(x == 2.5)\n" START SAND;
    const rp_result result = load_set(text, "x", "2.5");
    const rp_result range = load("scene { dx = -0.5, frames = 1 }");
    setlocale(LC_ALL, "C");
    CHECK_OK(result);
    CHECK_ERROR(range, RP_ERR_ARGUMENT, "got -0.5");
}

// Windows editors begin files with a mark, and end lines with two characters.
static void text_from_any_editor_is_read(void)
{
    CHECK_OK(load("\xef\xbb\xbfscene { dx = 1,\r\n frames = 1 }\r\n"));
}

TEST_MAIN(TEST(no_script_runs_for_ever_or_gets_out), TEST(limits_say_what_they_are),
          TEST(a_nap_costs_a_script_no_time), TEST(scripts_mean_the_same_every_time),
          TEST(random_numbers_follow_the_seed), TEST(the_locale_of_the_host_does_not_matter),
          TEST(text_from_any_editor_is_read))
