// The page: what is shown, what was asked for, and what keys and buttons do.
import { Link } from "/link.js";
import { Stage } from "/stage.js";
import { Plots, brief, number } from "/plots.js";

const $ = id => document.getElementById(id);
const stage = new Stage($("stage"));
const plots = new Plots($("plots"), frame => { play(false); seek(frame); });

const state = {
  status: null, scene: null, generation: null,
  want: 0, color: "grains", live: true, playing: false, loop: false, speed: 1,
  shown: null,          // of the frame on the screen
  asked: null,          // the newest request: "frame color"
  open: 0,              // requests without an answer
  undrawn: 0,           // frames since the last picture
  queue: [],            // frames that came before their time
  due: 0,
  views: Object.create(null),  // of each colour: what the server last told of the whole run
  view: null,           // the newest of them
  view_open: null,      // ... or about to come
  view_asked: 0,        // when
  ranges: Object.create(null), // of each colour: what was seen, or { fixed: true }
  slice: { axis: "", at: 0.5, flip: false },
  id: null,             // the particle that is looked at
  looking: false,       // ... or about to be
  came: 0, bytes: 0,    // frames and bytes so far
  marks: true,          // of the picture's corners
  connected: false,
};

// ---- remembered across a reload ----

function remember() {
  const kept = { camera: stage.by_hand ? stage.camera : null, color: state.color, slice: state.slice, outlines: stage.outlines, generation: state.generation,
    folder: state.scene?.folder, frame: state.want, live: state.live, panel: !document.body.classList.contains("no-panel"), marks: state.marks, speed: state.speed, loop: state.loop };
  try { sessionStorage.setItem("repose", JSON.stringify(kept)); } catch { /* private windows may have none */ }
}
function recall() {
  try { return JSON.parse(sessionStorage.getItem("repose")); } catch { return null; }
}
const kept = recall();
if (kept) {
  state.color = kept.color ?? state.color;
  state.slice = kept.slice ?? state.slice;
  state.speed = kept.speed ?? 1;
  state.loop = kept.loop ?? false;
  state.marks = kept.marks ?? true;
  $("loop").setAttribute("aria-pressed", String(state.loop));
  stage.outlines = kept.outlines ?? true;
  document.body.classList.toggle("no-panel", kept.panel === false);
}
addEventListener("pagehide", remember);

// The token need not stand in the address: this tab keeps it. No other port of the machine gets to see it, as it would a cookie.
const token = (() => {
  const given = new URLSearchParams(location.search).get("token");
  if (location.search) history.replaceState(null, "", location.pathname);
  try {
    if (given) sessionStorage.setItem("repose-token", given);
    return given ?? sessionStorage.getItem("repose-token");
  } catch { return given; }
})();

// ---- words ----

