// Meshes, armour and collision hulls: what is shown, how it is coloured, and what lies under the pointer.
const shapes = (assetq.shapes ??= {});
const KINDS = { armor: ["Armour", "plates"], mesh: ["Meshes", "parts"], hull: ["Collision hulls", "hulls"], zone: ["Hit boxes", "boxes"] };
const VIEWS = [["Quarter", -0.9, 0.35], ["Side", -Math.PI / 2, 0], ["Front", 0, 0], ["Top", -Math.PI / 2, 1.57]];
const CUTS = [["", "No cut"], ["0", "Cut the side"], ["1", "Cut the top"], ["2", "Cut the front"]];
const LISTED = 300;

const { many } = assetq;
const { number } = shapes;
const add = shapes.add;

class Scene extends shapes.Jointed(shapes.Choosing(shapes.Placing(shapes.Plating(shapes.Comparing(shapes.Measuring(shapes.Look)))))) {
  constructor(element, part, page) {
    super(element, part, page);
    this.camera = new shapes.Camera();
    this.kinds = Object.keys(KINDS).filter((kind) => this.meta.parts.some((p) => p.kind === kind));
    // The numbers of the parts that are shown: at first one kind, armour if present. `only` has the numbers instead of it while parts
    // are isolated.
    this.on = new Set([...this.meta.parts.keys()].filter((index) => this.meta.parts[index].kind === this.kinds[0]));
    this.only = null;
    // Boxes of the lists, each with the parts that it stands for.
    this.boxes = [];
    this.spread = 0;
    this.blocks = new Map();
    this.chosen = this.under = null;
    // The owners of the plates of all files, and the owner whose thickness is shown.
    const uses = this.meta.armor.flat();
    this.owners = this.meta.files.length ? uses.filter(({ name }, i) => uses.findIndex((use) => use.name === name) === i) : uses;
    this.use = 0;
    this.sort = "area";
    this.plates = [];
    this.findJoints();
    this.number();
    this.hasGuess = shapes.findLevels(this.models);
    this.lods = [...new Set(this.models.flatMap(({ lods }) => lods ?? []))].sort((a, b) => a - b);
    this.lod = this.lods[0] ?? null;
    this.build();
  }

  // Numbers all that can be pointed at: each plate, and each place of each other part.
  number() {
    let first = 0;
    const layers = new Map();
    // The first part of each file.
    const firsts = [];
    const files = this.meta.files.flatMap(([, count], file) => new Array(count).fill(file));
    this.models = this.meta.parts.map((part, index) => {
      // Plates of one colour may be of several materials: their part names these.
      const name = part.name.slice(part.name.lastIndexOf("/") + 1).replace(this.owners.length > 1 ? /, [\d.]+ mm$/ : "", "");
      const material = part.kind === "armor" ? { ...this.meta.materials[part.material], name } : this.meta.materials[part.material];
      const stride = part.plates ? part.plates.length / 3 : 1;
      const file = files[index] ?? 0;
      firsts[file] ??= index;
      const model = { part, index, file, material, colour: this.colourOf(part, material, index - firsts[file]), twoSided: material.twoSided, first, stride, isShown: false, rig: this.rigs[part.rig] };
      first += stride * (part.places ? part.places[1] : 1);
      for (let i = 1; part.plates && i < part.plates.length; i += 3) layers.set(part.plates[i], (layers.get(part.plates[i]) ?? 0) + 1);
      return model;
    });
    this.count = first;
    this.layers = new Map([...layers].sort(([a], [b]) => a - b));
    const colours = shapes.colours(layers.size);
    this.layerColours = new Map([...this.layers.keys()].map((layer, i) => [layer, colours[i]]));
  }

  // The name of a part's colour: of armour not always its material.
  tint({ part }) { return this.meta.materials[part.material].name; }

  // The file that a part is of, if the scene has several.
  fileOf({ file }) { return this.meta.files[file]?.[0] ?? ""; }

  // Parts of unknown material are grey, as elsewhere, with a shade of green or blue for all but the first.
  colourOf(part, { name, colour }, index) {
    if (part.kind !== "mesh" || name !== "unknown") return colour;
    const turn = index * 0.618034 * 2 * Math.PI;
    const cold = 0.06 * (1 - Math.cos(turn));
    return [colour[0] - cold, colour[1] + 0.08 * Math.sin(turn), colour[2] + cold, colour[3]];
  }

