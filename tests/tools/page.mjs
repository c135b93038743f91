// What somebody at the page of `repose view` sees and does, in a real browser: see test_page.py.
//
//     node page.mjs REPOSE PLAYWRIGHT CHROMIUM [--shots DIR] [--only PART]
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import assert from "node:assert/strict";

const [repose, playwright, chromium, ...more] = process.argv.slice(2);
const option = name => (more.includes(name) ? more[more.indexOf(name) + 1] : null);
const shots = option("--shots") && path.resolve(option("--shots")), only = option("--only"); // before the folder changes
const measured = option("--measure") && path.resolve(option("--measure"));
const require = createRequire(path.resolve(playwright) + "/");
const browser = await require("playwright-core").chromium.launch({
  executablePath: chromium,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

// some thousand grains, a floor, and a paddle that turns
const HEAP = (frames, more = "") => `
scene { title = "A heap", dx = 0.03, fps = 24, frames = ${frames} ${more} }
local soil = param("soil", {"dry", "damp"})
local sand = material.sand { friction_angle = param("angle", 35, "degrees"), cohesion = soil == "damp" and 50 or 0 }
particles { material = sand, shape = box { min = {-0.15, 0.02, -0.15}, max = {0.15, 0.32, 0.15} } }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
collider { name = "paddle", shape = box { min = {0.25, 0, -0.1}, max = {0.31, 0.2, 0.1} }, spin = { axis = {0, 1, 0}, rate = 90 } }
`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "repose-page-"));
process.chdir(folder);
const servers = [];

async function view(...words) {
  const server = spawn(repose, ["view", ...words, ...(words.includes("--port") ? [] : ["--port", "0"])], { stdio: ["ignore", "pipe", "pipe"] });
  servers.push(server);
  server.said = "";
  server.stderr.on("data", d => { server.said += d; });
  server.done = new Promise(resolve => server.on("exit", (code, signal) => resolve(code ?? signal)));
  server.address = await new Promise((resolve, reject) => {
    server.stdout.once("data", d => resolve(String(d).trim()));
    server.done.then(code => reject(new Error(`repose view ended with ${code}: ${server.said}`)));
  });
  return server;
}

async function end(server, status = 0) {
  server.kill("SIGINT");
  assert.equal(await server.done, status, server.said);
}

// A page whose errors and requests are noted.
async function open(address, size = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport: size });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(address).origin });
  const page = await context.newPage();
  page.wrong = [];
  page.on("pageerror", error => page.wrong.push(error.message));
  page.on("console", m => {
    const bad = m.type() === "error" ? !/WebSocket|ERR_CONNECTION|503|403/.test(m.text()) : /WebGL: INVALID/.test(m.text());
    if (bad) page.wrong.push(m.text());
  });
  page.on("request", r => { if (new URL(r.url()).host !== new URL(address).host && !r.url().startsWith("data:")) page.wrong.push(`asked for ${r.url()}`); });
  await page.goto(address);
  return page;
}

// Playwright's own waiting evaluates strings in the page, which the page forbids; asking again and again does not.
async function until(page, what, about = null, { timeout = 30000 } = {}) {
  for (const late = Date.now() + timeout; ; ) {
    try { if (await page.evaluate(what, about)) return; } catch (error) { if (!/context|navigat/i.test(error.message)) throw error; }
    if (Date.now() > late) throw new Error(`waited in vain for ${what} ${about ?? ""}; the page says: ${await page.textContent("#words")}`);
    await new Promise(done => setTimeout(done, 40));
  }
}
const shown = (page, frame) => until(page, n => window.repose?.state.shown && (n === null || repose.state.shown.frame === n), frame ?? null, { timeout: 30000 });
const words = (page, text) => until(page, t => document.getElementById("words").textContent.includes(t), text, { timeout: 60000 });
const settle = page => page.evaluate(() => new Promise(done => {
  // until nothing is being asked for, and what is there was drawn in full
  const look = () => (repose.state.open <= 0 && !repose.stage.dirty && !repose.stage.glide && repose.stage.drawn_level === 0 ? done() : setTimeout(look, 30));
  setTimeout(look, 350);
}));