function duration(s) {
  if (s < 99.5) return `${Math.round(s)} s`;
  if (s < 5939.5) return `${Math.floor(Math.round(s) / 60)} min ${String(Math.round(s) % 60).padStart(2, "0")} s`;
  const minutes = Math.round(s / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

const note = (() => {
  let timer;
  return (text, good = false) => {
    $("note").textContent = text;
    $("note").classList.toggle("good", good);
    $("note").hidden = !text;
    clearTimeout(timer);
    timer = setTimeout(() => { $("note").hidden = true; }, good ? 2500 : 8000);
  };
})();

function say_state() {
  const s = state.status;
  let name = s?.state ?? "connecting", words = "connecting …", why = "";
  if (!state.connected) {
    name = s ? "lost" : "connecting";
    words = link?.forbidden ? "this server wants a token: open the address that it has printed"
      : s ? "connection lost: is repose view still running? Trying again …"
      : link?.tries > 2 ? "no connection: is repose view still running? Open the address that it has printed. Trying again …" : words;
  } else if (s) {
    const n = s.last >= 0 ? ` · frame ${s.last} of ${s.frames}` : "";
    const left = s.left !== null && s.last >= 0 ? ` · ${duration(s.left)} left` : "";
    words = { starting: "the run is starting …", running: `running${n}${left}`, paused: `run paused${n}`, stopping: `saving the state${n}`,
      finished: `run finished · ${s.frames} frame${s.frames === 1 ? "" : "s"}`, interrupted: `run stopped${n}`, failed: `run failed${n}`,
      vanished: "the folder has vanished", empty: "no run here" }[s.state] ?? s.state;
    why = ["failed", "vanished", "empty", "interrupted"].includes(s.state) ? s.sentence : "";
    why = [s.notice, why].filter(Boolean).join(" ");
    if (s.state === "running" && !s.can.stop) words += " · started elsewhere, so it can only be watched";
  }
  if (!why && !stage.gl) why = "This browser has no WebGL 2: particles cannot be shown here. Curves and buttons work.";
  document.body.dataset.state = name;
  if ($("words").textContent !== words) $("words").textContent = words;
  $("why").textContent = why;
  $("why").hidden = !why;
  const can = state.connected && s ? s.can : {};
  $("pause").hidden = !can.pause;
  $("pause").textContent = s?.state === "paused" ? "Resume" : "Pause";
  $("stop").hidden = !can.stop;
  $("go-on").hidden = !can.go_on;
  $("again").hidden = !(can.start && state.scene?.params);
  const title = state.scene?.title || "Repose";
  $("title").textContent = title;
  $("folder").textContent = s?.folder ?? "";
  document.title = `${s?.state === "running" && s.last >= 0 ? `${s.last}/${s.frames} ` : ""}${title} – Repose`;
}

function say_where() {
  const s = state.status, m = state.shown;
  const frames = Math.max(s?.frames ?? 0, s?.last ?? 0, 1);
  $("scrub").max = frames;
  $("scrub").value = state.playing && m ? m.frame : state.want;
  $("scrub").style.setProperty("--there", `${100 * Math.max(0, s?.last ?? 0) / frames}%`);
  const away = m?.strays.length ? ` · ${m.strays.length} particle${m.strays.length > 1 ? "s" : ""} far away` : "";
  $("where").textContent = m ? `frame ${m.frame} of ${frames} · ${time(m.time)}${away}` : s && s.state !== "vanished" ? "no frame yet" : "";
  $("play-shape").setAttribute("d", state.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 2.5v11l9-5.5z");
  $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  plots.set_frame(m?.frame ?? 0, frames);
}
const time = t => t < 10 ? `${t.toFixed(3)} s` : `${t.toFixed(2)} s`;

// ---- frames: asked for, waited for, shown ----

// @returns whether there was somebody to ask
function ask(frame, color) {
  const sent = link.send({ want: "frame", frame, color });
  if (sent) {
    state.asked = `${frame} ${color}`;
    state.asked_frame = frame;
    state.open++;
  }
  return sent;
}

// The view and the range of colours are those of pictures, over all frames that there are: asked for before the first frame,
// and again when there is a tenth more of the run, once a second at most.
function ask_view() {
  const last = state.status.last, known = state.views[state.color]?.last ?? -1;
  if (state.view_open || known >= last || (known >= 0 && last < 1.1 * known + 1 && !is_over())) return;
  const wait = known >= 0 ? state.view_asked + 1000 - performance.now() : 0;
  if (wait > 0) {
    clearTimeout(state.view_timer);
    state.view_timer = setTimeout(pump, wait + 10);
  } else if (link.send({ want: "view", color: state.color })) {
    state.open++;
    state.view_asked = performance.now();
    state.view_open = { color: state.color, last, generation: state.generation };
  }
}

// @param message null: there is none to be had before the run has gone on
function take_view(message) {
  const asked = state.view_open, before = state.view;
  state.view_open = null;
  if (!asked || asked.generation !== state.generation || (message && message.generation !== state.generation)) return;
  state.views[asked.color] = message ?? { ...state.views[asked.color], last: asked.last };
  if (!message) return;
  state.view = message;
  stage.picture = message.aspect;
  draw_marks();
  const moved = ["eye", "look_at", "fov"].some(key => String(message[key]) !== String(before?.[key]));
  if (moved && !stage.by_hand) show_view(before !== null);
  if (state.shown?.colors.name === message.color) show_colors(state.shown.colors);
}

// As pictures are taken.
function show_view(smoothly) {
  const v = state.view, quick = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (v) stage.look_from(v.eye, v.look_at, v.fov, v.parallel, smoothly && !quick);
  else if (bounds.low) stage.fit(bounds.low, bounds.high);
  stage.by_hand = false;
}

function pump() {
  const last = state.status?.last ?? -1;
  if (!state.connected || last < 0) return;
  ask_view();
  if (state.playing) {
    // a few ahead, so that the next is here when its time comes; where drawing is slow, it is waited for
    while (state.open + state.queue.length < 3 && state.undrawn < 3) {
      let next = (state.asked_frame ?? -1) + 1;
      if (next > last && state.loop && last > 0) next = 0;
      if (next > last || !ask(next, state.color)) break;
    }
  } else {
    if (state.live) state.want = last;
    state.want = Math.max(0, Math.min(state.want, last));
    if (state.open === 0 && state.asked !== `${state.want} ${state.color}`) ask(state.want, state.color);
  }
}

function show({ message, data, offset }) {
  stage.set_frame(message, data, offset);
  state.shown = message;
  if (stage.gl) state.undrawn++;
  if (state.playing) state.want = message.frame;
  note_bounds(message);
  show_colors(message.colors);
  say_where();
  if (state.id !== null) state.playing ? leave_particle() : follow();
}

function flush() { while (state.queue.length) show(state.queue.shift()); }

function seek(frame) {
  const last = state.status?.last ?? 0;
  state.want = Math.max(0, Math.min(frame, last));
  state.live = state.want === last && ["running", "starting", "paused"].includes(state.status?.state);
  pump();
  say_where();
}

function play(on) {
  if (on === state.playing) return;
  const last = state.status?.last ?? 0;
  state.playing = on;
  if (on) {
    state.live = false;
    if (state.want >= last) { state.want = 0; ask(0, state.color); }
    state.asked_frame = state.want;
    state.due = performance.now();
  } else {
    flush();
    follow();
  }
  pump();
  say_where();
}

// Frames whose time has come. Where drawing is slow several come between two pictures, and time goes on as it should.
function drain(now) {
  while (state.playing && state.queue.length && now >= state.due) {
    show(state.queue.shift());
    const fps = (state.scene?.fps ?? 24) * state.speed;
    state.due = Math.max(state.due + 1000 / fps, now - 200);
    pump();
    stop_at_end();
  }
}

// A run that is still going on has no end yet.
function stop_at_end() {
  if (state.playing && !state.queue.length && state.shown?.frame >= (state.status?.last ?? 0) && is_over() && !state.loop) play(false);
}

const is_over = () => ["finished", "failed", "interrupted"].includes(state.status?.state);

function tick(now) {
  drain(now);
  stage.tick(now, state.playing);
  requestAnimationFrame(tick);
}

// ---- the box around all that was seen: for fitting and slicing ----

const bounds = { low: null, high: null };

function note_bounds(m) {
  const [low, high] = m.box;
  if (m.count === 0 || low[0] === null) return;
  if (!bounds.low) {
    bounds.low = low.map(v => v - m.radius); bounds.high = high.map(v => v + m.radius);
    stage.middle = bounds.low.map((v, k) => 0.5 * (v + bounds.high[k]));
    if (!state.view && !stage.by_hand) show_view(); // the server has none to give
  }
  for (let k = 0; k < 3; k++) {
    bounds.low[k] = Math.min(bounds.low[k], low[k] - m.radius);
    bounds.high[k] = Math.max(bounds.high[k], high[k] + m.radius);
  }
  stage.set_bounds(bounds.low, bounds.high);
  update_slice();
}

// ---- colours ----

function color_names() {
  const columns = state.scene?.columns ?? [], has = name => columns.some(c => c.name === name);
  const out = [["grains", "grains of sand"]];
  if (has("velocity")) out.push(["speed", "speed"]);
  if (has("pressure")) out.push(["pressure", "pressure"], ["smooth_pressure", "smooth pressure"]);
  if (has("strain") && state.scene.materials.length) out.push(["case", "yield case"]);
  out.push(["height", "height"], ["material", "material"], ["body", "body"]);
  for (const c of columns) {
    if (["material", "pressure"].includes(c.name)) continue;
    if (c.comps > 1) out.push([c.name, `${c.name} (size)`]);
    else out.push([c.name, c.name]);
    for (let k = 0; c.comps > 1 && k < c.comps; k++)
      out.push([`${c.name}.${c.comps <= 3 ? "xyz"[k] : k}`, `${c.name} ${component(c, k)}`]);
  }
  return out;
}

function component(column, k) {
  if (["strain", "rate", "stress"].includes(column.name))
    return (column.comps === 3 ? ["xx", "yy", "xy"] : ["xx", "yy", "zz", "xy", "xz", "yz"])[k] ?? k;
  if (column.comps <= 3) return "xyz"[k];
  const d = Math.round(Math.sqrt(column.comps));
  return d * d === column.comps ? "xyz"[Math.floor(k / d)] + "xyz"[k % d] : String(k);
}

function fill_colors() {
  const names = color_names();
  $("color").replaceChildren(...names.map(([value, text]) => new Option(text, value)));
  // before the first frame nobody knows which columns there are
  if (state.scene?.columns.length && !names.some(([value]) => value === state.color)) state.color = "grains";
  $("color").value = state.color;
}

function choose_color(name) {
  state.color = name;
  $("color").value = name;
  pump();
  remember();
}

function show_colors(c) {
  const key = c.name;
  if (c.kind === "numbers") {
    const r = state.ranges[key] ??= { low: Infinity, high: -Infinity }, run = state.views[key]?.range;
    if (!r.fixed && run) {
      [r.low, r.high] = run;
    } else if (!r.fixed) { // nobody knows the whole run
      r.low = Math.min(r.low, c.low);
      r.high = Math.max(r.high, c.high);
    }
    for (const [id, value] of [["low", number_text(r.low)], ["high", number_text(r.high)]])
      if (!state.typed && document.activeElement !== $(id) && $(id).value !== value) $(id).value = value;
    stage.range = [r.low, r.high];
    stage.set_palette("ramp", state.scene?.ramp ?? "");
    $("auto").disabled = !r.fixed;
  } else {
    stage.set_palette(c.palette, c.palette);
  }
  $("range").hidden = c.kind !== "numbers";
  draw_legend(c);
}
const number_text = v => String(Number(v.toPrecision(4)));

function draw_legend(c) {
  const what = [c.name, c.kind, c.palette, c.labels, stage.range, $("color").value, state.scene?.generation].join();
  if (what === state.legend) return;
  state.legend = what;
  const label = $("color").selectedOptions[0]?.textContent ?? c.name;
  $("legend").hidden = c.kind === "grains";
  const numbers = c.kind === "numbers";
  $("legend-name").replaceChildren(`${label} `, Object.assign(document.createElement("small"), { textContent: c.unit_name ? `[${c.unit_name}]` : "" }));
  $("legend-bar").hidden = $("legend-ticks").hidden = !numbers;
  $("legend-classes").hidden = numbers;
  if (numbers) {
    const ramp = state.scene?.ramp ?? "", stops = [];
    for (let i = 0; i < 256; i += 15) stops.push(`#${ramp.substr(6 * i, 6)}`);
    $("legend-bar").style.background = `linear-gradient(to right, ${stops.join(",")})`;
    const [low, high] = stage.range;
    $("legend-ticks").replaceChildren(...[0, 0.5, 1].map(t =>
      Object.assign(document.createElement("span"), { textContent: number(low + t * (high - low)) })));
  } else if (c.kind === "classes") {
    const labels = c.labels.length ? c.labels : ["0", "1", "2", "3"].map(k => `${label} ${k}`).slice(0, 1);
    $("legend-classes").replaceChildren(...labels.map((text, i) => {
      const row = document.createElement("div"), box = document.createElement("i");
      box.style.background = `#${c.palette.substr(6 * i, 6)}`;
      row.append(box, text);
      return row;
    }));
  }
}

function fix_range() {
  if (!state.shown || !state.typed) return;
  const [low, high] = ["low", "high"].map(id => $(id).value.trim() === "" ? NaN : Number($(id).value));
  if (low < high && Number.isFinite(high - low)) {
    note("");
    state.ranges[state.shown.colors.name] = { low, high, fixed: true };
  } else if ($("range").contains(document.activeElement)) {
    return; // the other one may follow
  } else {
    note("The range of colours wants two numbers, the smaller one first.");
    for (const [id, value] of [["low", stage.range[0]], ["high", stage.range[1]]]) $(id).value = number_text(value);
  }
  state.typed = false;
  show_colors(state.shown.colors);
  stage.dirty = true;
}

// ---- the camera, for pictures and scenes ----

function camera_text(kind) {
  const { eye, look_at, fov } = stage.place();
  return kind === "scene" ? `camera { eye = {${eye.join(", ")}}, look_at = {${look_at.join(", ")}}, fov = ${fov} }`
    : `--camera ${eye.join(",")}/${look_at.join(",")} --fov ${fov}`;
}

async function copy_camera(kind) {
  const text = camera_text(kind);
  $("camera-text").value = text;
  $("camera-text").hidden = false;
  try {
    await navigator.clipboard.writeText(text);
    note("Copied.", true);
  } catch { // browsers hand the clipboard only to pages of this machine, or encrypted ones
    $("camera-text").select();
    if (document.execCommand("copy")) note("Copied.", true);
    else note("This browser lets no page copy: the line is in the panel, marked.");
  }
}

// The corners of the picture that `repose render` would take.
function draw_marks() {
  const { width, height } = stage.frame_size(), room = stage.room(), at = $("marks").style;
  $("marks").hidden = !state.marks;
  at.left = `${0.5 * (room.width - width)}px`;
  at.top = `${0.5 * (room.height - height)}px`;
  at.width = `${width}px`;
  at.height = `${height}px`;
}

function toggle_marks() {
  state.marks = !state.marks;
  $("marks-on").checked = state.marks;
  draw_marks();
  remember();
}

// ---- slice ----

function update_slice() {
  const s = state.slice;
  $("slice-axis").value = s.axis;
  $("slice-at").disabled = $("slice-flip").disabled = !s.axis;
  $("slice-at").value = Math.round(1000 * s.at);
  stage.dirty = true;
  if (!s.axis || !bounds.low) { stage.plane = null; return; }
  let normal = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] }[s.axis];
  if (!normal) {
    // as the camera looks when it is chosen, and then it stays
    s.normal ??= stage.axes().back;
    normal = s.normal;
  }
  if (s.flip) normal = normal.map(v => -v);
  let low = 0, high = 0;
  normal.forEach((n, k) => { low += n * (n > 0 ? bounds.low : bounds.high)[k]; high += n * (n > 0 ? bounds.high : bounds.low)[k]; });
  stage.plane = { normal, offset: low + (s.flip ? 1 - s.at : s.at) * (high - low) };
}

function choose_slice(axis) {
  state.slice.axis = axis;
  state.slice.normal = undefined;
  update_slice();
  remember();
}

// ---- one particle ----

function show_particle(message) {
  if (!state.looking) return; // closed while the answer was on its way
  const get = name => message.columns.find(c => c.name === name);
  if (!message.columns.length) {
    if (state.id !== null) leave_particle("not in this frame");
    else close_particle();
    return;
  }
  $("particle").classList.remove("stale");
  $("particle-words").textContent = "";
  state.id = get("id")?.values[0] ?? null;
  stage.marked = get("position").values;
  const rows = [];
  const put = (name, value, title = "", exact = "") => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name; dd.textContent = value; dt.title = title; dd.title = exact;
    rows.push(dt, dd);
  };
  const by = message.colored;
  if (by && !["id", "speed"].includes(by.name) && get(by.name)?.values.length !== 1)
    put($("color").selectedOptions[0]?.textContent ?? by.name, by.label || `${number(by.value)} ${by.unit === "1" ? "" : by.unit}`, "what it is coloured by");
  const order = ["id", "position", "velocity"];
  const columns = [...message.columns].sort((a, b) => (order.indexOf(a.name) + 9) % 9 - (order.indexOf(b.name) + 9) % 9);
  for (const c of columns) {
    const unit = c.unit === "1" ? "" : ` ${c.unit}`, name = c.name.replaceAll("_", " ");
    if (c.name === "material") { put(name, state.scene?.materials[c.values[0]] ?? c.values[0], c.sentence); continue; }
    if (c.values.length === 1) { put(name, `${["id", "group"].includes(c.name) ? c.values[0] : number(c.values[0], 5)}${unit}`, c.sentence, String(c.values[0])); continue; }
    if (c.name === "velocity") put("speed", `${number(Math.hypot(...c.values), 5)}${unit}`);
    // rows of up to three: a vector is one, a matrix two or three
    const wide = c.values.length <= 3 ? 3 : c.values.length === 4 ? 2 : 3;
    for (let k = 0; k < c.values.length; k += wide) {
      const row = c.values.slice(k, k + wide), parts = row.map((_, i) => component({ name: c.name, comps: c.values.length }, k + i));
      put(k === 0 ? `${name}${unit && `,${unit}`}` : "", row.map(brief).join("\u2002"), `${c.sentence}: ${parts.join(", ")}`, row.join(", "));
    }
  }
  $("particle-state").replaceChildren(...rows);
  $("particle").hidden = false;
  stage.dirty = true;
}