  area(value) { return `${number(value * this.unit ** 2)} ${this.meta.metres ? "m²" : "square units"}`; }

  find(id) {
    let [low, high] = [0, this.models.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.models[middle].first <= id) low = middle;
      else high = middle - 1;
    }
    const model = this.models[low];
    const within = id - model.first;
    return { model, plate: model.part.plates ? within % model.stride : null, place: Math.floor(within / model.stride) };
  }

  build() {
    const { el } = this.page;
    this.canvas = el("canvas", { class: "scene-canvas", tabindex: "0", "aria-label": `${this.title}: drag or arrow keys turn, Shift and arrow keys move, + and - zoom` });
    this.status = el("div", { class: "scene-status" });
    this.renderer = shapes.Renderer.on(this.canvas, () => this.redraw());
    if (!this.renderer) {
      return this.refuse(this.element, "The tables of the file work, and “assetq export FILE --to FILE.svg” draws,");
    }
    const button = (text, title, onclick) => el("button", { title, onclick }, text);
    const fit = () => this.fit();
    const looks = VIEWS.map(([, yaw, pitch]) => () => ((this.hasTurned = true), this.camera.look(yaw, pitch), this.fit(), this.holdSoon()));
    const bar = el("div", { class: "bar scene-bar" }, button("Fit", "Show all (F)", fit), el("span", { class: "scene-views" }, VIEWS.map(([name], i) => button(name, `${name} view (${i + 1})`, looks[i]))));
    const tools = el("span", { class: "scene-tools", id: `tools-${this.part.id}` });
    const more = el("button", { class: "scene-more", title: "Colours, cuts and more", "aria-expanded": "false", "aria-controls": tools.id, onclick: () => {
      more.setAttribute("aria-expanded", String(tools.classList.toggle("open")));
    } }, "Tools");
    bar.append(more, tools);
    if (this.layers.size) {
      this.colours = this.select("Colour of armour", [["material", "By material"], ["layer", "By layer"]], (by) => this.colour(by));
      tools.append(this.colours);
      if (this.owners.length > 1) {
        const uses = this.owners.map(({ name }, i) => [String(i), this.page.clean(name)]);
        tools.append((this.uses = this.select("Ship and component", uses, (use) => this.showUse(Number(use)))));
      }
      tools.append(button("Plates", "The list of plates, the thickest first (T)", () => this.thickest()));
    }
    this.slider = el("input", { type: "range", min: "0", max: "1000", value: "500", "aria-label": "Where to cut", oninput: () => this.cut() });
    this.place = el("output", { class: "scene-place" });
    this.axis = this.select("Section plane", CUTS, () => this.startCut());
    this.flip = button("Flip", "Cut the other half away", () => ((this.side = -this.side), this.cut()));
    this.cutting = el("span", { class: "scene-cut", hidden: true }, this.slider, this.place, this.flip);
    this.side = 1;
    const set = (name) => (on) => ((this.renderer[name] = on), this.redraw());
    const wire = this.check("Wireframe", "Edges only (W)", set("wireframe"));
    const through = this.check("See through", "Everything is transparent (X)", set("seeThrough"));
    this.ruler = el("button", { "aria-pressed": "false", title: "Measure between two points (M)", onclick: () => this.measure() }, "Ruler");
    this.rule = el("div", { class: "scene-rule", "aria-hidden": "true" });
    this.legend = el("div", { class: "scene-legend", hidden: true });
    this.over = el("canvas", { class: "scene-over", "aria-hidden": "true" });
    tools.append(this.axis, wire.label, through.label, this.ruler, button("Save PNG", "Save the picture, at twice the size", () => this.picture()));
    this.lay(bar, [this.canvas, this.over, this.rule, this.legend, this.cutting, this.status], this.lists());
    const escape = () => {
      if (this.isMeasuring) this.measure();
      else if (this.chosen !== null) this.choose(null);
      else if (this.only) this.isolate(null);
      else if (this.thicknesses) this.setThicknesses("");
      else this.clearRule();
    };
    const acts = { f: fit, Home: fit, w: () => wire.input.click(), x: () => through.input.click(), m: () => this.measure(), g: () => this.gridBox.input.click(), i: () => this.isolate(this.only ? null : this.chosen), t: () => this.layers.size && this.thickest(), Escape: escape };
    looks.forEach((look, i) => (acts[i + 1] = look));
    this.steer(this.canvas, (by) => ((this.hasTurned = true), shapes.follow(this.camera, by)), acts);
    this.renderer.models = this.models;
    document.addEventListener("assetq-theme", () => this.paintGrid());
    this.fitted = this.fit();
    this.updated = this.update();
    if (this.meta.beside) this.placeNames();
    this.hasThickness = this.owners.length > 0 || this.meta.parts.some((part) => part.thickness);
    if (this.layers.size && this.hasThickness) this.updated = this.showThickness();
  }

  // A picture of what is shown at first, with its legend; null if nothing can be drawn.
  async still() {
    if (!this.renderer) return null;
    await Promise.all([this.fitted, this.updated]);
    this.renderer.enlarged = 2;
    this.draw(false);
    const { canvas } = shapes.copy(this.canvas, (pen) => this.drawMarks(pen));
    this.renderer.enlarged = 1;
    return { canvas, legend: this.legendLines(this.legend.hidden ? [] : this.entries().slice(0, 16)) };
  }

  // The lists at the side: kinds with their parts, layers, plates, notes.
  lists() {
    const { el } = this.page;
    const lists = [this.spaceList(), this.jointList(), ...(this.meta.beside ? [this.differences()] : []), ...this.kinds.map((kind) => this.kindList(kind))];
    if (this.layers.size) {
      const hide = (layer) => (on) => {
        const bit = 1 << Math.min(layer, 31);
        this.renderer.hidden = (on ? this.renderer.hidden & ~bit : this.renderer.hidden | bit) >>> 0;
        this.tick();
        this.redraw();
      };
      this.layerBoxes = new Map();
      const rows = [...this.layers].map(([layer, plates]) => {
        const { row, input } = this.line(this.layerColours.get(layer), `Layer ${layer}`, many(plates), { checked: true, change: hide(layer) });
        this.layerBoxes.set(layer, input);
        return row;
      });
      this.layerList = el("details", { class: "scene-layers" }, el("summary", {}, `Layers of armour (${this.layers.size})`), rows);
      lists.push(this.layerList, this.plateList());
    }
    const notes = [...this.meta.damage.map((text) => `Damaged: ${text}`), ...this.meta.notes];
    if (notes.length) lists.push(el("details", {}, el("summary", {}, `Notes (${notes.length})`), notes.slice(0, LISTED).map((text) => el("p", {}, text))));
    return lists;
  }

  kindList(kind) {
    const { el } = this.page;
    const [title, what] = KINDS[kind];
    const of = this.models.filter((model) => model.part.kind === kind);
    const items = of.reduce((sum, model) => sum + model.stride, 0);
    const all = el("input", { type: "checkbox", "aria-label": `Show ${title.toLowerCase()}`, onchange: () => this.setShown(of, all.checked) });
    this.boxes.push([all, of]);
    const levels = [];
    if (kind === "mesh" && this.lods.length) {
      const options = this.lods.map((lod) => [String(lod), `Level of detail ${lod}${this.hasGuess ? ", guessed" : ""}`]);
      this.level = this.select("Level of detail", [...options, ["", "All levels"]], (lod) => ((this.lod = lod === "" ? null : Number(lod)), this.update()));
      levels.push(this.level);
    }
    const files = new Set(of.map((model) => this.fileOf(model)));
    const list = el("div", { class: "scene-list" });
    const filter = el("input", { type: "search", placeholder: "Filter by name", "aria-label": `Filter ${title}`, oninput: () => fill() });
    const fill = () => {
      const wanted = filter.value.toLowerCase();
      const found = of.filter(({ part, material }) => `${part.name} ${material.name}`.toLowerCase().includes(wanted));
      const listed = found.slice(0, LISTED);
      const groups = new Map();
      for (const model of of) model.input = null;
      this.boxes = this.boxes.filter(([, , owner]) => owner !== kind);
      for (const model of listed) {
        const name = [files.size > 1 && this.fileOf(model), kind === "armor" && (this.meta.overlay ? this.tint(model) : model.part.region)].filter(Boolean).join(" · ");
        groups.set(name, [...(groups.get(name) ?? []), model]);
      }
      list.replaceChildren();
      for (const [name, models] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const lines = models.map((model) => this.partLine(model));
        if (groups.size === 1) list.append(...lines);
        else {
          const box = el("input", { type: "checkbox", "aria-label": `Show ${name}`, onchange: () => this.setShown(models, box.checked) });
          this.boxes.push([box, models, kind]);
          list.append(this.folder(box, `${name} (${models.length})`, true, ...lines));
        }
      }
      if (found.length > LISTED) list.append(el("p", {}, `… and ${many(found.length - LISTED)} more: filter by name`));
      this.tick();
    };
    const both = [true, false].map((on) => el("button", { onclick: () => this.setShown(of, on) }, on ? "All" : "None"));
    fill();
    return this.folder(all, `${title} (${many(items)} ${items === 1 ? what.replace(/(x)es$|s$/, "$1") : what})`, kind === this.kinds[0] && of.length <= 60,
      ...levels, el("div", { class: "scene-all" }, of.length > 12 ? filter : null, both), list);
  }

  // Ticks in the lists what is drawn.
  tick() {
    const layers = new Set();
    for (const model of this.models) {
      const seen = this.isWanted(model) ? this.layersSeen(model) : null;
      model.isDrawn = !!seen && (!model.part.plates || seen.size > 0);
      seen?.forEach((layer) => layers.add(layer));
      if (model.input) model.input.checked = model.isDrawn;
    }
    for (const [box, models] of this.boxes) {
      const drawn = models.filter((model) => model.isDrawn).length;
      box.checked = drawn > 0;
      box.indeterminate = drawn > 0 && drawn < models.filter((model) => this.isOfLevel(model)).length;
    }
    for (const [layer, box] of this.layerBoxes ?? []) box.checked = layers.has(layer);
    this.page.hold();
  }

  // The parts, the level and the layers that are shown, for the address: nothing of what is shown at first.
  shownState() {
    const kinds = this.kinds.filter((kind) => this.models.some(({ part, index }) => part.kind === kind && this.on.has(index)));
    const off = this.models.filter(({ part, index }) => kinds.includes(part.kind) && !this.on.has(index)).map(({ index }) => index);
    const hidden = [...this.layers.keys()].filter((layer) => !this.isLayerShown(layer));
    return {
      ...(kinds.join() !== this.kinds[0] && { show: kinds.join() }),
      ...(off.length > 0 && { off: off.join() }),
      ...(this.only && { only: [...this.only].join() }),
      ...(this.lods.length > 0 && this.lod !== this.lods[0] && { level: this.lod ?? "all" }),
      ...(hidden.length > 0 && { hide: hidden.join() }),
    };
  }

  // Shows the parts, the level and the layers that an address names.
  async restore(params) {
    const before = JSON.stringify(this.shownState());
    const numbers = (name) => new Set((params.get(name) ?? "").split(",").filter(Boolean).map(Number));
    const [kinds, off, only, hide] = [(params.get("show") ?? this.kinds[0]).split(","), numbers("off"), numbers("only"), numbers("hide")];
    this.on = new Set(this.models.filter(({ part, index }) => kinds.includes(part.kind) && !off.has(index)).map(({ index }) => index));
    const level = params.get("level");
    this.lod = level === "all" ? null : this.lods.find((lod) => String(lod) === level) ?? this.lods[0] ?? null;
    if (this.level) this.level.value = String(this.lod ?? "");
    this.renderer.hidden = [...this.layers.keys()].reduce((bits, layer) => (hide.has(layer) ? bits | (1 << Math.min(layer, 31)) : bits), 0) >>> 0;
    this.endIsolation();
    if (this.models.some(({ index }) => only.has(index))) [this.only, this.all.hidden] = [only, false];
    if (JSON.stringify(this.shownState()) === before) return;
    await this.update();
    if (!params.has("eye")) await this.fit();
  }

  // Shows some parts or hides them. What else hides all of them ends.
  setShown(models, on) {
    const all = this.only ?? this.on;
    for (const { index } of models) all[on ? "add" : "delete"](index);
    this.tick();
    if (on && models.length && !models.some((model) => model.isDrawn)) this.reveal(models[0]);
    this.update();
  }

  // Shows a part, or one of its plates, whatever hides it.
  reveal(model, plate = null) {
    const { part, index } = model;
    if (this.only && !this.only.has(index)) this.endIsolation();
    // If the kind is hidden, all of it is shown.
    const kind = this.models.filter((other) => other.part.kind === part.kind);
    const isNone = !this.only && !kind.some((other) => this.on.has(other.index));
    for (const { index } of isNone ? kind : [model]) (this.only ?? this.on).add(index);
    if (!this.isOfLevel(model)) this.level.value = String((this.lod = model.lods[0]));
    if (part.plates) {
      const plates = plate === null ? [...Array(model.stride).keys()] : [plate];
      const layers = plates.map((plate) => part.plates[plate * 3 + 1]);
      const isSeen = (plate, i) => this.isInRange(this.thick({ model, layer: layers[i], plate }));
      if (!plates.some(isSeen)) this.setThicknesses("");
      if (!layers.some((layer) => this.isLayerShown(layer))) this.renderer.hidden = 0;
    }
    this.update();
  }

  isLayerShown(layer) { return (this.renderer.hidden & (1 << Math.min(layer, 31))) === 0; }

  // The layers of the plates of a part that are not hidden.
  layersSeen(model) {
    const { part } = model;
    const seen = new Set();
    for (let i = 1; part.plates && i < part.plates.length; i += 3) {
      const layer = part.plates[i];
      if (!seen.has(layer) && this.isLayerShown(layer) && this.isInRange(this.thick({ model, layer, plate: (i - 1) / 3 }))) seen.add(layer);
    }
    return seen;
  }

  showOnly(wanted) {
    this.on = new Set(this.models.filter(({ part }) => part.kind === wanted).map(({ index }) => index));
    this.update();
    if (this.isFitted) this.fit();
  }

  partLine(model) {
    const { part, material } = model;
    const isArmor = part.kind === "armor";
    const change = (on) => this.setShown([model], on);
    const { row, input } = this.line(model.colour, isArmor ? material.name : part.name, isArmor ? many(model.stride) : part.kind === "zone" ? "" : many(part.triangles), { change });
    if (this.meta.materials[part.material].image) row.querySelector(".scene-swatch").style.visibility = "hidden";
    row.title = this.page.clean(isArmor ? `${part.name}: plates` : `${part.name}, of ${material.name}`);
    model.input = input;
    return row;
  }

  isOfLevel({ lods, coarsest }) { return !lods || this.lod === null || lods.includes(Math.min(this.lod, coarsest)); }
  isWanted(model) { return (this.only ?? this.on).has(model.index) && this.isOfLevel(model); }

  // Shows what is wanted, and decodes it first where that has not been done.
  async update() {
    for (const model of this.models) model.isShown = this.isWanted(model);
    this.tick();
    const missing = this.models.filter((model) => model.isShown && !model.solid);
    this.redraw();
    if (!missing.length) return;
    this.status.textContent = "Decoding …";
    try {
      await Promise.all(missing.map((model) => this.load(model)));
      this.status.textContent = "";
    } catch (error) {
      this.status.textContent = `The page is damaged: ${error.message}`;
    }
    this.element.dataset.ready = "1";
    this.fillLegend();
    this.redraw();
  }

  block(name) {
    if (!this.blocks.has(name)) this.blocks.set(name, this.page.block(name));
    return this.blocks.get(name);
  }

  // The matrices of the places of a part.
  async places(part) {
    if (!part.places) return null;
    const bytes = await this.block(this.meta.places);
    return new Float32Array(bytes.buffer, bytes.byteOffset + part.places[0] * 48, part.places[1] * 12);
  }

  // The image of a block, decoded once.
  imageOf(block) {
    this.pictures ??= new Map();
    const decode = async () =>
      createImageBitmap(new Blob([await this.block(block)], { type: "image/png" }), { premultiplyAlpha: "none", colorSpaceConversion: "none" });
    if (!this.pictures.has(block)) this.pictures.set(block, decode());
    return this.pictures.get(block);
  }

  async load(model) {
    if (model.solid) return;
    const { image, maps } = this.meta.materials[model.part.material];
    const pictures = Promise.all([image, ...maps].map((block) => block && this.imageOf(block)));
    const [bytes, matrices, images] = await Promise.all([this.block(model.part.block), this.places(model.part), pictures]);
    // The colour, then what the surface does to light.
    if (!model.solid) Object.assign(model, { matrices, images, solid: shapes.unpack(model.part, bytes) });
  }

  // The box around models, wherever they stand.
  async bounds(models) {
    const { min, max } = shapes.nowhere();
    const points = [];
    const take = (point) => {
      points.push(point);
      point.forEach((v, i) => ((min[i] = Math.min(min[i], v)), (max[i] = Math.max(max[i], v))));
    };
    for (const { part, shift = [0, 0, 0] } of models) {
      let corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => [0, 1, 2].map((i) => ((c >> i) & 1 ? part.max : part.min)[i]));
      // Vertices lie between the places that their joints give them.
      for (const m of [this.rigs[part.rig]?.pose, await this.places(part)]) {
        if (m) corners = Array.from({ length: m.length / 12 }, (_, n) => corners.map((p) => [0, 1, 2].map((k) => m[n * 12 + k] * p[0] + m[n * 12 + 3 + k] * p[1] + m[n * 12 + 6 + k] * p[2] + m[n * 12 + 9 + k]))).flat();
      }
      corners.forEach((corner) => take(add(corner, shift)));
    }
    return min[0] <= max[0] ? { min, max, points } : { min: [-1, -1, -1], max: [1, 1, 1], points: [] };
  }

  // The box to frame: around all, or around what holds 99 % of the triangles, if the few others would make it less than half as
  // large. Some models have a sheet of two triangles far from the rest.
  async framed(models) {
    const weight = ({ part }) => part.triangles * (part.places?.[1] ?? 1);
    const size = ({ min, max }) => Math.hypot(...add(max, min, -1));
    const sorted = models.toSorted((a, b) => weight(b) - weight(a));
    let left = models.reduce((sum, model) => sum + weight(model), 0) * 0.99;
    const most = sorted.filter((model) => left > 0 && ((left -= weight(model)), true));
    const [all, box] = [await this.bounds(models), await this.bounds(most)];
    if (size(box) * 2 > size(all)) return all;
    const limit = size(box) * 1.25;
    // Small parts beside the large ones are framed with them.
    for (const model of sorted.slice(most.length)) {
      const own = await this.bounds([model]);
      const both = { min: box.min.map((v, i) => Math.min(v, own.min[i])), max: box.max.map((v, i) => Math.max(v, own.max[i])) };
      if (size(both) <= limit) Object.assign(box, both, { points: [...box.points, ...own.points] });
    }
    return box;
  }

  async fit() {
    const bounds = await this.bounds(this.models);
    this.cutBox = await this.framed(this.models.filter((model) => this.isWanted(model)));
    if (!this.grid) {
      this.grid = shapes.grid(this.cutBox, this.unit);
      this.renderer.models = [...this.models, this.grid];
      this.paintGrid();
    }
    this.renderer.bounds = this.around(bounds);
    this.isFitted = true;
    this.refit();
    this.cut();
  }

  // Shows what `fit` showed in a canvas of another size.
  refit() {
    this.camera.fit(this.cutBox.min, this.cutBox.max, shapes.aspect(this.canvas), this.cutBox.points);
    this.redraw();
  }

  draw(moves) {
    if (!this.canvas.clientWidth) return;
    [this.renderer.chosen, this.renderer.under] = [this.chosen ?? shapes.NONE, this.under ?? shapes.NONE];
    this.renderer.draw(this.camera, moves);
    this.drawRule();
    this.drawOver();
  }

  press(x, y) {
    return this.isMeasuring ? this.rulePoint(x, y) : this.choose(this.at(x, y, true));
  }

  at(x, y, isPressed) {
    return this.renderer.pick(this.camera, x, y, isPressed);
  }

  // The state of this view for the address.
  state() {
    if (!this.renderer) return {};
    const state = {};
    const { model, plate } = this.chosen === null ? {} : this.find(this.chosen);
    if (model && plate !== null) Object.assign(state, { plate: this.rowOf(model, plate) }, model.file && { file: model.file });
    else if (model?.part.kind === "zone") state.zone = this.zone(model);
    else if (model && this.instance(this.chosen) >= 0) state.instance = this.instance(this.chosen);
    if (this.use && (state.plate === undefined || this.meta.files.length)) state.use = this.use;
    if (this.by && this.by !== (this.hasThickness ? "thickness" : "material")) state.by = this.by;
    if (this.axis.value !== "") state.cut = `${this.axis.value},${this.slider.value},${this.side}`;
    Object.assign(state, this.shownState());
    if (this.thicknesses) state.thick = this.thicknesses;
    if (this.turnsText()) state.turn = this.turnsText();
    if (this.hasTurned) state.eye = this.camera.text;
    return state;
  }

  // Shows the state that an address holds: a plate or a hit box by its row, colours, a section, joints, and the camera.
  async show(params) {
    if (!this.renderer) return;
    await this.fitted;
    await this.restore(params);
    const [row, zone, cut, instance] = ["plate", "zone", "cut", "instance"].map((name) => params.get(name));
    let id = instance === null ? null : await this.partOf(Number(instance));
    // A plate has a row for each owner in its file.
    const file = Number(params.get("file")) || 0;
    const uses = this.meta.armor[file] ?? [];
    let use = (Number(params.get("use")) || 0) % Math.max(this.owners.length, 1);
    if (row !== null && uses.length && this.useIn(file, use) !== row % uses.length) {
      const own = uses[row % uses.length];
      use = this.owners.findIndex((owner) => owner === own || (this.meta.files.length && owner.name === own?.name));
    }
    if (this.owners[use] && use !== this.use) await this.showUse(use);
    for (const model of row === null ? [] : this.models) {
      const plates = model.file === file ? model.part.plates ?? [] : [];
      for (let i = 0; i < plates.length; i += 3) if (this.rowOf(model, i / 3) === Number(row)) id = model.first + i / 3;
    }
    if (zone !== null) id = this.models.filter(({ part }) => part.kind === "zone")[zone]?.first ?? null;
    const what = Object.entries({ plate: row, "hit box": zone, instance }).find(([, value]) => value !== null);
    if (id === null && what) this.page.say(`There is no ${what.join(" ")} here`);
    if (this.layers.size) this.setThicknesses(params.get("thick") ?? "");
    if (id !== null) for (const one of this.together(id, true)) this.reveal(this.find(one).model, this.find(one).plate);
    const by = params.get("by");
    if (by && this.colours && [...this.colours.options].some((option) => option.value === by)) this.colour(by);
    if (cut) {
      const [axis, at, side] = cut.split(",");
      [this.axis.value, this.slider.value] = [axis, at];
      this.startCut();
      this.side = Number(side) < 0 ? -1 : 1;
      this.cut();
    }
    this.showTurns(params.get("turn") ?? "");
    if (id !== this.chosen) await this.choose(id, id !== null && !params.has("eye"));
    if (params.has("eye")) {
      this.camera.text = params.get("eye");
      [this.hasTurned, this.isFitted] = [true, false];
      this.redraw();
    }
  }

  // Saves a picture with the legend and the scale, of twice as many pixels as the screen has.
  picture() {
    this.renderer.enlarged = 2;
    this.draw(false);
    shapes.picture(this.canvas, this.title, this.entries().slice(0, 60), this.page, (pen) => this.drawMarks(pen));
    this.renderer.enlarged = 1;
    this.redraw();
  }
}

assetq.kinds.scene = {
  open: (element, part, page) => new Scene(element, part, page),
  links(part, table, row, page) {
    const name = { armor_plates: "plate", boxes: "zone", instances: "instance" }[table];
    const has = { plate: (one) => one.plates, zone: (one) => one.kind === "zone", instance: (one) => part.meta.rows && one.places }[name];
    return name && part.meta.parts.some(has) ? [[part.title, page.link(part.id, { [name]: row })]] : [];
  },
};
