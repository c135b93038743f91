// The picture: particles as points that look like grains, colliders as outlines, and the camera.

const POINT_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 code;   // 0 to 65534 along each axis, 65535: nowhere
layout(location = 1) in float value;
uniform mat4 camera;
uniform vec3 origin, unit;           // of the lattice, relative to the middle of the scene
uniform float size;                  // pixels of a particle at distance 1
uniform vec2 map;                    // code to place on the ramp
uniform vec4 plane;                  // beyond it particles are hidden
uniform int classes;                 // the codes are rows of the palette
uniform sampler2D palette;
out vec3 color;
out float wide;
void main() {
  vec3 x = origin + unit * code;
  gl_Position = camera * vec4(x, 1.0);
  bool hidden = max(code.x, max(code.y, code.z)) > 65534.5 || dot(plane.xyz, x) > plane.w;
  wide = clamp(size / gl_Position.w, 1.0, 200.0);
  gl_PointSize = wide;
  if (hidden) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); gl_PointSize = 1.0; }
  color = value > 65534.5 ? vec3(0.45)
    : classes == 1 ? texelFetch(palette, ivec2(min(int(value), 255), 0), 0).rgb
    : texture(palette, vec2((clamp(value * map.x + map.y, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb;
}`;

const POINT_FRAGMENT = `#version 300 es
precision highp float;
in vec3 color;
in float wide;
out vec4 pixel;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float square = dot(p, p), light = 1.0;
  if (wide > 3.0) {
    if (square > 1.0) discard;
    vec3 normal = vec3(p.x, -p.y, sqrt(1.0 - square));
    light = 0.74 + 0.36 * max(dot(normal, vec3(-0.41, 0.62, 0.67)), 0.0);
  }
  pixel = vec4(color * light, 1.0);
}`;

const SCREEN_VERTEX = `#version 300 es
void main() {
  vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(p, 0.0, 1.0);
}`;

// Each pixel is darker the further it lies behind its neighbours: without it a heap of points is flat.
const SCREEN_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colors, depths;
uniform vec2 clip;                   // near, far
uniform float strength;
uniform int taps;                    // 8, or 4 where time is short
out vec4 pixel;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), size = textureSize(depths, 0);
  float depth = texelFetch(depths, at, 0).r;
  vec2 where = gl_FragCoord.xy / vec2(size);
  vec3 ground = mix(vec3(0.082, 0.090, 0.102), vec3(0.142, 0.153, 0.172), where.y);
  ground *= 1.0 - 0.35 * dot(where - 0.5, where - 0.5);
  gl_FragDepth = depth;
  // the ratio of distances is that of these, without a logarithm of each
  float here = clip.y - depth * (clip.y - clip.x), shade = 0.0;
  for (int i = 0; i < taps; i++) {
    ivec2 to = at + (i == 0 ? ivec2(2, 0) : i == 1 ? ivec2(-2, 0) : i == 2 ? ivec2(0, 2) : i == 3 ? ivec2(0, -2)
      : i == 4 ? ivec2(2, 3) : i == 5 ? ivec2(-2, 3) : i == 6 ? ivec2(2, -3) : ivec2(-2, -3));
    float there = clip.y - texelFetch(depths, clamp(to, ivec2(0), size - 1), 0).r * (clip.y - clip.x);
    shade += max(0.0, 1.4427 * min(there / here - 1.0, 4.0));
  }
  pixel = depth < 1.0 ? vec4(texelFetch(colors, at, 0).rgb * exp(-strength * shade), 1.0)
                      : vec4(ground * (0.8 + 0.2 * exp(-20.0 * shade)), 1.0);
}`;

const MESH_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
uniform mat4 camera, pose;
uniform vec3 eye;
out vec3 n, ray;
void main() {
  vec4 x = pose * vec4(place, 1.0);
  n = mat3(pose) * normal;
  ray = eye - x.xyz;
  gl_Position = camera * x;
}`;

// Surfaces are seen where they turn away: an outline that is soft.
const MESH_FRAGMENT = `#version 300 es
precision highp float;
in vec3 n, ray;
uniform vec4 tint;
uniform float rim, least;
out vec4 pixel;
void main() {
  float facing = abs(dot(normalize(n), normalize(ray)));
  float edge = pow(1.0 - facing, 3.0);
  float alpha = tint.a * (least + rim * edge);
  pixel = vec4(tint.rgb * alpha, alpha);
}`;

// ---- small matrices, by columns ----

function times(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b, f = 1) => [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = a => Math.hypot(a[0], a[1], a[2]);
const unit = a => { const l = length(a) || 1; return [a[0] / l, a[1] / l, a[2] / l]; };

function pose_matrix(position, q, middle) {
  const l = Math.hypot(...q) || 1, [x, y, z, w] = q.map(v => v / l);
  const p = sub(position, middle);
  return new Float32Array([
    1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0,
    2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0,
    2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1]);
}

// Edges where a surface has a border or a crease.
function feature_edges(places, triangles) {
  const count = triangles.length / 3;
  if (count > 400000) return new Float32Array(0);
  const normal = new Float32Array(triangles.length), first = new Map(), out = [];
  for (let t = 0; t < count; t++) {
    const p = k => { const i = 3 * triangles[3 * t + k]; return [places[i], places[i + 1], places[i + 2]]; };
    const a = p(0);
    normal.set(unit(cross(sub(p(1), a), sub(p(2), a))), 3 * t);
  }
  const at = i => [normal[3 * i], normal[3 * i + 1], normal[3 * i + 2]];
  const keep = key => {
    const a = 3 * Math.floor(key / 0x4000000), b = 3 * (key % 0x4000000);
    out.push(places[a], places[a + 1], places[a + 2], places[b], places[b + 1], places[b + 2]);
  };
  for (let t = 0; t < count; t++) {
    for (let k = 0; k < 3; k++) {
      const i = triangles[3 * t + k], j = triangles[3 * t + (k + 1) % 3];
      const key = Math.min(i, j) * 0x4000000 + Math.max(i, j);
      if (!first.has(key)) { first.set(key, t); continue; }
      if (dot(at(first.get(key)), at(t)) < 0.82) keep(key);
      first.delete(key);
    }
  }
  for (const key of first.keys()) keep(key);
  return new Float32Array(out);
}

function extreme(places, k, which) {
  let out = places[k];
  for (let i = k; i < places.length; i += 3) out = which(out, places[i]);
  return out;
}

// For machines without a graphics card: one particle in so many, and a share of the pixels, while things move.
const LEVELS = [[1, 1], [2, 0.75], [4, 0.6], [8, 0.5], [16, 0.5], [32, 0.4]];

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "high-performance" });
    // the lens sees `fov` from bottom to top of a picture; parallel: without perspective when it looks straight ahead
    this.camera = { target: [0, 0, 0], yaw: 0.4, pitch: 0.3, distance: 1, fov: 0.52, parallel: false };
    this.glide = null;        // from one camera to another
    this.by_hand = false;
    this.picture = 16 / 9;    // width over height; the server tells it
    this.z_up = false; // yaw and pitch are about the axis that points up
    this.middle = [0, 0, 0];
    this.frame = null;        // the message that is shown
    this.meshes = [];
    this.new_places = [];
    this.new_values = [];
    this.plane = null;        // { normal, offset }
    this.outlines = true;
    this.range = [0, 1];
    this.inset = { right: 0, bottom: 0 };
    this.level = 0;           // of LEVELS: how coarsely it draws while things move
    this.moved = -1e9;
    this.dirty = true;
    this.marked = null;       // a place that is ringed
    this.drawn = null;        // called after each picture
    this.draws = 0;
    if (this.gl) this.prepare();
    canvas.addEventListener("webglcontextlost", event => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.prepare(); this.restored?.(); });
  }

  prepare() {
    const gl = this.gl;
    const program = (vertex, fragment) => {
      const p = gl.createProgram();
      for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        gl.attachShader(p, shader);
      }
      gl.linkProgram(p);
      if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
      const at = {};
      const count = gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS);
      for (let i = 0; i < count; i++) {
        const name = gl.getActiveUniform(p, i).name;
        at[name] = gl.getUniformLocation(p, name);
      }
      return { p, at };
    };
    this.points = program(POINT_VERTEX, POINT_FRAGMENT);
    this.screen = program(SCREEN_VERTEX, SCREEN_FRAGMENT);
    this.mesh = program(MESH_VERTEX, MESH_FRAGMENT);
    this.places = gl.createBuffer();
    this.values = gl.createBuffer();
    this.new_places = [];
    this.new_values = [];
    this.array = gl.createVertexArray();
    this.mesh_array = gl.createVertexArray();
    this.empty = gl.createVertexArray(); // nothing is ever enabled in it
    this.palette = gl.createTexture();
    this.target = null;
    this.meshes = [];
    this.palette_of = null;
    this.frame = null;
    this.dirty = true;
  }

  // ---- what there is ----

  set_scene(scene, data, offset) {
    const gl = this.gl;
    for (const m of this.meshes) { gl.deleteBuffer(m.places); gl.deleteBuffer(m.normals); gl.deleteBuffer(m.index); gl.deleteBuffer(m.edges); }
    this.scene = scene;
    this.ramp = scene.ramp;
    this.palette_of = null;
    const buffer = (kind, array) => {
      const b = gl.createBuffer();
      gl.bindBuffer(kind, b);
      gl.bufferData(kind, array, gl.STATIC_DRAW);
      return b;
    };
    gl.bindVertexArray(null);
    this.meshes = scene.colliders.map(c => {
      const places = new Float32Array(data, offset, 3 * c.vertices);
      const normals = new Float32Array(data, offset + 12 * c.vertices, 3 * c.vertices);
      const index = new Uint32Array(data, offset + 24 * c.vertices, 3 * c.triangles);
      offset += 24 * c.vertices + 12 * c.triangles;
      const times = c.sequence && new Float32Array(data, offset, 3 * c.vertices * c.sequence.count);
      offset += c.sequence ? 12 * c.vertices * c.sequence.count : 0;
      const edges = feature_edges(places, index);
      const box = [0, 1].map(end => [0, 1, 2].map(k => extreme(places, k, end ? Math.max : Math.min)));
      return { box, about: c, times, corners: index, count: index.length, lines: edges.length / 3, position: c.position, rotation: c.rotation,
        places: buffer(gl.ARRAY_BUFFER, places), normals: buffer(gl.ARRAY_BUFFER, normals),
        index: buffer(gl.ELEMENT_ARRAY_BUFFER, index), edges: buffer(gl.ARRAY_BUFFER, edges) };
    });
    this.dirty = true;
  }

  // A collider that deforms, as it is at a time: its vertices go straight on from one time of its sequence to the next.
  deform(mesh, t) {
    const gl = this.gl, { count, fps, start, loop } = mesh.about.sequence, size = 3 * mesh.about.vertices;
    let at = Math.max((t - start) * fps, 0);
    at = loop ? at % count : Math.min(at, count - 1);
    const first = Math.min(Math.floor(at), count - 1), next = first + 1 < count ? first + 1 : loop ? 0 : first;
    const places = new Float32Array(size), normals = new Float32Array(size), share = at - first;
    for (let i = 0; i < size; i++) {
      const a = mesh.times[first * size + i];
      places[i] = a + share * (mesh.times[next * size + i] - a);
    }
    for (let i = 0; i < mesh.corners.length; i += 3) {
      const [p, q, r] = [0, 1, 2].map(k => 3 * mesh.corners[i + k]);
      const u = [0, 1, 2].map(k => places[q + k] - places[p + k]), v = [0, 1, 2].map(k => places[r + k] - places[p + k]);
      for (let k = 0; k < 3; k++) {
        const n = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        normals[p + k] += n; normals[q + k] += n; normals[r + k] += n;
      }
    }
    for (let i = 0; i < size; i += 3) {
      const length = Math.hypot(normals[i], normals[i + 1], normals[i + 2]) || 1;
      for (let k = 0; k < 3; k++) normals[i + k] /= length;
    }
    const edges = feature_edges(places, mesh.corners);
    mesh.lines = edges.length / 3;
    gl.bindVertexArray(null);
    for (const [buffer, array] of [[mesh.places, places], [mesh.normals, normals], [mesh.edges, edges]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    }
  }

  // Codes that are new: all of them, those of some blocks, or none. They go to the graphics card when they are drawn; what
  // another frame replaced before never goes.
  upload(buffer, waiting) {
    const gl = this.gl;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (const { message, about, comps, data, offset } of waiting) {
      const count = message.count * comps;
      if (about.codes === "all") {
        gl.bufferData(gl.ARRAY_BUFFER, new Uint16Array(data, offset, count), gl.DYNAMIC_DRAW);
        continue;
      }
      let used = 0;
      for (const block of about.blocks) {
        const first = block * message.block * comps, size = Math.min(message.block * comps, count - first);
        gl.bufferSubData(gl.ARRAY_BUFFER, 2 * first, new Uint16Array(data, offset + used, size));
        used += 2 * size;
      }
    }
    waiting.length = 0;
  }

  // @returns the bytes that were for it
  take(waiting, message, about, comps, data, offset) {
    if (about.codes === "same") return 0;
    if (about.codes === "all") waiting.length = 0;
    waiting.push({ message, about, comps, data, offset });
    if (about.codes === "all") return 2 * comps * message.count;
    return about.blocks.reduce((sum, b) => sum + 2 * comps * Math.min(message.block, message.count - b * message.block), 0);
  }

  set_frame(message, data, offset) {
    offset += this.take(this.new_places, message, message.places, 3, data, offset);
    this.take(this.new_values, message, message.colors, 1, data, offset);
    for (const [number, p] of Object.entries(message.poses)) {
      const mesh = this.meshes[number];
      if (mesh) { mesh.position = p.slice(0, 3); mesh.rotation = p.slice(3); }
    }
    for (const mesh of this.meshes) if (mesh.times && this.gl) this.deform(mesh, message.frame / this.scene.fps);
    this.frame = message;
    this.dirty = true;
    if (!this.gl) this.new_places.length = this.new_values.length = 0;
    // a page that is not seen draws nothing, and must not keep all that comes
    if (this.gl && this.new_places.length + this.new_values.length > 32) { this.upload(this.places, this.new_places); this.upload(this.values, this.new_values); }
  }

  forget() {
    this.frame = null;
    this.marked = null;
    this.dirty = true;
  }

  // The box of the lattice that is in use, which is a little larger than the particles'.
  set_bounds(low, high) { this.low = low; this.high = high; }

  set_palette(key, hex) {
    if (this.palette_of === key || !this.gl) return;
    this.palette_of = key;
    const gl = this.gl, bytes = new Uint8Array(4 * 256).fill(255);
    for (let i = 0; i < Math.min(256, hex.length / 6); i++)
      for (let k = 0; k < 3; k++) bytes[4 * i + k] = parseInt(hex.substr(6 * i + 2 * k, 2), 16);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, name, value);
  }

  // ---- the camera ----

  look_from(eye, at, fov, parallel = false, smoothly = false) {
    const e = sub(eye, at), d = this.z_up ? [e[0], e[2], -e[1]] : e, distance = Math.max(length(d), 1e-9);
    const to = { target: [...at], distance, yaw: Math.atan2(d[0], d[2]), pitch: Math.asin(Math.max(-1, Math.min(1, d[1] / distance))), fov, parallel };
    this.glide = smoothly ? { from: { ...this.camera }, to, began: performance.now() } : null;
    if (!smoothly) Object.assign(this.camera, to);
    this.changed();
  }

  // Some way from one camera to the other, the short way round.
  glide_on(now) {
    const { from, to, began } = this.glide, t = Math.min(1, Math.max(0, (now - began) / 400)), s = t * t * (3 - 2 * t);
    const mix = (a, b) => a + s * (b - a), turn = to.yaw - from.yaw - 2 * Math.PI * Math.round((to.yaw - from.yaw) / (2 * Math.PI));
    Object.assign(this.camera, { target: from.target.map((v, k) => mix(v, to.target[k])), yaw: from.yaw + s * turn, pitch: mix(from.pitch, to.pitch),
      distance: from.distance * (to.distance / from.distance) ** s, fov: mix(from.fov, to.fov), parallel: to.parallel });
    if (t === 1) { this.glide = null; Object.assign(this.camera, to); }
    this.changed();
  }

  // All of a box, from where the camera looks now.
  fit(low, high, margin = 1.08) {
    const c = this.camera, size = sub(high, low), radius = Math.max(0.5 * length(size), 1e-6);
    const { width, height } = this.room(), share = Math.min(width, height) / this.frame_size().height;
    c.target = add(low, size, 0.5);
    c.distance = margin * radius / Math.sin(Math.atan(Math.tan(0.5 * c.fov) * share));
    this.take_over();
    this.changed();
  }

  // Somebody moves the camera, which nothing else does from now on.
  take_over() { this.glide = null; this.by_hand = true; }

  is_parallel() { return this.camera.parallel && this.camera.yaw === 0 && this.camera.pitch === 0; }

  axes() {
    const { yaw, pitch } = this.camera;
    const back = [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)];
    const right = [Math.cos(yaw), 0, -Math.sin(yaw)], up = cross(back, right);
    const turn = v => this.z_up ? [v[0], -v[2], v[1]] : v;
    return { back: turn(back), right: turn(right), up: turn(up) };
  }

  eye() { return add(this.camera.target, this.axes().back, this.camera.distance); }

  turn(dx, dy) {
    this.take_over();
    this.camera.yaw -= 0.006 * dx;
    this.camera.pitch = Math.max(-1.55, Math.min(1.55, this.camera.pitch + 0.006 * dy));
    this.changed();
  }

  move(dx, dy) {
    this.take_over();
    const { right, up } = this.axes(), c = this.camera;
    const scale = 2 * c.distance * Math.tan(0.5 * c.fov) / this.frame_size().height;
    c.target = add(add(c.target, right, -dx * scale), up, dy * scale);
    this.changed();
  }

  zoom(factor, x, y) {
    // what is under the pointer stays there
    this.take_over();
    const ray = this.ray(x, y), c = this.camera, { back } = this.axes();
    const along = c.distance / Math.max(0.2, -dot(ray.along, back));
    const hit = add(ray.from, ray.along, along);
    c.target = add(hit, sub(c.target, hit), factor);
    c.distance = Math.max(1e-7, c.distance * factor);
    this.changed();
  }

  changed() { this.moved = performance.now(); this.dirty = true; }

  // The part of the window that no panel covers; the target is in the middle of it.
  room() {
    return { width: this.canvas.clientWidth - this.inset.right, height: this.canvas.clientHeight - this.inset.bottom };
  }

  // A picture as `repose render` makes it, as large as it can be in that part and in the middle of it.
  frame_size() {
    const { width, height } = this.room(), h = Math.max(1, Math.min(height - 16, (width - 16) / this.picture));
    return { width: this.picture * h, height: h };
  }

  // Where it stands, to five digits of the distance: as exact as a picture can show.
  place() {
    const digits = Math.max(0, Math.min(20, 5 - Math.floor(Math.log10(this.camera.distance))));
    const round = x => x.map(v => Number(v.toFixed(digits)) + 0);
    return { eye: round(this.eye()), look_at: round(this.camera.target), fov: Number((this.camera.fov * 180 / Math.PI).toFixed(4)) };
  }

  // Of the whole window: half of its height is at 1 / f of the distance.
  focal() { return this.frame_size().height / (this.canvas.clientHeight || 1) / Math.tan(0.5 * this.camera.fov); }

  matrices() {
    const c = this.camera, { back, right, up } = this.axes(), eye = sub(this.eye(), this.middle);
    const reach = this.low ? length(sub(this.high, this.low)) : c.distance;
    const far = 3 * (c.distance + 2 * reach), near = Math.max(1e-4 * far, 1e-3 * c.distance);
    const w = this.canvas.clientWidth || 1, h = this.canvas.clientHeight || 1, f = this.focal();
    const view = new Float32Array([right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1]);
    // the middle of what is free lies left of and above the middle of the window
    const aside = this.inset.right / w, above = this.inset.bottom / h, d = c.distance;
    const lens = this.is_parallel()
      ? [f * h / w / d, 0, 0, 0, 0, f / d, 0, 0, 0, 0, 2 / (near - far), 0, -aside, above, (far + near) / (near - far), 1]
      : [f * h / w, 0, 0, 0, 0, f, 0, 0, aside, -above, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
    return { matrix: times(new Float32Array(lens), view), eye, near, far, f: this.is_parallel() ? f / d : f };
  }

  ray(x, y) {
    const w = this.canvas.clientWidth, h = this.canvas.clientHeight, f = this.focal(), d = this.camera.distance;
    const { back, right, up } = this.axes();
    const px = (2 * x / w - 1 + this.inset.right / w) * w / (h * f), py = (1 - 2 * y / h - this.inset.bottom / h) / f;
    const aside = add(right.map(v => v * px), up, py), spread = 5 * 2 / (h * f);
    return this.is_parallel() ? { from: add(this.eye(), aside, d), along: back.map(v => -v), spread }
      : { from: this.eye(), along: unit(add(aside, back, -1)), spread };
  }

  project(place) {
    const { matrix } = this.matrices(), p = sub(place, this.middle), out = [0, 1, 2, 3].map(r =>
      matrix[r] * p[0] + matrix[4 + r] * p[1] + matrix[8 + r] * p[2] + matrix[12 + r]);
    if (!(out[3] > 0)) return null;
    return [(0.5 + 0.5 * out[0] / out[3]) * this.canvas.clientWidth, (0.5 - 0.5 * out[1] / out[3]) * this.canvas.clientHeight];
  }

  // ---- drawing ----

  resize(share) {
    const gl = this.gl, dpr = share * Math.min(2, window.devicePixelRatio || 1);
    const w = Math.max(1, Math.round(this.canvas.clientWidth * dpr)), h = Math.max(1, Math.round(this.canvas.clientHeight * dpr));
    if (this.target && this.canvas.width === w && this.canvas.height === h) return;
    this.canvas.width = w;
    this.canvas.height = h;
    if (this.target) { gl.deleteFramebuffer(this.target.frame); gl.deleteTexture(this.target.color); gl.deleteTexture(this.target.depth); }
    const texture = (inner, format, type) => {
      const t = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, t);
      gl.texImage2D(gl.TEXTURE_2D, 0, inner, w, h, 0, format, type, null);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      return t;
    };
    const color = texture(gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE);
    const depth = texture(gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, color, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depth, 0);
    this.target = { frame, color, depth };
  }

  // Called for each picture of the display; draws only when something changed.
  tick(now, moving) {
    if (!this.gl || this.gl.isContextLost()) return;
    if (this.glide) this.glide_on(now);
    const size = `${this.canvas.clientWidth} ${this.canvas.clientHeight} ${devicePixelRatio}`;
    if (size !== this.size) { this.size = size; this.dirty = true; }
    const busy = moving || now - this.moved < 250;
    if (busy && this.was_busy) {
      const took = now - this.last;
      this.pace = 0.8 * (this.pace ?? took) + 0.2 * took;
      if (this.pace > 60 && this.level < LEVELS.length - 1) { this.level = Math.min(LEVELS.length - 1, this.level + (took > 250 ? 2 : 1)); this.pace = 40; }
      else if (this.pace < 20 && this.level > 0) { this.level--; this.pace = 40; }
    }
    const level = busy ? this.level : 0;
    if (!busy && this.drawn_level > 0) this.dirty = true;
    this.was_busy = busy;
    this.last = now;
    if (!this.dirty) return;
    this.dirty = false;
    this.drawn_level = level;
    this.draw(level);
    this.draws++;
    this.drawn?.();
  }

  draw(level) {
    const gl = this.gl, m = this.frame, [thin, share] = LEVELS[level];
    this.resize(share);
    this.upload(this.places, this.new_places);
    this.upload(this.values, this.new_values);
    const { matrix, eye, near, far, f } = this.matrices();
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target.frame);
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LESS);
    gl.depthMask(true);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (m && m.count > 0) this.draw_points(m, matrix, thin, f);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.depthFunc(gl.ALWAYS);
    gl.useProgram(this.screen.p);
    gl.bindVertexArray(this.empty);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.target.color);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.target.depth);
    gl.uniform1i(this.screen.at.colors, 0);
    gl.uniform1i(this.screen.at.depths, 1);
    gl.uniform2f(this.screen.at.clip, near, far);
    gl.uniform1f(this.screen.at.strength, level ? 13 : 6.5);
    gl.uniform1i(this.screen.at.taps, level ? 4 : 8);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.activeTexture(gl.TEXTURE0);
    if (this.outlines) this.draw_meshes(matrix, eye);
  }

  draw_points(m, matrix, thin, f) {
    const gl = this.gl, at = this.points.at, count = Math.floor((m.count + thin - 1) / thin);
    gl.useProgram(this.points.p);
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, false, 6 * thin, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.values);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 1, gl.UNSIGNED_SHORT, false, 2 * thin, 0);
    gl.uniformMatrix4fv(at.camera, false, matrix);
    gl.uniform3fv(at.origin, sub(m.places.origin, this.middle));
    gl.uniform3fv(at.unit, m.places.unit);
    const grow = Math.cbrt(m.step * thin);
    const closed = this.scene?.dimension === 2 ? 3.4 : 2.3; // in a slice no others are behind them
    gl.uniform1f(at.size, closed * m.radius * grow * f * 0.5 * this.canvas.height);
    const [low, high] = this.range, span = high > low ? high - low : 1;
    gl.uniform2f(at.map, m.colors.unit[0] / span, (m.colors.origin[0] - low) / span);
    const p = this.plane;
    gl.uniform4f(at.plane, ...(p ? p.normal : [0, 0, 0]), p ? p.offset - dot(p.normal, this.middle) : 1);
    gl.uniform1i(at.classes, m.colors.kind === "numbers" ? 0 : 1);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.uniform1i(at.palette, 0);
    gl.drawArrays(gl.POINTS, 0, count);
    if (m.strays.length) this.draw_strays(m);
  }

  // Those few that the lattice does not reach: one by one, with the place as a constant and the colour from its row.
  draw_strays(m) {
    const gl = this.gl, at = this.points.at;
    const scale = Math.max(...m.strays.flatMap(([, ...x]) => x.map(Math.abs))) / 30000; // "codes" as the shader wants them
    gl.vertexAttribPointer(1, 1, gl.UNSIGNED_SHORT, false, 2, 0);
    gl.disableVertexAttribArray(0);
    gl.uniform3fv(at.origin, sub([0, 0, 0], this.middle));
    gl.uniform3f(at.unit, scale, scale, scale);
    for (const [row, ...x] of m.strays) {
      gl.vertexAttrib3f(0, ...x.map(v => v / scale));
      gl.drawArrays(gl.POINTS, row, 1);
    }
  }

  draw_meshes(matrix, eye) {
    const gl = this.gl, at = this.mesh.at;
    gl.useProgram(this.mesh.p);
    gl.bindVertexArray(this.mesh_array);
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(false);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniformMatrix4fv(at.camera, false, matrix);
    gl.uniform3fv(at.eye, eye);
    for (const mesh of this.meshes) {
      if (mesh.about.look === "hidden") continue;
      const tint = mesh.about.color.map(v => 0.35 + 0.65 * v);
      gl.uniformMatrix4fv(at.pose, false, pose_matrix(mesh.position, mesh.rotation, this.middle));
      gl.uniform4f(at.tint, ...tint, 1);
      gl.uniform1f(at.least, 0.035);
      gl.uniform1f(at.rim, 0.32);
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh.places);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh.normals);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 0, 0);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.index);
      gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
      gl.disableVertexAttribArray(1);
      gl.vertexAttrib3f(1, 0, 1, 0); // lines have no normals, and no rim
      gl.uniform1f(at.least, 0.42);
      gl.uniform1f(at.rim, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh.edges);
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
      gl.drawArrays(gl.LINES, 0, mesh.lines);
    }
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }
}