function follow() {
  if (state.id !== null && state.shown) order({ want: "follow", frame: state.shown.frame, color: state.color, id: state.id });
}

// What the panel says is of another frame than the one that is shown.
function leave_particle(words = "") {
  stage.marked = null;
  $("ring").hidden = true;
  $("particle").classList.add("stale");
  $("particle-words").textContent = words;
}

function close_particle() {
  state.id = null;
  state.looking = false;
  stage.marked = null;
  $("particle").hidden = $("ring").hidden = true;
}

stage.drawn = () => {
  state.undrawn = 0;
  pump();
  const x = stage.marked, p = stage.plane, cut = x && p && x.reduce((sum, v, k) => sum + v * p.normal[k], -p.offset) > 0;
  const at = x && !cut && stage.project(x);
  $("ring").hidden = !at;
  if (at) { $("ring").style.left = `${at[0]}px`; $("ring").style.top = `${at[1]}px`; }
};

function pick(x, y) {
  if (!state.shown) return;
  const ray = stage.ray(x, y), p = stage.plane;
  state.id = null;
  state.looking = true;
  order({ want: "pick", frame: state.shown.frame, color: state.color, from: ray.from, along: ray.along, spread: ray.spread,
    plane: p ? [...p.normal, p.offset] : [0, 0, 0, 0] });
}