// How much of the picture is sand, and what it looks like: draws once more, and reads the pixels in the same breath.
const look = page => page.evaluate(() => {
  const s = repose.stage, gl = s.gl, w = s.canvas.width, h = s.canvas.height, bytes = new Uint8Array(4 * w * h);
  s.draw(0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  const small = new Array(3 * 24 * 16).fill(0); // coarse, to compare by
  let grains = 0, hash = 0, blue = 0, yellow = 0;
  for (let i = 0; i < bytes.length; i += 4) {
    const [r, g, b] = [bytes[i], bytes[i + 1], bytes[i + 2]];
    if (Math.max(r, g, b) - Math.min(r, g, b) > 24) grains++;
    if (b > r + 24) blue++;
    if (r > b + 24) yellow++;
    const at = 3 * (24 * Math.floor(16 * Math.floor(i / 4 / w) / h) + Math.floor(24 * (i / 4 % w) / w));
    for (let k = 0; k < 3; k++) small[at + k] += bytes[i + k] * 384 / (w * h);
    hash = (Math.imul(hash, 31) + r * 65536 + g * 256 + b) | 0;
  }
  return { grains, hash, blue, yellow, small, all: w * h };
});
// The largest difference of two pictures, 0 to 255. Depth, and with it shade, changes a little with what was seen so far.
const differ = (a, b) => Math.max(...a.small.map((v, i) => Math.abs(v - b.small[i])));

// Where every particle of the frame is in the window, from the codes that came for it: how many are in the part that neither
// the panel nor the footer covers, and in the picture that `repose render` would take.
const watch_places = page => page.evaluate(() => {
  const s = repose.stage, take = s.take;
  s.take = function(waiting, message, about, comps, data, offset) {
    if (comps === 3) {
      if (about.codes === "all") s.codes = new Uint16Array(data.slice(offset, offset + 6 * message.count));
      let used = offset;
      for (const block of about.codes === "blocks" ? about.blocks : []) {
        const first = 3 * block * message.block, size = Math.min(3 * message.block, 3 * message.count - first);
        s.codes.set(new Uint16Array(data.slice(used, used + 2 * size)), first);
        used += 2 * size;
      }
    }
    return take.call(s, waiting, message, about, comps, data, offset);
  };
});
const places = page => page.evaluate(() => {
  const s = repose.stage, { origin, unit } = s.frame.places, box = id => document.getElementById(id).getBoundingClientRect();
  const right = box("panel").left || innerWidth, bottom = box("transport").top, picture = box("marks");
  let free = 0, inside = 0, low = [1e9, 1e9], high = [-1e9, -1e9];
  for (let i = 0; i < s.frame.count; i++) {
    const at = s.project([0, 1, 2].map(k => origin[k] + unit[k] * s.codes[3 * i + k]));
    if (!at) continue;
    if (at[0] > 0 && at[0] < right && at[1] > 0 && at[1] < bottom) free++;
    if (at[0] > picture.left && at[0] < picture.right && at[1] > picture.top && at[1] < picture.bottom) inside++;
    low = low.map((v, k) => Math.min(v, at[k]));
    high = high.map((v, k) => Math.max(v, at[k]));
  }
  return { count: s.frame.count, free, inside, wide: high[0] - low[0], high: high[1] - low[1], picture: [picture.width, picture.height], right, bottom };
});

// A picture file, decoded by the browser: the colours of `across` times `down` parts of it, and which of them are sand.
async function decode(file, across, down) {
  const page = await (await browser.newContext()).newPage(), bytes = fs.readFileSync(file).toString("base64");
  const out = await page.evaluate(async ([bytes, across, down]) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${bytes}`)).blob());
    const canvas = new OffscreenCanvas(across, down), draw = canvas.getContext("2d");
    draw.imageSmoothingQuality = "high";
    draw.drawImage(image, 0, 0, across, down);
    return [...draw.getImageData(0, 0, across, down).data];
  }, [bytes, across, down]);
  await page.context().close();
  return out;
}
const is_sand = (rgba, i) => rgba[4 * i] - rgba[4 * i + 2] > 35;
// How much of the sand in either is sand in both.
function overlap(a, b) {
  let both = 0, any = 0;
  for (let i = 0; i < a.length / 4; i++) { both += is_sand(a, i) && is_sand(b, i); any += is_sand(a, i) || is_sand(b, i); }
  return both / any;
}
const unlike = (a, b) => a.reduce((sum, v, i) => sum + Math.abs(v - b[i]), 0) / a.length;

// Lost, and given back: not before the page has been told of the loss.
const lose_context = page => page.evaluate(() => new Promise(done => {
  const loss = repose.stage.gl.getExtension("WEBGL_lose_context");
  repose.stage.canvas.addEventListener("webglcontextlost", () => setTimeout(() => { loss.restoreContext(); done(); }, 50), { once: true });
  loss.loseContext();
}));

async function shot(page, name) {
  if (shots) { fs.mkdirSync(shots, { recursive: true }); await page.screenshot({ path: path.join(shots, `${name}.png`) }); }
}

fs.writeFileSync("heap.lua", HEAP(12));
if (!measured) assert.equal(spawnSync(repose, ["run", "heap.lua", "-o", "out", "--quiet"]).status, 0);

const parts = {
  async "it shows particles, frames and colours"() {
    const server = await view("out"), page = await open(server.address);
    await shown(page, 0);
    await settle(page);
    await words(page, "run finished · 12 frames");
    const first = await look(page);
    assert.ok(first.grains > 0.02 * first.all && first.grains < 0.6 * first.all, `sand on ${first.grains} of ${first.all} pixels`);
    assert.ok(first.yellow > 0.5 * first.grains, "sand is amber");
    await shot(page, "first");

    // scrub: by keys, by the slider, to the ends
    await page.keyboard.press("ArrowRight");
    await shown(page, 1);
    await page.keyboard.press("End");
    await shown(page, 12);
    await settle(page);
    assert.match(await page.textContent("#where"), /frame 12 of 12 · 0\.500 s/);
    const last = await look(page);
    assert.notEqual(last.hash, first.hash);
    await page.locator("#scrub").fill("5");
    await shown(page, 5);
    await page.keyboard.press("Home");
    await shown(page, 0);
    await settle(page);
    assert.ok(differ(await look(page), first) < 4, "the same frame gives the same picture");
    assert.ok(differ(last, first) > 10, "another frame gives another");

    // colour by every column there is
    await page.keyboard.press("End");
    await shown(page, 12);
    await page.selectOption("#color", "height");
    await until(page, () => repose.state.shown.colors.name === "height");
    await settle(page);
    const height = await look(page);
    assert.ok(height.blue > 0.05 * height.grains, "low grains are blue or violet");
    assert.ok(await page.isVisible("#legend"));
    assert.match(await page.textContent("#legend-name"), /height.*\[m\]/);
    await shot(page, "height");
    const names = await page.$$eval("#color option", list => list.map(o => o.value));
    assert.ok(names.includes("velocity.y") && names.includes("pressure") && names.includes("strain.3"), names.join());
    for (const name of names) {
      await page.selectOption("#color", name);
      await until(page, n => repose.state.shown.colors.name === n, name);
    }
    assert.ok(await page.isHidden("#note"));
    await page.selectOption("#color", "case");
    await settle(page);
    assert.match(await page.textContent("#legend-classes"), /inside the cone/);
    await shot(page, "case");
    await page.selectOption("#color", "speed");
    await until(page, () => repose.state.shown.colors.name === "speed");
    await page.fill("#high", "100");
    await page.keyboard.press("Enter");
    await page.locator("#high").blur();
    await settle(page);
    assert.match(await page.textContent("#legend-ticks"), /100/);
    for (const wrong of ["-5", "", "x"]) {
      await page.fill("#high", wrong);
      await page.locator("#high").blur();
      await until(page, () => document.getElementById("high").value === "100");
      assert.match(await page.textContent("#note"), /two numbers/, `a range that ends with "${wrong}"`);
    }
    // both ends, one after the other
    await page.fill("#low", "200");
    await page.fill("#high", "300");
    await page.locator("#high").blur();
    await until(page, () => repose.stage.range[0] === 200 && repose.stage.range[1] === 300);
    await page.click("#auto");
    assert.ok(await page.evaluate(() => repose.stage.range[1] < 100));
    await page.locator("#stage").focus();
    await page.keyboard.press("C");
    await until(page, () => repose.state.shown.colors.name === "grains");

    // play to the end
    await page.keyboard.press("Home");
    await shown(page, 0);
    await page.keyboard.press(" ");
    await until(page, () => repose.state.playing);
    await until(page, () => !repose.state.playing && repose.state.shown.frame === 12, null, { timeout: 30000 });
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "the camera, slices, colliders and single particles"() {
    const server = await view("out"), page = await open(server.address);
    await shown(page, 0);
    await settle(page);
    const front = await look(page);
    await page.mouse.move(400, 300);
    await page.mouse.down();
    await page.mouse.move(520, 340, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    const turned = await look(page);
    assert.notEqual(turned.hash, front.hash);
    await page.mouse.wheel(0, 600);
    await settle(page);
    const far = await look(page);
    assert.ok(far.grains < 0.8 * turned.grains, "further away is smaller");
    for (const key of ["a", "w", "Shift+D", "-"]) {
      const before = await look(page);
      await page.keyboard.press(key);
      await settle(page);
      assert.notEqual((await look(page)).hash, before.hash, `${key} moves the camera`);
    }
    await page.keyboard.press("f");
    await settle(page);
    const fitted = await look(page);
    await page.keyboard.down("Shift");
    await page.mouse.move(400, 300);
    await page.mouse.down();
    await page.mouse.move(440, 330, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await settle(page);
    assert.notEqual((await look(page)).hash, fitted.hash);
    await page.keyboard.press("r");

    await page.keyboard.press("o");
    await settle(page);
    const bare = await look(page);
    await page.keyboard.press("o");
    await settle(page);
    assert.notEqual((await look(page)).hash, bare.hash, "colliders are seen");

    await page.selectOption("#slice-axis", "y");
    await settle(page);
    const half = await look(page);
    assert.ok(half.grains < 0.85 * bare.grains && half.grains > 0.1 * bare.grains, `${half.grains} of ${bare.grains}`);
    await shot(page, "slice");
    await page.click("#slice-flip");
    await settle(page);
    assert.notEqual((await look(page)).hash, half.hash);
    await page.selectOption("#slice-axis", "");

    // a particle in the middle of the heap, and where it is in the next frame
    const middle = await page.evaluate(() => repose.stage.project([0, 0.17, 0.15]));
    await page.mouse.click(middle[0], middle[1]);
    await page.waitForSelector("#particle:not([hidden])");
    await settle(page);
    const id = await page.evaluate(() => repose.state.id), place = await page.evaluate(() => repose.stage.marked);
    assert.ok(Number.isInteger(id) && Math.abs(place[1] - 0.17) < 0.06, `${id} at ${place}`);
    assert.match(await page.textContent("#particle-state"), /velocity/);
    assert.match(await page.textContent("#particle-state"), /stress, Pa/);
    assert.match(await page.textContent("#particle-state"), /pressure/);
    await page.selectOption("#color", "case");
    await until(page, () => /yield case(I|II|III) /.test(document.getElementById("particle-state").textContent));
    await page.selectOption("#color", "grains");
    await until(page, () => !/yield case/.test(document.getElementById("particle-state").textContent));
    const exact = await page.getAttribute("#particle-state dd:nth-of-type(2)", "title");
    assert.deepEqual(exact.split(", ").map(Number), place, "all digits of the place");
    assert.ok(await page.isVisible("#ring"));
    await shot(page, "particle");
    await page.keyboard.press("End");
    await shown(page, 12);
    await until(page, y => repose.stage.marked && repose.stage.marked[1] < y - 0.005, place[1]);
    assert.equal(await page.evaluate(() => repose.state.id), id);
    // played through, it is the state of the last frame that is read
    await page.keyboard.press("Home");
    await until(page, y => repose.stage.marked && Math.abs(repose.stage.marked[1] - y) < 1e-9, place[1]);
    await page.keyboard.press(" ");
    await until(page, () => repose.state.playing && document.getElementById("ring").hidden);
    await until(page, () => !repose.state.playing && repose.state.shown.frame === 12);
    await until(page, y => repose.stage.marked && repose.stage.marked[1] < y - 0.005, place[1]);
    await page.keyboard.press("Escape");
    assert.ok(await page.isHidden("#particle"));

    // curves: there, not empty, and a click leads to that frame
    assert.ok((await page.$$("#plots canvas")).length >= 5);
    const ink = await page.$$eval("#plots canvas", list => list.map(c => {
      const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      let n = 0;
      for (let i = 0; i < d.length; i += 4) n += d[i + 3] > 128 && Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 24;
      return n;
    }));
    assert.ok(ink.every(n => n > 40), ink.join());
    assert.match(await page.textContent("#plots"), /Energy.*kinetic.*Momentum.*Step.*held back by.*Seconds per frame/s);
    const box = await page.locator("#plots canvas").first().boundingBox();
    await page.mouse.click(box.x + 0.5 * box.width, box.y + 20);
    await shown(page, 6);

    await page.keyboard.press("?");
    assert.ok(await page.isVisible("#help"));
    await shot(page, "help");
    await page.keyboard.press("Escape");
    await page.keyboard.press("p");
    assert.ok(await page.isHidden("#panel"));
    await settle(page);
    await shot(page, "bare");
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "a reload in the middle, a killed server and its return"() {
    let server = await view("out");
    const page = await open(server.address), port = new URL(server.address).port;
    await shown(page, 0);
    await page.locator("#scrub").fill("7");
    await shown(page, 7);
    await page.selectOption("#color", "speed");
    await page.mouse.move(400, 300);
    await page.mouse.down();
    await page.mouse.move(470, 300, { steps: 3 });
    await page.mouse.up();
    await until(page, () => repose.state.shown.colors.name === "speed");
    await settle(page);
    const before = await look(page);
    await shot(page, "before-reload");
    await page.reload();
    await shown(page, 7);
    await until(page, () => repose.state.shown.colors.name === "speed");
    await settle(page);
    const after = await look(page);
    await shot(page, "reload");
    assert.ok(differ(after, before) < 4, `after a reload all is as it was: ${differ(after, before)}`);
    server.kill("SIGKILL");
    await server.done;
    await words(page, "connection lost");
    assert.equal(await page.evaluate(() => document.body.dataset.state), "lost");
    assert.ok(differ(await look(page), before) < 4, "what was there stays");
    await shot(page, "lost");
    server = await view("out", "--port", port);
    await words(page, "run finished");
    await page.keyboard.press("End");
    await shown(page, 12);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "a live run: watched, paused, resumed, stopped, started again"() {
    fs.writeFileSync("live.lua", HEAP(150));
    const server = await view("live.lua", "--threads", "1"), page = await open(server.address);
    await words(page, "running");
    await until(page, () => repose.state.shown?.frame >= 2, null, { timeout: 60000 });
    assert.ok(await page.evaluate(() => repose.state.live), "the newest frame is followed");
    await words(page, "left");
    await shot(page, "live");
    await page.click("#pause");
    await words(page, "run paused");
    await settle(page);
    const still = await page.evaluate(() => repose.state.status.last);
    await page.waitForTimeout(1200);
    assert.equal(await page.evaluate(() => repose.state.status.last), still);
    assert.equal(await page.textContent("#pause"), "Resume");
    await page.reload();
    await words(page, "run paused");
    await page.click("#pause");
    await words(page, "running");
    await until(page, n => repose.state.status.last > n + 1, still, { timeout: 60000 });
    await page.click("#stop");
    await words(page, "run stopped");
    await page.click("#go-on");
    await words(page, "running");
    await page.click("#again summary");
    // what the scene refuses stops nothing and is still there to be mended
    await page.fill("#param-angle", "abc");
    await page.click("#start");
    await until(page, () => /want a finite number/.test(document.getElementById("note").textContent));
    await words(page, "running");
    assert.equal(await page.inputValue("#param-angle"), "abc");
    await page.fill("#param-angle", "20");
    await page.selectOption("#param-soil", "damp");
    await shot(page, "params");
    await page.click("#start");
    await until(page, () => repose.state.scene.folder === "live-out-2", null, { timeout: 60000 });
    await words(page, "running");
    assert.equal(await page.inputValue("#param-angle"), "20");
    assert.equal(await page.inputValue("#param-soil"), "damp");
    await until(page, () => repose.state.shown?.frame >= 2, null, { timeout: 60000 });
    // in the place of the present one
    const first = await page.evaluate(() => repose.state.generation);
    await page.fill("#param-angle", "25");
    await page.uncheck("#keep");
    page.once("dialog", dialog => dialog.accept());
    await page.click("#start");
    await until(page, n => repose.state.generation !== n && repose.state.scene.generation === repose.state.generation, first, { timeout: 60000 });
    await until(page, () => repose.state.shown?.generation === repose.state.generation, null, { timeout: 60000 });
    assert.equal(await page.evaluate(() => repose.state.scene.folder), "live-out-2");
    assert.equal(await page.inputValue("#param-angle"), "25");
    await page.click("#stop");
    await words(page, "run stopped");
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "a run that fails, a folder that vanishes: said on the page and in the exit code"() {
    fs.writeFileSync("doomed.lua", HEAP(20, ", gravity = function(t) return 0, t < 0.1 and -9.81 or -1e30, 0 end"));
    const server = await view("doomed.lua"), page = await open(server.address);
    await words(page, "run failed");
    assert.match(await page.textContent("#why"), /particle/);
    await until(page, () => repose.state.shown);
    await settle(page);
    await shot(page, "failed");
    await page.context().close();
    await end(server, 3);
    fs.cpSync("out", "copy", { recursive: true });
    const other = await view("copy"), second = await open(other.address);
    await shown(second, 0);
    fs.rmSync("copy", { recursive: true });
    await words(second, "the folder has vanished");
    assert.match(await second.textContent("#why"), /not there any more/);
    assert.deepEqual(second.wrong, []);
    await second.context().close();
    await end(other, 4);
  },

  async "a start that comes to nothing: the run before is shown again"() {
    fs.writeFileSync("fine.lua", HEAP(3).replace("dx = 0.03", 'dx = param("dx", 0.03)'));
    const server = await view("fine.lua"), page = await open(server.address);
    await words(page, "run finished");
    await page.keyboard.press("Home");
    await shown(page, 0);
    await settle(page);
    const before = await look(page);
    assert.equal(await page.textContent("#folder"), "fine-out");
    await page.click("#again summary");
    await page.fill("#param-dx", "1e-7");
    await page.click("#start");
    await until(page, () => /could not be started again: .*GB/.test(document.getElementById("why").textContent));
    assert.equal(await page.textContent("#folder"), "fine-out");
    await shown(page);
    await page.keyboard.press("Home");
    await shown(page, 0);
    await settle(page);
    const again = await look(page);
    assert.ok(again.grains > 0.8 * before.grains, `sand on ${again.grains} pixels, before on ${before.grains}`);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "a missing frame, a lost graphics context"() {
    fs.cpSync("out", "holes", { recursive: true });
    fs.rmSync("holes/frames/frame.000005.hdf");
    const server = await view("holes"), page = await open(server.address);
    await shown(page, 0);
    await page.locator("#scrub").fill("4");
    await shown(page, 4);
    await page.keyboard.press("ArrowRight");
    await until(page, () => /frame 5 is not there/.test(document.getElementById("note").textContent));
    await page.keyboard.press("ArrowRight");
    await shown(page, 6);
    await page.keyboard.press("Home");
    await shown(page, 0);
    await page.keyboard.press(" ");
    await until(page, () => !repose.state.playing && repose.state.shown.frame === 12);
    await settle(page);
    const before = await look(page);
    await lose_context(page);
    await until(page, () => !repose.stage.gl.isContextLost() && repose.stage.frame?.frame === 12);
    await settle(page);
    assert.ok(differ(await look(page), before) < 4, "the picture comes back as it was");
    // the same while frames are being played
    await page.click("#loop");
    await page.locator("#stage").focus();
    await page.keyboard.press(" ");
    await until(page, () => repose.state.playing);
    await lose_context(page);
    await until(page, () => !repose.stage.gl.isContextLost() && repose.stage.frame);
    assert.equal(await page.getAttribute("#play", "aria-label"), "Play", "a lost connection ends it, and the button knows");
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "grains that flew off"() {
    fs.writeFileSync("stray.lua", HEAP(1) + "particles { material = sand, shape = box { min = {0, 300, 0}, max = {0.03, 300.03, 0.03} } }\n");
    assert.equal(spawnSync(repose, ["run", "stray.lua", "-o", "stray", "--quiet"]).status, 0);
    const server = await view("stray"), page = await open(server.address);
    await shown(page, 0);
    await settle(page);
    assert.match(await page.textContent("#where"), /\d particles far away/);
    const heap = await look(page);
    assert.ok(heap.grains > 0.02 * heap.all, `the heap is still on ${heap.grains} of ${heap.all} pixels`);
    await page.evaluate(() => { repose.stage.look_from([0.015, 300.015, 0.5], [0.015, 300.015, 0.015], 0.52); });
    await settle(page);
    const few = await look(page);
    assert.ok(few.yellow > 500, `grains far away are drawn, on ${few.yellow} pixels`);
    await shot(page, "stray");
    const at = await page.evaluate(() => repose.stage.project(repose.state.shown.strays[0].slice(1)));
    await page.mouse.click(at[0], at[1]);
    await page.waitForSelector("#particle:not([hidden])");
    assert.ok(await page.evaluate(() => Math.abs(repose.stage.marked[1] - 300) < 0.1));
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "five scenes without a camera: the sand is in view, beside the panel, as in pictures"() {
    const floor = "collider { name = 'floor', shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n";
    const scenes = {
      column: `scene { dx = 0.05, fps = 24, frames = 18 }
particles { material = material.sand {}, shape = box { min = {-0.2, 0, -0.2}, max = {0.2, 1.2, 0.2} } }\n` + floor,
      // far from the origin, and small
      spread: `scene { dx = 0.002, fps = 100, frames = 20 }
particles { material = material.sand { friction_angle = 25 }, shape = box { min = {50, 0, -30}, max = {50.012, 0.03, -29.988} } }\n` + floor,
      slice: `scene { dimension = 2, dx = 0.02, fps = 24, frames = 24 }
particles { material = material.sand {}, shape = box { min = {0, 0.6}, max = {0.3, 1} } }
collider { shape = box { min = {-0.2, 0.4}, max = {0.15, 0.5} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }\n`,
      poured: `scene { dx = 0.02, fps = 24, frames = 30 }
emitter { material = material.sand {}, shape = cylinder { base = {0, 0.58, 0}, radius = 0.05, height = 0.04 }, velocity = {0, -0.5, 0} }
particles { material = material.sand {}, shape = box { min = {0.16, 0, -0.04}, max = {0.24, 0.08, 0.04} } }
collider { name = "table", shape = cylinder { base = {0, 0.1, 0}, radius = 0.12, height = 0.08 } }\n` + floor,
      upright: `scene { up = "z", dx = 0.04, fps = 24, frames = 18 }
particles { material = material.sand {}, shape = cylinder { base = {1, 2, 0.3}, radius = 0.2, height = 0.3 } }
collider { name = "sledge", shape = box { min = {0.6, 1.6, 0}, max = {1.4, 2.4, 0.1} }, velocity = {0.8, 0, 0} }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 0, 1} } }\n`,
    };
    for (const [name, text] of Object.entries(scenes)) {
      fs.writeFileSync(`${name}.lua`, text);
      const ran = spawnSync(repose, ["run", `${name}.lua`, "-o", name, "--quiet"], { encoding: "utf8" });
      assert.equal(ran.status, 0, ran.stderr);
      const server = await view(name);
      for (const [width, height] of [[1280, 800], [1920, 1080], [800, 600]]) {
        const page = await open(server.address, { width, height }), about = `${name} at ${width} x ${height}`;
        await shown(page, 0);
        await watch_places(page);
        for (const key of ["End", "Home"]) {
          await page.keyboard.press(key);
          await until(page, k => k === "Home" ? repose.state.shown.frame === 0 : repose.state.shown.frame === repose.state.status.last, key);
          await settle(page);
          await shot(page, `view-${name}-${width}-${key === "Home" ? "first" : "last"}`);
          const p = await places(page), said = `${about}, ${key}: ${JSON.stringify(p)}`;
          assert.ok(p.count > 0, said);
          // a few in a thousand may be stray
          assert.ok(p.free >= 0.997 * p.count && p.inside >= 0.99 * p.count, said);
          assert.ok(p.right - p.picture[0] < 60 || p.bottom - p.picture[1] < 60, `the picture takes what room there is: ${said}`);
          // the largest frame fills the view: neither far away nor cut off
          if (key === "End") assert.ok(p.wide > 0.25 * p.picture[0] || p.high > 0.25 * p.picture[1], said);
        }
        // the colours' range is that of the whole run in every frame
        await page.selectOption("#color", "speed");
        await until(page, () => repose.state.shown.colors.name === "speed");
        const ranges = [];
        for (const frame of ["0", "5", "11"]) {
          await page.locator("#scrub").fill(frame);
          await shown(page, Number(frame));
          ranges.push(await page.evaluate(() => repose.stage.range.join()));
        }
        assert.equal(new Set(ranges).size, 1, `${about}: ${ranges.join("; ")}`);
        assert.deepEqual(page.wrong, []);
        await page.context().close();
      }
      await end(server);
    }
  },

  async "a live run: the view follows what happens, until somebody moves it"() {
    fs.writeFileSync("thrown.lua", `scene { dx = 0.03, fps = 24, frames = 40 }
particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.4, 0.4, 0.4} }, velocity = {3, 4, 0} }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
`);
    const server = await view("thrown.lua"), page = await open(server.address);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await until(page, () => window.repose?.stage);
    await watch_places(page);
    await until(page, () => repose.state.shown && repose.stage.codes, null, { timeout: 60000 });
    const first = await page.evaluate(() => repose.stage.camera.distance);
    await words(page, "run finished");
    await until(page, () => repose.state.view.last === 40 && repose.state.shown.frame === 40);
    await settle(page);
    const p = await places(page);
    assert.ok(p.inside >= 0.99 * p.count, JSON.stringify(p));
    assert.ok(await page.evaluate(() => repose.stage.camera.distance) > 1.3 * first, "farther away than at first, for it flew far");
    await shot(page, "followed");
    // the same run again, and somebody moves the camera while it goes on
    page.once("dialog", dialog => dialog.accept());
    await page.click("#again summary");
    await page.uncheck("#keep");
    await page.keyboard.press("d");
    const mine = await page.evaluate(() => JSON.stringify(repose.stage.camera));
    await page.click("#start");
    await words(page, "running");
    await words(page, "run finished");
    await until(page, () => repose.state.view.last === 40);
    assert.equal(await page.evaluate(() => JSON.stringify(repose.stage.camera)), mine);
    await page.locator("#stage").focus();
    await page.keyboard.press("r");
    await settle(page);
    assert.notEqual(await page.evaluate(() => JSON.stringify(repose.stage.camera)), mine);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },

  async "the camera is copied, and repose render takes the same picture"() {
    const picture = (run, file, ...args) => {
      const made = spawnSync(repose, ["render", run, "-o", file, "--preview", "--size", "640x360", "--frame", "0", ...args], { encoding: "utf8" });
      assert.equal(made.status, 0, made.stderr);
    };
    fs.writeFileSync("flat-copy.lua", 'scene { dimension = 2, dx = 0.01, frames = 2 }\n' +
      "particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.3, 0.2} } }\n" +
      "collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }\n");
    assert.equal(spawnSync(repose, ["run", "flat-copy.lua", "-o", "flat-copy", "--quiet"]).status, 0);
    for (const [run, scene] of [["out", "heap.lua"], ["flat-copy", "flat-copy.lua"]]) {
      const server = await view(run), page = await open(server.address);
      await shown(page, 0);
      for (const turned of [false, true]) {
        if (turned) {
          await page.evaluate(flat => { const s = repose.stage; if (!flat) s.turn(140, 60); s.move(-40, 30); s.zoom(1.3, 300, 300); }, run !== "out");
        }
        await page.evaluate(() => { if (document.getElementById("outlines").checked) document.getElementById("outlines").click(); });
        await settle(page);
        const about = `${run}${turned ? ", moved by hand" : ""}`, clip = await page.evaluate(() => {
          const { left, top, width, height } = document.getElementById("marks").getBoundingClientRect();
          return { x: left, y: top, width, height };
        });
        await page.click("#copy-camera");
        const args = (await page.evaluate(() => navigator.clipboard.readText())).split(" ");
        assert.equal(args[0], "--camera");
        await page.click("#copy-scene");
        const block = await page.evaluate(() => navigator.clipboard.readText());
        assert.match(block, /^camera \{ eye = /);
        await page.evaluate(() => { document.getElementById("note").hidden = true; document.getElementById("marks").style.visibility = "hidden"; });
        await page.screenshot({ path: "page.png", clip });
        await page.evaluate(() => { document.getElementById("marks").style.visibility = ""; });
        picture(run, "copied.png", ...args);
        if (shots) { fs.copyFileSync("copied.png", path.join(shots, `copied-${run}${turned ? "-moved" : ""}.png`)); fs.copyFileSync("page.png", path.join(shots, `copied-${run}${turned ? "-moved" : ""}-page.png`)); }
        const copied = await decode("copied.png", 320, 180), seen = await decode("page.png", 320, 180);
        assert.ok(overlap(copied, seen) > 0.9, `${about}: sand in both on ${overlap(copied, seen)} of what is sand in one of them`);
        if (!turned) {
          picture(run, "own.png");
          const apart = unlike(copied, await decode("own.png", 320, 180));
          assert.ok(apart < 0.5, `${about}: ${apart} of 255 from what render chooses`);
          continue;
        }
        fs.writeFileSync("with-camera.lua", fs.readFileSync(scene, "utf8") + block + "\n");
        assert.equal(spawnSync(repose, ["run", "with-camera.lua", "-o", "with-camera", "--overwrite", "--quiet"]).status, 0);
        picture("with-camera", "scene.png");
        const other = unlike(copied, await decode("scene.png", 320, 180));
        assert.ok(other < 0.5, `${about}: ${other} of 255 from the scene with the copied camera`);
      }
      assert.deepEqual(page.wrong, []);
      await page.context().close();
      await end(server);
    }
  },

  async "with a token, which leaves the address at once"() {
    const server = await view("out", "--token"), page = await open(server.address);
    await shown(page, 0);
    assert.equal(new URL(page.url()).search, "");
    await page.reload();
    await shown(page, 0);
    assert.deepEqual(page.wrong, []);
    const stranger = await open(new URL("/", server.address).href);
    assert.equal(await stranger.evaluate(() => typeof window.repose), "undefined");
    await stranger.context().close();
    await page.context().close();
    await end(server);
  },

  async "z up: the same heap, turned, is seen as with y up"() {
    const seen = [];
    for (const up of ["y", "z"]) {
      fs.writeFileSync(`up-${up}.lua`, `
