"use strict";
// A map of points: WebGL where there is one, else a plain canvas. Positions lie in [-1, 1].

class Scatter {
  constructor(canvas, marks, position) {
    this.canvas = canvas;
    this.marks = marks;
    this.position = position; // Int16Array, x and y by turns
    this.n = position.length / 2;
    this.colour = new Uint8Array(4 * this.n); // alpha 0: hidden
    this.labels = []; // {x, y, text}
    this.picked = this.hovered = -1;
    this.onHover = this.onPick = () => {};
    this.extent = [0, 1].map((axis) => position.reduce((most, v, k) => (k % 2 === axis ? Math.max(most, Math.abs(v)) : most), 1) / 32767);
    this.buildGrid();
    this.painter = glPainter(canvas, position) || plainPainter(canvas, position);
    this.listen();
    this.reset();
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  x(i) { return this.position[2 * i] / 32767; }
  y(i) { return this.position[2 * i + 1] / 32767; }
  visible(i) { return this.colour[4 * i + 3] > 0; }

  // View: a point (x, y) is at (width / 2 + (x - cx) * unit, height / 2 - (y - cy) * unit).
  get unit() {
    return this.zoom * 0.46 * Math.min(this.canvas.clientWidth / this.extent[0], this.canvas.clientHeight / this.extent[1]);
  }
  screen(x, y) {
    return [this.canvas.clientWidth / 2 + (x - this.cx) * this.unit, this.canvas.clientHeight / 2 - (y - this.cy) * this.unit];
  }
  world(px, py) {
    return [this.cx + (px - this.canvas.clientWidth / 2) / this.unit, this.cy - (py - this.canvas.clientHeight / 2) / this.unit];
  }
  get radius() {
    const base = Math.max(1.3, Math.min(4, 120 / Math.sqrt(this.n)));
    return Math.min(12, base * Math.pow(this.zoom, 0.4));
  }

  reset() { this.cx = this.cy = 0; this.zoom = 1; this.draw(); }
  pan(dx, dy) { this.cx -= dx / this.unit; this.cy += dy / this.unit; this.draw(); }
  zoomAt(factor, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    const [x, y] = this.world(px, py);
    this.zoom = Math.max(0.5, Math.min(400, this.zoom * factor));
    const [nx, ny] = this.world(px, py);
    this.cx += x - nx;
    this.cy += y - ny;
    this.draw();
  }
  show(i) {
    this.cx = this.x(i);
    this.cy = this.y(i);
    this.zoom = Math.max(this.zoom, 3);
    this.pick(i);
  }
  pick(i) { this.picked = i; this.draw(); this.onPick(i); }
  hover(i, px, py) {
    if (i !== this.hovered) { this.hovered = i; this.draw(); }
    this.onHover(i, px, py);
  }

  // Points in a grid of square cells, so that the nearest is found without looking at all.
  buildGrid() {
    const side = (this.side = Math.max(1, Math.min(256, Math.floor(Math.sqrt(this.n)))));
    this.start = new Uint32Array(side * side + 1);
    const cell = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) {
      cell[i] = this.cell(this.y(i)) * side + this.cell(this.x(i));
      this.start[cell[i] + 1]++;
    }
    for (let c = 0; c < side * side; c++) this.start[c + 1] += this.start[c];
    this.inCell = new Uint32Array(this.n);
    const next = this.start.slice();
    for (let i = 0; i < this.n; i++) this.inCell[next[cell[i]]++] = i;
  }
  cell(v) { return Math.max(0, Math.min(this.side - 1, Math.floor((v + 1) / 2 * this.side))); }
  nearest(px, py) {
    const reach = this.radius + 8;
    const [x0, y0] = this.world(px - reach, py + reach), [x1, y1] = this.world(px + reach, py - reach);
    const [x, y] = this.world(px, py);
    let best = -1, least = (reach / this.unit) ** 2;
    for (let r = this.cell(y0); r <= this.cell(y1); r++) {
      for (let c = this.cell(x0); c <= this.cell(x1); c++) {
        for (let k = this.start[r * this.side + c]; k < this.start[r * this.side + c + 1]; k++) {
          const i = this.inCell[k], d = (this.x(i) - x) ** 2 + (this.y(i) - y) ** 2;
          if (d < least && this.visible(i)) { least = d; best = i; }
        }
      }
    }
    return best;
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }
  drawNow() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
    if (!width || !height) return;
    for (const c of [this.canvas, this.marks]) {
      if (c.width !== width || c.height !== height) { c.width = width; c.height = height; }
    }
    this.painter(this, width, height, ratio);
    this.drawMarks(ratio);
  }
  drawMarks(ratio) {
    const pen = this.marks.getContext("2d"), style = getComputedStyle(this.marks);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.marks.width, this.marks.height);
    // Printers get the plain canvas only: what WebGL has drawn must be on it.
    if (this.printing) pen.drawImage(this.canvas, 0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    pen.font = "600 14px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.strokeStyle = getComputedStyle(this.marks.parentElement).backgroundColor;
    pen.fillStyle = style.color;
    const taken = [];
    for (const { x, y, text } of this.labels) {
      const [px, at] = this.screen(x, y), py = at - this.radius - 9, half = pen.measureText(text).width / 2 + 3;
      const box = [px - half, py - 9, px + half, py + 9];
      if (taken.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) continue;
      taken.push(box);
      pen.lineWidth = 5;
      pen.strokeText(text, px, py);
      pen.fillText(text, px, py);
    }
    pen.strokeStyle = style.color;
    for (const [i, thick] of [[this.hovered, 1.5], [this.picked, 2.5]]) {
      if (i < 0) continue;
      pen.lineWidth = thick;
      pen.beginPath();
      pen.arc(...this.screen(this.x(i), this.y(i)), this.radius + 4, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  listen() {
    const canvas = this.canvas, down = new Map();
    let moved = 0;
    const place = (e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      down.set(e.pointerId, place(e));
      moved = 0;
    });
    canvas.addEventListener("pointermove", (e) => {
      const here = place(e), before = down.get(e.pointerId);
      if (!before) { this.hover(this.nearest(...here), ...here); return; }
      const others = [...down].filter(([id]) => id !== e.pointerId);
      if (others.length) {
        const other = others[0][1], away = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        this.zoomAt(away(here) / away(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
        this.pan((here[0] - before[0]) / 2, (here[1] - before[1]) / 2);
      } else this.pan(here[0] - before[0], here[1] - before[1]);
      moved += Math.hypot(here[0] - before[0], here[1] - before[1]);
      down.set(e.pointerId, here);
    });
    const up = (e) => {
      if (!down.delete(e.pointerId) || moved > 5 || e.type !== "pointerup") return;
      const here = place(e), i = this.nearest(...here);
      this.pick(i);
      this.hover(i, ...here);
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => this.hover(-1, 0, 0));
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoomAt(Math.exp(-Math.max(-60, Math.min(60, e.deltaY)) * 0.004), ...place(e));
    }, { passive: false });
    const step = (by) => {
      for (let k = 1, i = this.picked; k <= this.n; k++) {
        i = (i + by + this.n) % this.n;
        if (this.visible(i)) return this.pick(i);
      }
    };
    const keys = {
      ArrowLeft: () => this.pan(50, 0), ArrowRight: () => this.pan(-50, 0),
      ArrowUp: () => this.pan(0, 50), ArrowDown: () => this.pan(0, -50),
      "+": () => this.zoomAt(1.4), "=": () => this.zoomAt(1.4), "-": () => this.zoomAt(1 / 1.4),
      0: () => this.reset(), n: () => step(1), p: () => step(-1), Escape: () => this.pick(-1),
    };
    canvas.addEventListener("keydown", (e) => {
      if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); keys[e.key](); }
    });
  }
}