// ---- params ----

function fill_params() {
  const params = state.scene?.params ?? {};
  $("params").replaceChildren();
  for (const [name, p] of Object.entries(params)) {
    const label = document.createElement("label"), input = document.createElement(p.choices ? "select" : "input");
    for (const choice of p.choices ?? []) input.append(new Option(choice));
    label.textContent = name.replaceAll("_", " ");
    label.htmlFor = input.id = `param-${name}`;
    if (p.note) label.append(Object.assign(document.createElement("small"), { textContent: p.note }));
    input.name = name;
    input.value = input.dataset.was = String(p.value);
    input.dataset.usual = String(p.default);
    input.title = `as the scene says: ${p.default}`;
    input.addEventListener("input", () => input.classList.toggle("changed", input.value !== input.dataset.was));
    $("params").append(label, input);
  }
  if (!Object.keys(params).length)
    $("params").append(Object.assign(document.createElement("small"), { textContent: "This scene has none." }));
}

function start_again() {
  const set = Object.create(null);
  for (const input of $("params").querySelectorAll("input, select")) if (input.value !== input.dataset.usual) set[input.name] = input.value;
  const long = Object.values(set).some(value => new TextEncoder().encode(value).length > 255);
  if (long || Object.keys(set).length > 32) { note("A page can set 32 params, of at most 255 characters each: repose run --set can more."); return; }
  const keep = $("keep").checked, s = state.status;
  if (!keep && !confirm(`Remove the run in ${s.folder} and start it again?`)) return;
  order({ want: "start", set, keep });
  state.live = true;
}

