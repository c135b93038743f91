// Curves of stats.csv: small, beside the picture, one under the other.

const INK = ["#e1a95f", "#6aa5d8", "#86c49a", "#d08bb5", "#a99be0", "#c9c26b", "#8d949d"];
const STAGES = { sort_s: "sort", p2g_s: "to grid", grid_s: "grid", g2p_s: "from grid", write_s: "write", hold_s: "wait for disk" };

export function number(x, digits = 3) { return plain(x, digits).replace(/^-/, "−"); }

function plain(x, digits) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) {
    const [m, e] = x.toExponential(digits - 1).split("e");
    return `${m}\u00a0×\u00a010${[...String(Number(e))].map(c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}`;
  }
  return String(Number(x.toPrecision(digits)));
}

// For numbers that stand beside each other.
export function brief(x) {
  if (x === null || !Number.isFinite(x)) return "–";
  const text = x !== 0 && (Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3) ? x.toExponential(2) : String(Number(x.toPrecision(3)));
  return text.replace("e+", "e").replaceAll("-", "−");
}

// The table as columns of numbers (text where it is none).
export class Table {
  constructor() { this.clear(); }
  clear() { this.names = null; this.columns = Object.create(null); this.rows = 0; }
  take(text) {
    for (const line of text.split("\n")) {
      if (!line) continue;
      const cells = line.split(",");
      if (!this.names) {
        this.names = cells;
        for (const name of cells) this.columns[name] = [];
      } else {
        this.names.forEach((name, i) => {
          const cell = cells[i] ?? "", value = /^[-+]?(nan|inf)/i.test(cell) ? NaN : Number(cell);
          this.columns[name].push(name === "limiter" ? cell : cell === "" ? NaN : value);
        });
        this.rows++;
      }
    }
  }
  row_of(frame) {
    const frames = this.columns.frame ?? [];
    let low = 0, high = frames.length - 1;
    while (low < high) { const m = (low + high + 1) >> 1; if (frames[m] <= frame) low = m; else high = m - 1; }
    return frames.length ? low : -1;
  }
}

// What is drawn: [title, unit, [[column, label]...], how]
function plots_of(table, flat) {
  const has = name => table.columns[name] !== undefined;
  const pick = list => list.filter(([name]) => has(name));
  const out = [];
  const put = (title, unit, lines, how = {}) => { lines = pick(lines); if (lines.length) out.push({ title, unit, lines, ...how }); };
  const J = flat ? "J per m" : "J", momentum = ["x", "y", "z"].slice(0, flat ? 2 : 3).map(a => [`momentum_${a}_kg_m_s`, a]);
  put("Energy", J, [["kinetic_J", "kinetic"], ["elastic_J", "elastic"], ["potential_J", "potential, given up"], ["affine_J", "affine"]], { given: "potential_J" });
  put("Energy that went", J, [["plastic_J", "to yielding"], ["friction_J", "to friction"], ["contact_J", "to impacts"], ["transfer_J", "to transfers"], ["stepping_J", "to finite steps"]]);
  put("Momentum", flat ? "kg m/s per m" : "kg m/s", momentum);
  put("Fastest particle", "m/s", [["max_speed_m_s", "speed"]]);
  put("Step", "s", [["dt_s", "Δt"]], { limiter: true });
  put("Seconds per frame", "s", Object.entries(STAGES), { stacked: true });
  put("Iterations", "", (table.names ?? []).filter(n => n.includes("iteration")).map(n => [n, n.replaceAll("_", " ")]));
  const p = table.columns.particles ?? [];
  if (p.some(v => v !== p[0])) put("Particles", "", [["particles", "alive"], ["removed", "removed"]]);
  return out;
}

export class Plots {
  constructor(box, seek) {
    this.box = box;
    this.seek = seek;
    this.table = new Table();
    this.views = [];
    this.frame = 0;
    this.frames = 1;
    this.hover = null;
    this.late = false;
    new ResizeObserver(() => this.redraw()).observe(box);
  }

  take(message) {
    if (message.anew) this.table.clear();
    this.table.take(message.text);
    this.redraw();
  }

  set_frame(frame, frames) {
    if (frame === this.frame && frames === this.frames) return;
    const wider = frames !== this.frames;
    this.frame = frame;
    this.frames = frames;
    if (wider) this.redraw(); else this.point();
  }

  // Moves the cursors, and says the values there a few times a second: curves stay as they were drawn.
  point() {
    const at = Math.max(0, Math.min(1, (this.hover ?? this.frame) / Math.max(1, this.frames)));
    for (const view of this.views) {
      view.cursor.style.transform = `translateX(${Math.round(at * (this.width - 1))}px)`;
      view.cursor.classList.toggle("hover", this.hover !== null);
    }
    this.words ??= setTimeout(() => {
      this.words = null;
      for (const view of this.views) this.say(view);
    }, 100);
  }

  redraw() {
    if (this.late) return;
    this.late = true;
    requestAnimationFrame(() => { this.late = false; this.draw(); });
  }

  view(i) {
    while (this.views.length <= i) {
      const root = document.createElement("div"), key = document.createElement("div"), canvas = document.createElement("canvas");
      const sheet = document.createElement("div"), cursor = document.createElement("div");
      root.className = "plot";
      key.className = "key";
      sheet.className = "sheet";
      cursor.className = "cursor";
      sheet.append(canvas, cursor);
      root.append(key, sheet);
      this.box.append(root);
      const at = event => {
        const box = canvas.getBoundingClientRect();
        return Math.round((event.clientX - box.left) / box.width * Math.max(1, this.frames));
      };
      canvas.addEventListener("pointermove", event => { this.hover = at(event); this.point(); if (event.buttons & 1) this.seek(this.hover); });
      canvas.addEventListener("pointerleave", () => { this.hover = null; this.point(); });
      canvas.addEventListener("pointerdown", event => { canvas.setPointerCapture(event.pointerId); this.seek(at(event)); });
      this.views.push({ root, key, canvas, cursor });
    }
    return this.views[i];
  }