scene { title = "Up", up = "${up}", dx = 0.03, frames = 1 }
local function at(x, y, z) if "${up}" == "z" then return {x, -z, y} end return {x, y, z} end
particles { material = material.sand {}, shape = cylinder { base = at(0.1, 0.02, 0.2), radius = 0.15, height = 0.4 } }
collider { shape = half_space { point = {0, 0, 0}, normal = at(0, 1, 0) } }
camera { eye = at(1, 0.7, 1.5), look_at = at(0.1, 0.2, 0.2), fov = 30 }
`);
      assert.equal(spawnSync(repose, ["run", `up-${up}.lua`, "-o", `up-${up}`, "--quiet"]).status, 0);
      const server = await view(`up-${up}`), page = await open(server.address);
      await shown(page);
      await settle(page);
      await shot(page, `up-${up}`);
      seen.push(await page.evaluate(z => [[0, 0, 0], [0.1, 0.4, 0.2], [0.3, 0, -0.4]].map(([x, y, w]) =>
        repose.stage.project(z ? [x, -w, y] : [x, y, w])), up === "z"));
      // and after a turn by hand
      await page.evaluate(() => repose.stage.turn(100, 40));
      seen.at(-1).push(await page.evaluate(z => repose.stage.project(z ? [0.1, -0.2, 0.4] : [0.1, 0.4, 0.2]), up === "z"));
      assert.deepEqual(page.wrong, []);
      await page.context().close();
      await end(server);
    }
    seen[0].forEach((place, i) => place.forEach((x, k) => assert.ok(Math.abs(x - seen[1][i][k]) < 1, `${seen[0][i]} and ${seen[1][i]}`)));
    assert.ok(seen[0][1][1] < seen[0][0][1] - 100, "the top is above");
  },

  async "two dimensions, and a small window"() {
    fs.writeFileSync("flat.lua", 'scene { title = "Flat", dimension = 2, dx = 0.01, frames = 3 }\n' +
      'particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.3, 0.3} } }\n' +
      "collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }\n");
    assert.equal(spawnSync(repose, ["run", "flat.lua", "-o", "flat", "--quiet"]).status, 0);
    const server = await view("flat"), page = await open(server.address, { width: 900, height: 560 });
    await shown(page, 0);
    await settle(page);
    const seen = await look(page);
    assert.ok(seen.grains > 0.05 * seen.all, `${seen.grains} of ${seen.all}`);
    await shot(page, "flat");
    assert.deepEqual(page.wrong, []);
    await page.context().close();
    await end(server);
  },
};

// ---- how fast: --measure DIR plays a run and prints figures as the browser sees them ----

// A browser that is only told what to evaluate: Playwright has every frame that a socket brings encoded and sent to it too,
// which costs ten times as much as showing it.
async function quiet_browser(address) {
  const profile = path.join(folder, "profile");
  const child = spawn(chromium, ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "--window-size=1280,800", address], { stdio: ["ignore", "ignore", "pipe"] });
  const where = await new Promise((resolve, reject) => {
    let said = "";
    child.stderr.on("data", d => { said += d; const found = /ws:\/\/[^\s]+/.exec(said); if (found) resolve(new URL(found[0])); });
    child.on("exit", () => reject(new Error(said)));
  });
  let target;
  while (!target) {
    const list = await (await fetch(`http://${where.host}/json/list`)).json();
    target = list.find(t => t.type === "page" && t.url.startsWith(address));
    await new Promise(done => setTimeout(done, 100));
  }
  const { ws: Socket } = require("playwright-core/lib/utilsBundle");
  const socket = new Socket(target.webSocketDebuggerUrl, { perMessageDeflate: false });
  await new Promise(done => socket.on("open", done));
  let count = 0;
  const evaluate = (what, about) => new Promise((resolve, reject) => {
    const id = ++count;
    const take = data => {
      const m = JSON.parse(data);
      if (m.id !== id) return;
      socket.off("message", take);
      const wrong = m.error ?? m.result.exceptionDetails;
      if (wrong) reject(new Error(JSON.stringify(wrong))); else resolve(m.result.result.value);
    };
    socket.on("message", take);
    socket.send(JSON.stringify({ id, method: "Runtime.evaluate", params: { expression: `(${what})(${JSON.stringify(about ?? null)})`, awaitPromise: true, returnByValue: true } }));
  });
  return { evaluate, textContent: () => "", close: async () => { socket.close(); child.kill(); await new Promise(done => child.on("exit", done)); } };
}