function order(message) { if (link.send(message)) state.open++; }

// ---- what comes from the server ----

const link = new Link({
  open() { state.connected = true; state.views = Object.create(null); state.view_open = null; state.open = state.undrawn = 0; state.asked = null; state.queue = []; say_state(); },
  lost(why) { if (why) note(`The server hung up: ${why}.`); state.connected = false; state.open = 0; state.asked = null; state.playing = false; state.queue = []; say_state(); say_where(); },
  status(message) {
    const before = state.status;
    state.status = message;
    if (state.generation !== null && message.generation !== state.generation) begin_anew();
    state.generation = message.generation;
    if (!before) {
      const going = ["running", "starting", "paused"].includes(message.state);
      const same = kept?.generation === message.generation;
      state.live = same ? kept.live && going : going;
      state.want = same ? Math.max(0, Math.min(kept.frame ?? 0, message.last)) : state.live || message.state === "failed" ? message.last : 0;
    }
    if (message.last < 0 && state.shown) begin_anew();
    stop_at_end();
    say_state();
    say_where();
    pump();
  },
  scene(message, data, offset) {
    const other = !state.scene || state.scene.folder !== message.folder, anew = other || state.scene.generation !== message.generation;
    state.scene = message;
    if (other) forget_view();
    if (stage.gl) stage.set_scene(message, data, offset);
    plots.flat = message.dimension === 2;
    stage.z_up = message.up === 2;
    fill_colors();
    if (anew || !$("params").children.length) fill_params();
    if (state.shown) show_colors(state.shown.colors);
    say_state();
  },
  stats(message) { plots.take(message); },
  view(message) { state.open--; take_view(message); pump(); },
  frame(message, data, offset) {
    state.open--;
    state.came++;
    state.bytes += message.bytes;
    // one of the run before, which was on its way
    if (message.generation !== state.generation) { state.asked = null; pump(); return; }
    const item = { message, data, offset };
    if (state.playing) { state.queue.push(item); drain(performance.now()); } else show(item);
    pump();
  },
  particle(message) { state.open--; show_particle(message); pump(); },
  done() { state.open--; pump(); },
  trouble(message) {
    state.open--;
    if (message.what === "view") { take_view(null); pump(); return; }
    if (message.what === "frame" && message.frame <= (state.status?.last ?? -1)) note(message.sentence);
    if (message.what !== "frame") note(message.sentence);
    else if (message.wrong && state.color !== "grains") { note(message.sentence); choose_color("grains"); }
    else if (message.frame >= (state.status?.last ?? -1)) state.playing = false;
    say_where();
    pump();
  },
}, token);