function glPainter(canvas, position) {
  const gl = canvas.getContext("webgl", { preserveDrawingBuffer: true, premultipliedAlpha: true, antialias: false });
  if (!gl) return null;
  const shader = (kind, source) => {
    const made = gl.createShader(kind);
    gl.shaderSource(made, source);
    gl.compileShader(made);
    return made;
  };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, `
    attribute vec2 position; attribute vec4 colour; uniform vec2 scale, centre; uniform mediump float size; varying vec4 shade;
    void main() { gl_Position = vec4((position - centre) * scale, 0.0, 1.0); gl_PointSize = size; shade = colour;
      if (colour.a == 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0); }`));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `
    precision mediump float; varying vec4 shade; uniform mediump float size;
    void main() { float far = length(gl_PointCoord - 0.5) * size;
      float a = shade.a * clamp(size * 0.5 - far, 0.0, 1.0); gl_FragColor = vec4(shade.rgb * a, a); }`));
  gl.linkProgram(program);
  const buffers = {};
  for (const name of ["position", "colour"]) buffers[name] = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers.position);
  gl.bufferData(gl.ARRAY_BUFFER, position, gl.STATIC_DRAW);
  const bind = (name, size, type) => {
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, true, 0, 0);
  };
  return (map, width, height, ratio) => {
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    bind("position", 2, gl.SHORT);
    bind("colour", 4, gl.UNSIGNED_BYTE);
    gl.bufferData(gl.ARRAY_BUFFER, map.colour, gl.DYNAMIC_DRAW);
    gl.uniform2f(gl.getUniformLocation(program, "scale"), 2 * ratio * map.unit / width, 2 * ratio * map.unit / height);
    gl.uniform2f(gl.getUniformLocation(program, "centre"), map.cx, map.cy);
    gl.uniform1f(gl.getUniformLocation(program, "size"), 2 * ratio * map.radius + 1);
    gl.drawArrays(gl.POINTS, 0, map.n);
  };
}

function plainPainter(canvas) {
  const pen = canvas.getContext("2d");
  return (map, width, height, ratio) => {
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const side = 2 * map.radius, c = map.colour;
    for (let i = 0; i < map.n; i++) {
      if (!map.visible(i)) continue;
      const [px, py] = map.screen(map.x(i), map.y(i));
      pen.fillStyle = `rgba(${c[4 * i]},${c[4 * i + 1]},${c[4 * i + 2]},${c[4 * i + 3] / 255})`;
      pen.fillRect(px - map.radius, py - map.radius, side, side);
    }
  };
}