  draw() {
    if (!this.box.clientWidth) return;
    const plots = this.table.rows ? plots_of(this.table, this.flat) : [];
    plots.forEach((plot, i) => this.draw_one(this.view(i), plot));
    while (this.views.length > plots.length) this.views.pop().root.remove();
    this.width = this.views[0]?.canvas.clientWidth ?? 1;
    this.point();
  }

  draw_one(view, plot) {
    const t = this.table, frames = t.columns.frame, canvas = view.canvas;
    const dpr = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * dpr)) { canvas.width = Math.round(w * dpr); canvas.height = Math.round(h * dpr); }
    const g = canvas.getContext("2d");
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    g.clearRect(0, 0, w, h);

    let base = null;
    const lines = plot.lines.map(([name]) => {
      let values = t.columns[name];
      if (plot.given === name) values = values.map(v => values[0] - v);
      if (plot.stacked) { values = values.map((v, k) => v + (base ? base[k] : 0)); base = values; }
      return values;
    });
    let low = plot.limiter || plot.stacked ? 0 : Infinity, high = -Infinity;
    for (const values of lines) for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (low > high) low = high = 0;
    if (!(high > low)) { high = low + (Math.abs(low) || 1); }
    const pad = 0.06 * (high - low);
    if (low < 0 || !(plot.limiter || plot.stacked)) low -= pad;
    high += pad;
    const X = f => 0.5 + f / Math.max(1, this.frames) * (w - 1), Y = v => h - 1 - (v - low) / (high - low) * (h - 2);

    g.strokeStyle = "rgba(255,255,255,0.10)";
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(0, h - 0.5); g.lineTo(w, h - 0.5);
    if (low < 0 && high > 0) { g.moveTo(0, Y(0)); g.lineTo(w, Y(0)); }
    g.stroke();
    const first = plot.limiter && frames.length > 1 ? 1 : 0; // no step has led to the first frame
    // what is not finite leaves a gap
    const path = values => {
      let pen = false;
      for (let k = first; k < values.length; k++) {
        const there = Number.isFinite(values[k]);
        if (there) pen ? g.lineTo(X(frames[k]), Y(values[k])) : g.moveTo(X(frames[k]), Y(values[k]));
        pen = there;
      }
    };
    for (let i = lines.length - 1; i >= 0; i--) {
      g.beginPath();
      path(lines[i]);
      if (plot.stacked) {
        g.lineTo(X(frames.at(-1)), h); g.lineTo(X(frames[0]), h); g.closePath();
        g.fillStyle = INK[i];
        g.globalAlpha = 0.85;
        g.fill();
        g.globalAlpha = 1;
      } else {
        g.strokeStyle = INK[i];
        g.lineWidth = 1.5;
        g.lineJoin = "round";
        g.stroke();
      }
    }
    if (plot.limiter) this.draw_limiters(g, t, X, Y, lines[0]);
    g.font = "10px system-ui, sans-serif";
    g.textAlign = "right";
    const label = (value, y) => {
      const text = number(value, 2), across = g.measureText(text).width;
      g.fillStyle = "rgba(27,30,34,0.85)";
      g.fillRect(w - across - 6, y - 10, across + 6, 12);
      g.fillStyle = "rgba(255,255,255,0.6)";
      g.fillText(text, w - 2, y);
    };
    label(high - pad, 10);
    if (low < -pad) label(low + pad, h - 4);

    view.plot = plot;
    view.lines = lines;
  }

  // The legend of a plot, with the values at the cursor.
  say({ key, plot, lines }) {
    const t = this.table, row = t.row_of(this.hover ?? this.frame), words = [];
    plot.lines.forEach(([name, label], i) => {
      const value = row < 0 ? null : plot.stacked ? t.columns[name][row] : lines[i][Math.min(row, lines[i].length - 1)];
      words.push([INK[i], `${label} ${number(value)}`]);
    });
    let title = plot.title + (plot.unit ? ` [${plot.unit}]` : "");
    if (plot.limiter && row >= 0) title += ` — held back by ${LIMITER[t.columns.limiter[row]] ?? t.columns.limiter[row]}`;
    const parts = [title, ...words.map(w => w[1])];
    if (key.children.length === parts.length) {
      parts.forEach((text, i) => { if (key.children[i].textContent !== text) key.children[i].textContent = text; });
      return;
    }
    key.replaceChildren(...parts.map((text, i) => {
      const part = document.createElement(i ? "span" : "b");
      part.textContent = text;
      if (i) part.style.setProperty("--swatch", words[i - 1][0]);
      return part;
    }));
  }

  // A strip below the curve: which limit held the step back.
  draw_limiters(g, t, X, Y, values) {
    const frames = t.columns.frame, names = t.columns.limiter ?? [];
    for (let k = 1; k < values.length; k++) {
      g.fillStyle = LIMITER_INK[names[k]] ?? "#8d949d";
      g.fillRect(X(frames[k - 1]), Y(0) - 3, Math.max(1, X(frames[k]) - X(frames[k - 1])), 4);
    }
  }
}

const LIMITER = { elastic: "elastic waves", speed: "speed", gradient: "deformation", collider: "colliders", emitter: "mouths", dt_max: "dt_max", frame: "nothing", none: "nothing yet" };
const LIMITER_INK = { elastic: "#6aa5d8", speed: "#86c49a", gradient: "#d08bb5", collider: "#c9c26b", emitter: "#c98f6b", dt_max: "#8d949d", frame: "#a99be0" };