// Of a run in another folder nothing is known, and nobody has moved the camera to look at it.
function forget_view() {
  const same = kept?.camera && kept.folder === state.scene?.folder && !state.kept_used;
  state.views = Object.create(null);
  state.view = null;
  stage.by_hand = Boolean(same);
  state.kept_used = true;
  bounds.low = null;
  if (same) { Object.assign(stage.camera, kept.camera); stage.changed(); }
}

// Another run, in this folder or in another one.
function begin_anew() {
  for (const { message, data, offset } of state.queue) stage.set_frame(message, data, offset); // the server counts on them
  state.shown = null;
  state.asked = null;
  state.queue = [];
  state.playing = false;
  state.ranges = Object.create(null);
  state.views = Object.create(null);
  state.live = true;
  state.want = 0;
  close_particle();
  stage.forget();
  bounds.low = null;
  fill_params();
}

// ---- hands ----

let drag = null;
const pointers = new Map();
$("stage").addEventListener("pointerdown", event => {
  $("stage").setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  drag = { x: event.clientX, y: event.clientY, far: 0, button: event.button, move: event.button !== 0 || event.shiftKey };
});
$("stage").addEventListener("pointermove", event => {
  if (!drag || !pointers.has(event.pointerId)) return;
  const before = pointers.get(event.pointerId), dx = event.clientX - before[0], dy = event.clientY - before[1];
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const a = Math.hypot(before[0] - other[0], before[1] - other[1]), b = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
    if (a > 0 && b > 0) stage.zoom(a / b, (event.clientX + other[0]) / 2, (event.clientY + other[1]) / 2);
    stage.move(dx / 2, dy / 2);
  } else if (drag.move) stage.move(dx, dy);
  else stage.turn(dx, dy);
  drag.far += Math.abs(dx) + Math.abs(dy);
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
});
const end_drag = event => {
  pointers.delete(event.pointerId);
  if (drag && drag.far < 4 && drag.button === 0 && event.type === "pointerup") pick(event.clientX, event.clientY);
  if (pointers.size === 0) { drag = null; remember(); }
};
$("stage").addEventListener("pointerup", end_drag);
$("stage").addEventListener("pointercancel", end_drag);
$("stage").addEventListener("contextmenu", event => event.preventDefault());
$("stage").addEventListener("wheel", event => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 30 * event.deltaY : event.deltaY;
  stage.zoom(Math.exp(Math.max(-1, Math.min(1, 0.0015 * lines))), event.clientX, event.clientY);
}, { passive: false });