// Plays it again and again for six seconds, as fast as frames come.
const play_through = color => new Promise(done => {
  const { state, stage } = repose, gaps = [], late = [], from = { came: state.came, bytes: state.bytes, draws: stage.draws };
  const began = performance.now(), click = id => document.getElementById(id).click();
  let before = began, waiting = true;
  const beat = now => { gaps.push(now - before); before = now; if (waiting) requestAnimationFrame(beat); };
  const knock = () => { const asked = performance.now(); setTimeout(() => { late.push(performance.now() - asked); if (waiting) setTimeout(knock, 20); }, 0); };
  requestAnimationFrame(beat);
  knock();
  state.speed = 1000;
  state.color = color;
  state.loop = true;
  state.playing || click("play");
  setTimeout(() => {
    waiting = false;
    const seconds = (performance.now() - began) / 1000, most = (list, share) => list.sort((a, b) => a - b)[Math.floor(share * (list.length - 1))];
    done({ particles: state.shown.particles, frames: state.came - from.came, seconds, megabytes: (state.bytes - from.bytes) / 1e6,
      pictures: stage.draws - from.draws, level: stage.level, gap: most(gaps, 0.95), late: most(late, 0.95), latest: most(late, 1) });
  }, 6000);
});

async function measure(run) {
  const server = await view(run), page = await quiet_browser(server.address);
  await shown(page);
  await settle(page);
  for (const [pass, color] of [["grains, first from files", "grains"], ["grains", "grains"], ["speed, first from files", "speed"], ["speed", "speed"]]) {
    const f = await page.evaluate(String(play_through), color);
    console.log(`${pass}: ${f.particles} particles, ${f.frames} frames in ${f.seconds.toFixed(2)} s = ${(f.frames / f.seconds).toFixed(1)} frames/s, ` +
      `${(f.megabytes / f.seconds).toFixed(0)} MB/s; ${(f.pictures / f.seconds).toFixed(1)} pictures/s (level ${f.level} of 5), 95 % of gaps below ${f.gap.toFixed(0)} ms; ` +
      `a click waits ${f.late.toFixed(0)} ms (95 %), at most ${f.latest.toFixed(0)} ms`);
  }
  await page.close();
  await end(server);
}

let failed = 0;
if (option("--measure")) {
  await measure(measured);
  for (const name of Object.keys(parts)) delete parts[name];
}
for (const [name, part] of Object.entries(parts)) {
  if (only && !name.includes(only)) continue;
  const began = Date.now();
  try {
    await part();
    console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n${error.stack}`);
  }
}
for (const server of servers) if (server.exitCode === null && server.signalCode === null) { server.kill("SIGINT"); await server.done; }
await browser.close();
process.chdir("/");
fs.rmSync(folder, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
