// Maps: boxes by type, seen from above and in space, the graph of waypoints, and the record of what lies under the pointer.
const { el } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const { Look } = shapes;
const LISTED = 200;
const CLUSTER = 44; // the side of a square in which dots become one disc, in pixels
const CLUSTERED = 6; // the dots that do
const LINK = [0x0b, 0x6e, 0x4f];
// A cube from -1 to 1: its corners as 16 bits, its edges, and its faces.
const CUBE = { vertices: 8, triangles: 12, indexed: true, normals: true, min: [-1, -1, -1], max: [1, 1, 1] };
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];
const FACES = [0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5];

const cube = () => {
  const words = new Uint16Array(32);
  for (let c = 0; c < 8; c++) for (let axis = 0; axis < 3; axis++) words[c * 4 + axis] = (c >> axis) & 1 ? 65535 : 0;
  return { vertices: new Uint8Array(words.buffer), words, indices: new Uint32Array(FACES), lines: new Uint32Array(EDGES), plates: null };
};

// A convex outline, counterclockwise.
/** @type {(points: Point[]) => Point[]} */
const outline = (points) => {
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  /** @type {(a: Point, b: Point, c: Point) => number} */
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const chain = (/** @type {Point[]} */ all) => {
    /** @type {Point[]} */
    const kept = [];
    for (const p of all) {
      while (kept.length > 1 && turn(kept[kept.length - 2], kept[kept.length - 1], p) <= 0) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return points.length < 3 ? points : [...chain(points), ...chain(points.reverse())];
};

/** @type {(polygon: Point[], x: number, z: number) => boolean} */
const contains = (polygon, x, z) => {
  let inside = false;
  polygon.forEach(([ax, az], i) => {
    const [bx, bz] = polygon[(i + 1) % polygon.length];
    if (az > z !== bz > z && x < ((bx - ax) * (z - az)) / (bz - az) + ax) inside = !inside;
  });
  return inside;
};

// The paths along links that begin at some points: which links they take, each once, and how long these are.
/** @type {(links: ChartLink[], isStart: (point: Point) => boolean) => ChartPath} */
const pathFrom = (links, isStart) => {
  const key = (/** @type {Point} */ point) => point.join();
  /** @type {Map<string, [Point, ChartLink][]>} */
  const next = new Map();
  /** @type {(from: Point, to: Point, link: ChartLink) => void} */
  const lead = (from, to, link) => void next.set(key(from), [...(next.get(key(from)) ?? []), [to, link]]);
  for (const link of links) {
    lead(link.from, link.to, link);
    if (link.back) lead(link.to, link.from, link);
  }
  const reached = new Set();
  /** @type {Point[]} */
  const left = [];
  const reach = (/** @type {Point} */ point) => {
    if (reached.has(key(point))) return;
    reached.add(key(point));
    left.push(point);
  };
  for (const { from, to } of links) [from, to].filter(isStart).forEach(reach);
  const taken = new Set();
  for (let from = left.pop(); from; from = left.pop()) {
    for (const [to, link] of next.get(key(from)) ?? []) {
      taken.add(link);
      reach(to);
    }
  }
  const length = [...taken].reduce((sum, link) => sum + Math.hypot(...shapes.add(link.to, link.from, -1)), 0);
  return { links: [...taken], points: reached.size, length };
};

/** @type {(name: string, otherwise: string) => string} */
const style = (name, otherwise) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || otherwise;

/** @type {(how: string, hidden: boolean) => HTMLCanvasElement} */
const canvas = (how, hidden) => el("canvas", { class: "scene-canvas", tabindex: "0", hidden, "aria-label": `${how}, + and - zoom` });

/** @extends {Look<ChartBox, ChartMeta>} */
class Chart extends Look {
  /** @type {Set<number>} */
  off = new Set();
  // Whether names and waypoints are drawn.
  labels = true;
  links = true;
  /** @type {ChartBox | null} */
  chosen = null;
  /** @type {ChartPath | null} */
  path = null;
  isFlat = true;
  isFitted = false;
  hasMoved = false;
  inMemory = false;
  judged = 0;
  /** @type {Pen | null} */
  context = null;
  isLight = true;
  scale = 1;
  shift = [0, 0];
  camera = new shapes.Camera();
  bounds = shapes.nowhere();
  /** @type {ChartBox[]} */
  boxes = [];
  /** @type {ChartLink[]} */
  linkList = [];
  /** @type {{ center: Point, range: number }[]} */
  ranges = [];
  /** @type {ChartKind[]} */
  kinds = [];
  // The boxes in the order of their numbers in space.
  /** @type {ChartBox[]} */
  byNumber = [];
  /** @type {any[]} */
  models = [];
  /** @type {any} */
  linkModel;
  // The discs and the names of the last frame: left, top, right and bottom.
  /** @type {number[][]} */
  clusters = [];
  /** @type {number[][]} */
  named = [];
  /** @type {HTMLElement[]} */
  swatches = [];
  plan = canvas(`${this.title}: drag or arrow keys move`, false);
  space = canvas(`${this.title}: drag or arrow keys turn`, true);
  toggle = el("button", { title: "From above or in space (V)", onclick: () => this.turnOver() }, "3D");
  search = el("input", { type: "search", placeholder: "Find a name", "aria-label": "Find a name", oninput: () => this.find() });
  naming = this.showing("Labels", "labels");
  found = el("div", { class: "scene-list" });
  place = el("output", { class: "map-place", hidden: true });
  /** @type {Record<string, () => void>} */
  acts = { f: () => this.fit(), Home: () => this.fit(), v: () => this.turnOver(), Escape: () => this.choose(null) };

  async load() {
    const { meta, page } = this;
    const [rows, texts, ...floats] = await Promise.all([meta.rows, meta.texts, meta.boxes, meta.links, meta.ranges].map((name) => page.block(name)));
    const [numbers, links, ranges] = floats.map((b) => new Float32Array(b.buffer, b.byteOffset, b.byteLength / 4));
    const which = new Uint32Array(rows.buffer, rows.byteOffset, rows.byteLength / 4);
    /** @type {{ names: string[], targets: [number, string][] }} */
    const { names, targets } = JSON.parse(new TextDecoder().decode(texts));
    const leads = new Map(targets);
    /** @type {(of: Float32Array, at: number) => Point} */
    const three = (of, at) => [...of.subarray(at, at + 3)];
    this.boxes = names.map((name, i) => {
      const [center, ...sides] = [0, 3, 6, 9].map((at) => three(numbers, i * 12 + at));
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => [0, 2].map((k) => sides.reduce((sum, side, s) => sum + ((c >> s) & 1 ? side[k] : -side[k]), center[k])));
      return { name, target: leads.get(i) ?? "", kind: which[i * 2], row: which[i * 2 + 1], center, sides, outline: outline(corners), reach: Math.max(...[0, 2].map((k) => sides.reduce((sum, side) => sum + Math.abs(side[k]), 0))) };
    });
    for (let i = 0; i < links.length; i += 9) this.linkList.push({ from: three(links, i), to: three(links, i + 3), back: links[i + 6] === 1 });
    for (let i = 0; i < ranges.length; i += 6) this.ranges.push({ center: three(ranges, i), range: ranges[i + 3] });
    this.kinds = meta.kinds.map((kind, i) => ({ ...kind, colour: kind.colour.map((c) => c / 255), count: this.boxes.filter((box) => box.kind === i).length }));
  }

  build() {
    const bar = el("div", { class: "bar scene-bar" }, this.toggle, el("button", { title: "Show all (F)", onclick: () => this.fit() }, "Fit"), this.naming);
    if (this.linkList.length || this.ranges.length) bar.append(this.showing("Waypoints", "links"));
    bar.append(this.search, el("button", { title: "Save the picture", onclick: () => this.picture() }, "Save PNG"));
    const hide = (/** @type {number} */ i) => (/** @type {boolean} */ on) => (this.off[on ? "delete" : "add"](i), this.redraw());
    this.swatches = this.kinds.map((kind, i) => shapes.line(kind.colour, kind.name, kind.count.toLocaleString("en"), { checked: true, change: hide(i) }).row);
    const notes = ["From above, x leads to the right and z to the top."];
    notes.push(...this.meta.notes);
    if (this.meta.withoutPlace) notes.unshift(`${this.meta.withoutPlace} records describe no space, and are not drawn.`);
    this.lay(bar, [this.plan, this.space, this.place], [this.found, el("div", {}, this.swatches), ...notes.map((text) => el("p", { class: "scene-note" }, text))]);
    this.steerPlan();
    this.view.addEventListener("pointermove", (event) => this.locate(event));
    this.view.addEventListener("pointerleave", () => (this.place.hidden = true));
    this.steer(this.space, (by) => ((this.isFitted = false), shapes.follow(this.camera, by)), this.acts);
    document.addEventListener("assetq-theme", () => this.paint());
    this.paint();
    this.fit();
    this.element.dataset.ready = "1";
  }

  // A box that shows names or waypoints.
  /** @param {string} text @param {"labels" | "links"} name */
  showing(text, name) { return shapes.check(text, "", (isOn) => ((this[name] = isOn), this.redraw()), true).label; }

  steerPlan() {
    this.steer(this.plan, ({ turn, pan, zoom, at }) => {
      const d = turn ?? pan;
      this.isFitted = false;
      const height = this.plan.clientHeight;
      if (d) this.shift = this.shift.map((v, i) => v + d[i] * height);
      if (zoom) this.zoom(1 / zoom, at);
      this.hasMoved = true;
    }, this.acts);
  }

  // The scale and shift that show all, from above; and the eye that does in space.
  fit() {
    const { min, max } = shapes.nowhere();
    for (const { center, sides } of this.boxes) {
      for (let i = 0; i < 3; i++) {
        const reach = sides.reduce((sum, side) => sum + Math.abs(side[i]), 0);
        [min[i], max[i]] = [Math.min(min[i], center[i] - reach), Math.max(max[i], center[i] + reach)];
      }
    }
    const [low, high] = this.boxes.length ? [min, max] : [[0, 0, 0], [1, 1, 1]];
    const [width, height] = this.size();
    this.scale = 0.92 * Math.min(width / Math.max(high[0] - low[0], 1e-6), height / Math.max(high[2] - low[2], 1e-6));
    this.center(low.map((v, i) => (v + high[i]) / 2));
    this.bounds = { min: [-high[0], low[1], low[2]], max: [-low[0], high[1], high[2]] };
    this.camera.look(Math.PI, 0.9);
    this.camera.fit(this.bounds.min, this.bounds.max, width / height);
    this.isFitted = true;
    this.redraw();
  }

  refit() {
    if (this.isFitted) this.fit();
    else this.redraw();
  }

  size() {
    const { clientWidth, clientHeight } = this.isFlat ? this.plan : this.space;
    return [clientWidth || 800, clientHeight || 600];
  }

  // Puts a point into the middle.
  /** @param {Point} point */
  center([x, , z]) {
    const [width, height] = this.size();
    this.shift = [width / 2 - x * this.scale, height / 2 + z * this.scale];
  }

  /** @type {(factor: number, at?: number[]) => void} */
  zoom(factor, at) {
    const box = this.plan.getBoundingClientRect();
    const from = at ? [at[0] - box.left, at[1] - box.top] : [box.width / 2, box.height / 2];
    this.scale *= factor;
    this.shift = from.map((v, i) => v - (v - this.shift[i]) * factor);
  }

  /** @type {(x: number, z: number) => [number, number]} */
  onPaper(x, z) {
    return [x * this.scale + this.shift[0], this.shift[1] - z * this.scale];
  }

  // Shows the coordinates of the point under the pointer.
  /** @param {MouseEvent} event */
  locate({ clientX, clientY }) {
    this.place.hidden = !this.isFlat;
    const box = this.plan.getBoundingClientRect();
    const scale = this.scale / this.unit;
    const [x, z] = [(clientX - box.left - this.shift[0]) / scale, (this.shift[1] - (clientY - box.top)) / scale];
    const digits = Math.max(0, Math.min(4, Math.ceil(Math.log10(scale))));
    const text = (/** @type {number} */ value) => value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    this.place.textContent = `x ${text(x)}  z ${text(z)}${this.meta.metres ? "  m" : ""}`;
  }

  turnOver() {
    this.place.hidden = true;
    this.isFlat = !this.isFlat;
    this.plan.hidden = !this.isFlat;
    this.space.hidden = this.isFlat;
    this.toggle.textContent = this.isFlat ? "3D" : "2D";
    this.tip.hidden = true;
    this.naming.hidden = !this.isFlat;
    if (!this.isFlat && this.renderer === undefined) this.startSpace();
    (this.isFlat ? this.plan : this.space).focus({ preventScroll: true });
    this.redraw();
  }

  // The same boxes in space: a cube for each type, at all of its places. The map is left-handed, so x is turned around.
  startSpace() {
    this.renderer = shapes.Renderer.on(this.space, () => this.redraw());
    if (!this.renderer) {
      return this.refuse(this.view, "The view from above works");
    }
    this.byNumber = [];
    let first = 0;
    /** @type {(colour: number[], all: Point[][]) => any} */
    const model = (colour, all) => {
      const matrices = new Float32Array(all.length * 12);
      all.forEach((columns, i) => columns.forEach(([x, y, z], column) => matrices.set([-x, y, z], i * 12 + column * 3)));
      const made = { part: CUBE, solid: cube(), colour: [...colour, 0.18], twoSided: true, lines: true, isFlat: true, first, stride: 1, isShown: true, matrices };
      first += all.length;
      return made;
    };
    this.models = this.kinds.map(({ colour }, kind) => {
      const boxes = this.boxes.filter((box) => box.kind === kind);
      this.byNumber.push(...boxes);
      // A box without a size is a small cube.
      const least = Math.max(...this.bounds.max.map((v, k) => v - this.bounds.min[k])) / 600;
      const cubes = [[least, 0, 0], [0, least, 0], [0, 0, least]];
      return model(colour, boxes.map((box) => [...(box.reach > 0 ? box.sides : cubes), box.center]));
    });
    // A link is a cube so thin that it is a line.
    const line = (/** @type {ChartLink} */ { from, to }) => [from.map((v, k) => (to[k] - v) / 2), [0, 0, 0], [0, 0, 0], from.map((v, k) => (v + to[k]) / 2)];
    this.linkModel = model(LINK.map((c) => c / 255), this.linkList.map(line));
    Object.assign(this.renderer, { models: [...this.models, this.linkModel], bounds: this.bounds });
  }

  /** @param {boolean} [moves] */
  draw(moves) {
    if (this.isFlat) return void (this.plan.clientWidth && this.drawPlan());
    if (!this.renderer || !this.space.clientWidth) return;
    this.models.forEach((model, kind) => (model.isShown = !this.off.has(kind)));
    this.linkModel.isShown = this.links;
    const numberOf = (/** @type {ChartBox | null} */ box) => (box ? this.byNumber.indexOf(box) : shapes.NONE);
    [this.renderer.chosen, this.renderer.under] = [numberOf(this.chosen), numberOf(this.under)];
    this.renderer.draw(this.camera, moves);
  }

  // The colours of the kinds are made for paper: on a dark page they are lighter, on the map, in the lists and in pictures.
  /** @param {number[]} colour */
  ink(colour) {
    return this.isLight ? colour : colour.map((c) => 0.35 + c * 0.65);
  }

  paint() {
    this.isLight = luminance(this.pen, style("--bg", "#fff")) > 0.5;
    this.swatches.forEach((row, i) => (/** @type {HTMLElement} */ (row.querySelector(".scene-swatch")).style.background = shapes.css(this.ink(this.kinds[i].colour))));
    this.redraw();
  }

  // The pen of the map. Without a GPU, a canvas in memory is several times as fast as an accelerated canvas. The first frames
  // decide which canvas stays.
  get pen() {
    return (this.context ??= /** @type {Pen} */ (this.plan.getContext("2d", { willReadFrequently: this.inMemory })));
  }

  /** @param {number} began */
  judge(began) {
    if (this.inMemory || this.judged >= 3) return;
    // Reading a pixel waits for what was drawn.
    this.pen.getImageData(0, 0, 1, 1);
    this.judged = performance.now() - began > 40 ? this.judged + 1 : 3;
    if (this.judged !== 2) return;
    const old = this.plan;
    this.plan = /** @type {HTMLCanvasElement} */ (old.cloneNode());
    [this.context, this.inMemory] = [null, true];
    const hadFocus = document.activeElement === old;
    old.replaceWith(this.plan);
    this.steerPlan();
    if (hadFocus) this.plan.focus({ preventScroll: true });
    // Now rather than in the next frame: until then the map would be empty, also in a picture that is being saved.
    this.drawPlan();
  }

  drawPlan() {
    const { plan } = this;
    const began = performance.now();
    const scale = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = this.size();
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (plan.width !== wide || plan.height !== high) Object.assign(plan, { width: wide, height: high });
    const { pen } = this;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const shown = this.boxes.filter((box) => !this.off.has(box.kind));
    /** @type {number[][]} */
    const small = [];
    const trace = (/** @type {ChartBox} */ box) => {
      box.outline.forEach(([x, z], i) => pen[i ? "lineTo" : "moveTo"](x * this.scale + this.shift[0], this.shift[1] - z * this.scale));
      pen.closePath();
    };
    // The boxes that are in sight, by kind: each kind is one path. A box smaller than a few pixels gets a dot.
    for (const [kind, { colour }] of this.kinds.entries()) {
      const fill = shapes.css(this.ink(colour));
      [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [fill, fill, 1.2];
      /** @type {number[][]} */
      const dots = [];
      pen.beginPath();
      for (const box of shown) {
        if (box.kind !== kind) continue;
        const [x, y] = this.onPaper(box.center[0], box.center[2]);
        const reach = box.reach * this.scale;
        if (x + reach < 0 || y + reach < 0 || x - reach > width || y - reach > height) continue;
        if (reach < 2.5) dots.push([x, y, kind]);
        else trace(box);
      }
      pen.globalAlpha = 0.13;
      pen.fill();
      pen.globalAlpha = 1;
      pen.stroke();
      small.push(...dots);
    }
    if (this.under) {
      pen.beginPath();
      trace(this.under);
      [pen.fillStyle, pen.globalAlpha] = [shapes.css(this.ink(this.kinds[this.under.kind].colour)), 0.3];
      pen.fill();
      pen.globalAlpha = 1;
    }
    if (this.links) this.drawLinks(pen, shapes.css(this.ink(LINK.map((c) => c / 255))));
    if (this.path?.links.length) this.drawPath(pen);
    this.drawDots(pen, small);
    if (this.chosen) {
      pen.beginPath();
      trace(this.chosen);
      [pen.strokeStyle, pen.lineWidth] = [style("--accent", "#06c"), 3];
      pen.stroke();
    }
    if (this.labels) this.drawLabels(pen, shown, [width, height]);
    this.drawScale(pen, height);
    this.judge(began);
  }

  // Dots of small boxes. Where many are close to each other, one disc states their number, in the colour of most of them.
  /** @param {Pen} pen @param {number[][]} dots */
  drawDots(pen, dots) {
    /** @type {Map<string, number[][]>} */
    const cells = new Map();
    for (const dot of dots) {
      const key = `${Math.floor(dot[0] / CLUSTER)},${Math.floor(dot[1] / CLUSTER)}`;
      cells.set(key, [...(cells.get(key) ?? []), dot]);
    }
    this.clusters = [];
    const fills = this.kinds.map(({ colour }) => shapes.css(this.ink(colour)));
    for (const cell of cells.values()) {
      if (cell.length < CLUSTERED) {
        for (const [x, y, kind] of cell) {
          pen.fillStyle = fills[kind];
          pen.fillRect(x - 2, y - 2, 4, 4);
        }
        continue;
      }
      const counts = new Map();
      for (const [, , kind] of cell) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const [[most]] = [...counts].sort((a, b) => b[1] - a[1]);
      const [x, y] = [0, 1].map((i) => cell.reduce((sum, dot) => sum + dot[i], 0) / cell.length);
      const text = cell.length.toLocaleString("en");
      Object.assign(pen, { font: "bold 11px system-ui, sans-serif", textAlign: "center", textBaseline: "middle" });
      const radius = Math.max(9, pen.measureText(text).width / 2 + 5);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
      pen.fillStyle = style("--bg", "#fff");
      pen.fill();
      Object.assign(pen, { lineWidth: 2, strokeStyle: fills[most] });
      pen.stroke();
      pen.fillStyle = style("--fg", "#000");
      pen.fillText(text, x, y);
      this.clusters.push([x - radius, y - radius, x + radius, y + radius]);
    }
    pen.textBaseline = "alphabetic";
  }

  // The links that lead on from what is chosen.
  /** @param {Pen} pen */
  drawPath(pen) {
    Object.assign(pen, { strokeStyle: style("--accent", "#06c"), lineWidth: 3.5, lineCap: "round" });
    pen.beginPath();
    for (const { from, to } of this.path?.links ?? []) {
      pen.moveTo(...this.onPaper(from[0], from[2]));
      pen.lineTo(...this.onPaper(to[0], to[2]));
    }
    pen.stroke();
    pen.lineCap = "butt";
  }

  // A bar of a round length, and the directions of the axes.
  /** @param {Pen} pen @param {number} height */
  drawScale(pen, height) {
    const scale = this.scale / this.unit;
    const length = shapes.round(140 / scale);
    const long = length * scale;
    const [left, bottom] = [16, height - 16];
    const [ink, paper] = [style("--fg", "#000"), style("--card", "#fff")];
    Object.assign(pen, { fillStyle: paper, globalAlpha: 0.85 });
    pen.fillRect(left - 12, bottom - 78, Math.max(long, 60) + 26, 92);
    pen.globalAlpha = 1;
    /** @type {(words: string, x: number, y: number, align: string) => void} */
    const text = (words, x, y, align) => {
      Object.assign(pen, { font: "12px system-ui, sans-serif", textAlign: align, lineJoin: "round", lineWidth: 3, strokeStyle: paper, fillStyle: ink });
      pen.strokeText(words, x, y);
      pen.fillText(words, x, y);
    };
    Object.assign(pen, { strokeStyle: ink, lineWidth: 1.5 });
    pen.beginPath();
    pen.moveTo(left, bottom - 5);
    pen.lineTo(left, bottom);
    pen.lineTo(left + long, bottom);
    pen.lineTo(left + long, bottom - 5);
    // The axes: x to the right, z to the top.
    const [x, y] = [left, bottom - 34];
    pen.moveTo(x, y - 26);
    pen.lineTo(x, y);
    pen.lineTo(x + 26, y);
    pen.moveTo(x - 4, y - 20);
    pen.lineTo(x, y - 27);
    pen.lineTo(x + 4, y - 20);
    pen.moveTo(x + 20, y - 4);
    pen.lineTo(x + 27, y);
    pen.lineTo(x + 20, y + 4);
    pen.stroke();
    text(`${length.toLocaleString("en", { maximumSignificantDigits: 3 })} ${this.unitName}`, left + long / 2, bottom - 8, "center");
    text("z", x, y - 32, "center");
    text("x", x + 32, y + 4, "left");
  }

  /** @param {Pen} pen @param {string} colour */
  drawLinks(pen, colour) {
    [pen.strokeStyle, pen.fillStyle] = [colour, colour];
    for (const { from, to, back } of this.linkList) {
      const [[ax, ay], [bx, by]] = [this.onPaper(from[0], from[2]), this.onPaper(to[0], to[2])];
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.moveTo(ax, ay);
      pen.lineTo(bx, by);
      const length = Math.hypot(bx - ax, by - ay);
      if (!back && length > 8) {
        const [dx, dy] = [((bx - ax) / length) * 7, ((by - ay) / length) * 7];
        pen.moveTo(bx - dx - dy / 2, by - dy + dx / 2);
        pen.lineTo(bx, by);
        pen.lineTo(bx - dx + dy / 2, by - dy - dx / 2);
      }
      pen.stroke();
    }
    for (const { center, range } of this.ranges) {
      const [x, y] = this.onPaper(center[0], center[2]);
      const circle = (/** @type {number} */ radius) => (pen.beginPath(), pen.arc(x, y, radius, 0, 7));
      circle(2.5);
      pen.fill();
      if (!(range * this.scale > 3 && range * this.scale < 4000)) continue;
      pen.lineWidth = 0.6;
      pen.setLineDash([3, 3]);
      circle(range * this.scale);
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  // Names, as many as there is room for: what leads elsewhere first, then what is large.
  /** @param {Pen} pen @param {ChartBox[]} shown @param {number[]} size */
  drawLabels(pen, shown, [width, height]) {
    Object.assign(pen, { font: "11px system-ui, sans-serif", textAlign: "center", lineJoin: "round", lineWidth: 3 });
    [pen.strokeStyle, pen.fillStyle] = [style("--card", "#fff"), style("--fg", "#000")];
    // Names keep clear of discs and of the scale.
    const taken = [...this.clusters, [0, height - 90, 190, height]];
    const isFirst = (/** @type {ChartBox} */ box) => box === this.chosen || box.target;
    // A number is no name, and neither are the hexadecimal groups of an id.
    const isNamed = (/** @type {ChartBox} */ box) => !isFirst(box) && !/^0x[\dA-F]+$|^[\dA-F]{8}(\.[\dA-F]{8})+$/.test(box.name);
    // A map full of names shows nothing else.
    let left = Math.min(400, Math.ceil((width * height) / 12_000));
    for (const box of [...shown.filter(isFirst), ...shown.filter(isNamed)]) {
      let [x, y] = this.onPaper(box.center[0], box.center[2]);
      // The name of a small box stands below its dot.
      if (box.reach * this.scale < 8) y += 11;
      if (!left || x < 0 || y < 0 || x > width || y > height) continue;
      const lines = (box.target ? [box.name, `→ ${box.target}`] : [box.name]).map((text) => this.page.clean(text.length > 60 ? `${text.slice(0, 59)}…` : text));
      const wide = Math.max(...lines.map((text) => pen.measureText(text).width)) + 6;
      x = Math.max(Math.min(x, width - wide / 2), wide / 2);
      if (box !== this.chosen && this.clusters.some(([l, t, r, b]) => x > l && x < r && y > t - 12 && y < b + 12)) continue;
      const own = [x - wide / 2, y - 8, x + wide / 2, y + 12 * lines.length - 6];
      if (taken.some(([l, t, r, b]) => own[0] < r && own[2] > l && own[1] < b && own[3] > t)) continue;
      taken.push(own);
      left--;
      this.named = taken;
      lines.forEach((text, i) => (pen.strokeText(text, x, y + 4 + i * 12), pen.fillText(text, x, y + 4 + i * 12)));
    }
  }

  // The box at a point of the page: the smallest of those that lie there, or in space the nearest.
  /** @type {(x: number, y: number) => ChartBox | null} */
  at(x, y) {
    if (!this.isFlat) return this.byNumber[this.renderer?.pick(this.camera, x, y) ?? -1] ?? null;
    const box = this.plan.getBoundingClientRect();
    const [mx, mz] = [(x - box.left - this.shift[0]) / this.scale, (this.shift[1] - (y - box.top)) / this.scale];
    return this.boxes.findLast((one) => !this.off.has(one.kind) && contains(one.outline, mx, mz)) ?? null;
  }

  /** @type {(box: ChartBox) => Fact[]} */
  facts(box) {
    /** @type {(all: number[], sign: string) => string} */
    const joined = (all, sign) => all.map((v) => (v * this.unit).toLocaleString("en", { maximumFractionDigits: 2 })).join(sign) + (this.meta.metres ? " m" : "");
    const size = this.meta.metres && box.reach > 0 ? joined(box.sides.map((side) => 2 * Math.hypot(...side)), " × ") : "";
    /** @type {Fact[]} */
    const facts = [["type", this.kinds[box.kind].name], ["name", box.name], ["leads to", box.target], ["at", joined(box.center, ", ")], ["size", size]];
    return facts.filter(([, text]) => text !== "");
  }

  // Further fields of a box's record.
  /** @type {(box: ChartBox, facts: Fact[]) => Promise<Fact[]>} */
  async more(box, facts) {
    const row = await this.page.row?.(this.kinds[box.kind].table, box.row);
    const known = (row ?? []).filter(([name, text]) => name !== "name" && text !== "" && text !== null);
    // Its place comes last: the map shows it.
    const isPlace = (/** @type {Fact} */ [name]) => /_[xyzw]$/.test(name);
    return [...facts, ...known.filter((cell) => !isPlace(cell)), ...known.filter(isPlace)];
  }

  /** @param {ChartBox | null} box */
  async choose(box, moves = false) {
    this.chosen = box;
    this.path = box && pathFrom(this.linkList, ([x, y, z]) => Math.hypot(x - box.center[0], y - box.center[1], z - box.center[2]) < 1e-3 || (box.outline.length > 2 && contains(box.outline, x, z)));
    this.card.replaceChildren();
    if (box && moves) {
      this.isFitted = false;
      const size = Math.max(...[0, 2].map((k) => box.sides.reduce((sum, side) => sum + Math.abs(side[k]), 0)), 1e-6);
      this.scale = Math.max(this.scale, Math.min(...this.size()) / (size * 8));
      this.center(box.center);
      this.camera.target = [-box.center[0], box.center[1], box.center[2]];
      this.camera.distance = Math.min(this.camera.distance, size * 10);
    }
    this.redraw();
    this.page.hold();
    if (!box) return;
    const facts = await this.more(box, this.facts(box));
    if (this.path?.links.length) facts.push(["path", `${this.path.points} waypoints, ${(this.path.length * this.unit).toLocaleString("en", { maximumFractionDigits: 1 })} ${this.unitName}`]);
    if (box === this.chosen) this.fillCard(facts, this.kinds[box.kind].table, box.row);
  }

  find() {
    const wanted = this.search.value.toLowerCase();
    if (!wanted) return this.found.replaceChildren();
    const found = this.boxes.filter((box) => box.name.toLowerCase().includes(wanted) || box.target.toLowerCase().includes(wanted));
    const line = (/** @type {ChartBox} */ box) => shapes.line(this.kinds[box.kind].colour, box.name, this.kinds[box.kind].name, { press: () => this.choose(box, true) }).row;
    const count = this.page.el("p", { class: "scene-note" }, found.length === 1 ? "1 box" : `${found.length} boxes`);
    this.found.replaceChildren(count, ...found.slice(0, LISTED).map(line));
    if (found.length) this.choose(found[0], true);
  }

  // The state of this view for the address: the chosen record, and the part of the map in sight.
  state() {
    /** @type {AddressState} */
    const state = {};
    if (this.chosen) Object.assign(state, { table: this.kinds[this.chosen.kind].table, row: this.chosen.row });
    if (this.search.value) state.q = this.search.value;
    if (!this.isFlat) state.eye = this.camera.eye.join();
    else if (this.hasMoved) {
      const [width, height] = this.size();
      state.at = [(width / 2 - this.shift[0]) / this.scale, (this.shift[1] - height / 2) / this.scale, this.scale].map((v) => Number(v.toPrecision(5))).join(",");
    }
    return state;
  }

  /** @param {URLSearchParams} params */
  show(params) {
    const [table, row] = [params.get("table"), Number(params.get("row"))];
    const box = table === null ? null : this.boxes.find((one) => this.kinds[one.kind].table === table && one.row === row);
    if (table !== null && !box) this.page.say(`The map has no row ${params.get("row")} of ${table}`);
    const query = params.get("q") ?? "";
    if (query !== this.search.value) {
      this.search.value = query;
      this.find();
    }
    if (box && box !== this.chosen) this.choose(box, true);
    const at = params.get("at")?.split(",").map(Number);
    if (at?.length === 3 && at.every(Number.isFinite) && at[2] > 0) {
      [this.scale, this.hasMoved, this.isFitted] = [at[2], true, false];
      this.center([at[0], 0, at[1]]);
      this.redraw();
    }
    if (params.has("eye")) {
      if (this.isFlat) this.turnOver();
      this.camera.eye = (params.get("eye") ?? "").split(",").map(Number);
      this.isFitted = false;
      this.redraw();
    }
  }

  // The legend: the kinds that are shown.
  /** @type {() => LegendEntry[]} */
  entries() { return this.kinds.filter((_, i) => !this.off.has(i)).map((kind) => [`${kind.name} (${kind.count})`, this.ink(kind.colour)]); }

  still() {
    this.draw(false);
    return { canvas: shapes.copy(this.plan).canvas, legend: shapes.legendLines(this.entries().slice(0, 16)) };
  }

  picture() {
    const renderer = this.isFlat ? null : this.renderer;
    const draw = () => this.draw(false);
    if (renderer) renderer.finest(2, draw);
    else draw();
    shapes.picture(this.isFlat ? this.plan : this.space, this.title, this.entries(), this.page, undefined, renderer?.fine);
  }
}

// How light a colour of the style is, from 0 to 1.
/** @type {(pen: Pen, colour: string) => number} */
const luminance = (pen, colour) => {
  pen.fillStyle = colour;
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(String(pen.fillStyle).slice(at, at + 2), 16) / 255);
  return 0.3 * r + 0.6 * g + 0.1 * b;
};

assetq.kinds.map = /** @type {KindOf<"map">} */ ({
  links(part, table, row, page) {
    return part.meta.kinds.some((kind) => kind.table === table) ? [[part.title, page.link(part.id, { table, row })]] : [];
  },
  async open(element, part, page) {
    const chart = new Chart(element, part, page);
    await chart.load();
    chart.build();
    return chart;
  },
});