$("scrub").addEventListener("input", () => { play(false); seek(Number($("scrub").value)); });
$("play").addEventListener("click", () => play(!state.playing));
$("to-start").addEventListener("click", () => { play(false); seek(0); });
$("loop").addEventListener("click", toggle_loop);
$("to-end").addEventListener("click", () => { play(false); seek(Infinity); });
$("speed").addEventListener("change", () => { state.speed = Number($("speed").value); });
$("color").addEventListener("change", () => choose_color($("color").value));
for (const id of ["low", "high"]) {
  $(id).addEventListener("input", () => { state.typed = true; });
  $(id).addEventListener("change", () => setTimeout(fix_range)); // when the focus has moved
}
$("range").addEventListener("focusout", () => setTimeout(fix_range));
$("auto").addEventListener("click", () => {
  state.typed = false;
  note("");
  delete state.ranges[state.shown?.colors.name];
  if (state.shown) show_colors(state.shown.colors);
  stage.dirty = true;
});
$("slice-axis").addEventListener("change", () => choose_slice($("slice-axis").value));
$("slice-at").addEventListener("input", () => { state.slice.at = Number($("slice-at").value) / 1000; update_slice(); });
$("slice-flip").addEventListener("click", () => { state.slice.flip = !state.slice.flip; update_slice(); });
$("copy-camera").addEventListener("click", () => copy_camera("arguments"));
$("copy-scene").addEventListener("click", () => copy_camera("scene"));
$("reset-view").addEventListener("click", () => show_view(true));
$("marks-on").checked = state.marks;
$("marks-on").addEventListener("change", toggle_marks);
$("outlines").checked = stage.outlines;
$("outlines").addEventListener("change", () => { stage.outlines = $("outlines").checked; stage.dirty = true; });
$("particle-close").addEventListener("click", () => { close_particle(); stage.dirty = true; });
$("pause").addEventListener("click", pause_run);
$("stop").addEventListener("click", () => order({ want: "stop" }));
$("go-on").addEventListener("click", () => { state.live = true; order({ want: "resume" }); });
$("start").addEventListener("click", start_again);
$("params").addEventListener("submit", event => event.preventDefault());
$("panel-toggle").addEventListener("click", toggle_panel);
$("help-toggle").addEventListener("click", () => $("help").showModal());

function toggle_loop() {
  state.loop = !state.loop;
  $("loop").setAttribute("aria-pressed", String(state.loop));
  pump();
  remember();
}

function pause_run() {
  if (state.status?.can.pause) order({ want: state.status.state === "paused" ? "resume" : "pause" });
  else if (state.status?.state === "running") note("This run was started elsewhere: it can only be watched.");
}

function toggle_panel() {
  document.body.classList.toggle("no-panel");
  lay_out();
  plots.redraw();
  remember();
}

function next_color(step) {
  const options = [...$("color").options].map(o => o.value), at = options.indexOf(state.color);
  choose_color(options[(at + step + options.length) % options.length]);
}

// The camera by keys: a turn, with shift a move.
const steer = (dx, dy) => event => { event.shiftKey ? stage.move(dx, dy) : stage.turn(dx, dy); remember(); };
const nearer = factor => () => { stage.zoom(factor, innerWidth / 2, innerHeight / 2); remember(); };

const keys = {
  a: steer(30, 0), A: steer(30, 0), d: steer(-30, 0), D: steer(-30, 0),
  w: steer(0, 30), W: steer(0, 30), x: steer(0, -30), X: steer(0, -30),
  "+": nearer(0.8), "=": nearer(0.8), "-": nearer(1.25),
  " ": () => play(!state.playing),
  ArrowLeft: event => { play(false); seek(state.want - (event.shiftKey ? 10 : 1)); },
  ArrowRight: event => { play(false); seek(state.want + (event.shiftKey ? 10 : 1)); },
  Home: () => { play(false); seek(0); },
  End: () => { play(false); seek(Infinity); },
  c: () => next_color(1),
  C: () => next_color(-1),
  s: () => { const axes = ["", "x", "y", "z", "view"]; choose_slice(axes[(axes.indexOf(state.slice.axis) + 1) % axes.length]); },
  "[": () => { state.slice.at = Math.max(0, state.slice.at - 0.02); update_slice(); },
  "]": () => { state.slice.at = Math.min(1, state.slice.at + 0.02); update_slice(); },
  o: () => { $("outlines").checked = stage.outlines = !stage.outlines; stage.dirty = true; },
  r: () => show_view(true),
  f: () => { if (bounds.low) stage.fit(bounds.low, bounds.high); },
  v: () => copy_camera("arguments"),
  V: () => copy_camera("scene"),
  m: toggle_marks,
  p: toggle_panel,
  l: toggle_loop,
  k: pause_run,
  "?": () => $("help").showModal(),
  Escape: () => { close_particle(); stage.dirty = true; },
};
addEventListener("keydown", event => {
  const on = event.target, typing = on instanceof HTMLInputElement && on.type !== "range" && on.type !== "checkbox";
  if (event.ctrlKey || event.metaKey || event.altKey || typing || $("help").open) return;
  if (on instanceof HTMLSelectElement && event.key !== "Escape") return;
  if (event.key === " " && on.matches?.("button, summary, input[type=checkbox]")) return;
  if (on.id === "slice-at" && event.key.startsWith("Arrow")) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(event); }
});

// a click leaves the keys to the page
addEventListener("click", event => { if (event.detail > 0) event.target.closest?.("button, input[type=checkbox]")?.blur(); });

// ---- begin ----

function lay_out() {
  const panel = document.body.classList.contains("no-panel") ? 0 : $("panel").offsetWidth + 14;
  stage.inset = { right: panel, bottom: 62 };
  stage.dirty = true;
  draw_marks();
}
addEventListener("resize", lay_out);
lay_out();
fill_colors();
say_state();
say_where();
$("speed").value = String(state.speed);
// after a lost graphics context all is asked for anew
stage.restored = () => link.socket.close();
// for whoever tests the page or is curious
window.repose = { state, stage, plots, bounds };
requestAnimationFrame(tick);
