// Meshes, armour and collision hulls: what is shown, how it is coloured, and what lies under the pointer.
const shapes = (assetq.shapes ??= {});
const KINDS = { armor: ["Armour", "plates"], mesh: ["Meshes", "parts"], hull: ["Collision hulls", "hulls"], zone: ["Hit boxes", "boxes"] };
const VIEWS = [["Quarter", -0.9, 0.35], ["Side", -Math.PI / 2, 0], ["Front", 0, 0], ["Top", -Math.PI / 2, 1.57]];
const CUTS = [["", "No section"], ["0", "Cut from the side"], ["1", "Cut from above"], ["2", "Cut from the front"]];
const LISTED = 300;

const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });
const add = shapes.add;

class Scene extends shapes.Look {
  constructor(element, part, page) {
    super(element, part, page);
    this.camera = new shapes.Camera();
    this.kinds = Object.keys(KINDS).filter((kind) => this.meta.parts.some((p) => p.kind === kind));
    // One kind hides the others: armour is what people look for, where there is any.
    this.shown = new Set(this.kinds.slice(0, 1));
    this.off = new Set();
    this.lods = [...new Set(this.meta.parts.flatMap((p) => p.lods ?? []))].sort((a, b) => a - b);
    this.lod = this.lods[0] ?? null;
    // The coarsest level of each model.
    this.coarsest = [];
    for (const p of this.meta.parts) {
      if (p.lods) this.coarsest[p.group] = Math.max(this.coarsest[p.group] ?? 0, ...p.lods);
    }
    this.blocks = new Map();
    this.chosen = this.under = this.thickness = null;
    this.sort = "area";
    this.plates = [];
    this.number();
    this.build();
  }

  // Numbers all that can be pointed at: each plate, and each place of each other part.
  number() {
    let first = 0;
    const layers = new Map();
    this.models = this.meta.parts.map((part, index) => {
      const material = this.meta.materials[part.material];
      const stride = part.plates ? part.plates.length / 3 : 1;
      const model = { part, index, material, colour: material.colour, twoSided: material.twoSided, first, stride, isShown: false };
      first += stride * (part.places ? part.places[1] : 1);
      for (let i = 1; part.plates && i < part.plates.length; i += 3) layers.set(part.plates[i], (layers.get(part.plates[i]) ?? 0) + 1);
      return model;
    });
    this.count = first;
    this.layers = new Map([...layers].sort(([a], [b]) => a - b));
    const colours = shapes.colours(layers.size);
    this.layerColours = new Map([...this.layers.keys()].map((layer, i) => [layer, colours[i]]));
  }

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
      return this.refuse(this.element, "The tables of the file work, and “assetq view FILE --to FILE.png” draws,");
    }
    const button = (text, title, onclick) => el("button", { title, onclick }, text);
    const fit = () => this.fit();
    const looks = VIEWS.map(([, yaw, pitch]) => () => (this.camera.look(yaw, pitch), this.fit()));
    const bar = el("div", { class: "bar" }, button("Fit", "Show all (F)", fit), VIEWS.map(([name], i) => button(name, `${name} view (${i + 1})`, looks[i])));
    if (this.layers.size) {
      this.colours = this.select("Colour of armour", [["material", "Colour by material"], ["layer", "Colour by layer"]], (by) => this.colour(by));
      bar.append(this.colours, button("Thickest plates", "The list of plates", () => this.thickest()));
    }
    this.slider = el("input", { type: "range", min: "0", max: "1000", value: "500", "aria-label": "Where to cut", disabled: true, oninput: () => this.cut() });
    this.axis = this.select("Section plane", CUTS, () => this.cut());
    const set = (name) => (on) => ((this.renderer[name] = on), this.redraw());
    const wire = this.check("Wireframe", "Edges only (W)", set("wireframe"));
    const through = this.check("See through", "All but what is chosen (X)", set("seeThrough"));
    bar.append(this.axis, this.slider, wire.label, through.label, button("Save picture", "As PNG", () => this.picture()));
    this.lay(bar, [this.canvas, this.status], this.lists());
    const acts = { f: fit, Home: fit, w: () => wire.input.click(), x: () => through.input.click(), Escape: () => this.choose(null) };
    looks.forEach((look, i) => (acts[i + 1] = look));
    this.steer(this.canvas, (by) => shapes.follow(this.camera, by), acts);
    this.renderer.models = this.models;
    this.fit();
    this.update();
  }

  // The lists at the side: kinds with their parts, layers, plates, notes.
  lists() {
    const { el } = this.page;
    const lists = this.kinds.map((kind) => this.kindList(kind));
    if (this.layers.size) {
      const hide = (layer) => (on) => {
        const bit = 1 << Math.min(layer, 31);
        this.renderer.hidden = (on ? this.renderer.hidden & ~bit : this.renderer.hidden | bit) >>> 0;
        this.redraw();
      };
      const rows = [...this.layers].map(([layer, plates]) => this.line(this.layerColours.get(layer), `Layer ${layer}`, number(plates), { checked: true, change: hide(layer) }).row);
      this.layerList = el("details", {}, el("summary", {}, `Layers of armour (${this.layers.size})`), rows);
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
    const all = this.check("", `Show ${title.toLowerCase()}`, (on) => (this.shown[on ? "add" : "delete"](kind), this.update()), this.shown.has(kind));
    const details = el("details", {}, el("summary", {}, all.label, ` ${title} (${number(items)} ${what})`));
    details.open = this.shown.has(kind) && of.length <= 60;
    if (kind === "mesh" && this.lods.length) {
      const levels = this.lods.map((lod) => [String(lod), `Level of detail ${lod}`]);
      details.append(this.select("Level of detail", [...levels, ["", "All levels"]], (lod) => ((this.lod = lod === "" ? null : Number(lod)), this.update())));
    }
    const list = el("div", { class: "scene-list" });
    const filter = el("input", { type: "search", placeholder: "Filter by name", "aria-label": `Filter ${title}`, oninput: () => fill() });
    const fill = () => {
      const wanted = filter.value.toLowerCase();
      const found = of.filter(({ part, material }) => `${part.name} ${material.name}`.toLowerCase().includes(wanted));
      list.replaceChildren(...found.slice(0, LISTED).map((model) => this.partLine(model)));
      if (found.length > LISTED) list.append(el("p", {}, `… and ${number(found.length - LISTED)} more: filter by name`));
    };
    const set = (on) => () => {
      for (const { index } of of) this.off[on ? "delete" : "add"](index);
      fill();
      this.update();
    };
    details.append(el("div", { class: "scene-all" }, of.length > 12 ? filter : null, el("button", { onclick: set(true) }, "All"), el("button", { onclick: set(false) }, "None")), list);
    fill();
    return details;
  }

  partLine(model) {
    const { part, material, index } = model;
    const isArmor = part.kind === "armor";
    const change = (on) => (this.off[on ? "delete" : "add"](index), this.update());
    const { row, input } = this.line(material.colour, isArmor ? material.name : part.name, isArmor ? number(model.stride) : part.kind === "zone" ? "" : number(part.triangles), { change, checked: !this.off.has(index) });
    row.title = this.page.clean(isArmor ? `${part.name}: plates` : `${part.name}, of ${material.name}`);
    model.input = input;
    return row;
  }

  // The plates: a line leads to the plate.
  plateList() {
    const { el } = this.page;
    this.list = el("div", { class: "scene-list" });
    this.filter = el("input", { type: "search", placeholder: "Filter by material", "aria-label": "Filter plates", oninput: () => this.fillPlates() });
    this.sorts = this.select("Order of plates", [["area", "Largest first"], ["material", "By material"], ["layer", "By layer"]], (by) => ((this.sort = by), this.fillPlates()));
    const file = el("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => this.readThickness(file.files[0]) });
    const give = el("button", { onclick: () => file.click(), title: "A JSON file of the ship's parameters: millimetres by layer × 65536 + material" }, "Thicknesses …");
    const note = el("p", { class: "scene-note" }, "How thick plates are is in the ship's parameters, not in this file: choose their JSON file by “Thicknesses …”.");
    const details = el("details", { ontoggle: () => details.open && this.loadPlates() }, el("summary", {}, "Plates, the largest first"), el("div", { class: "scene-all" }, this.filter, this.sorts, give, file), note, this.list);
    return (this.plateDetails = details);
  }

  thickest() {
    this.plateDetails.open = true;
    this.plateDetails.scrollIntoView();
    this.plateDetails.querySelector("input, select").focus({ preventScroll: true });
  }

  async loadPlates() {
    const armour = this.models.filter((model) => model.part.plates);
    await Promise.all(armour.map((model) => this.load(model)));
    if (!this.plates.length) this.plates = armour.flatMap((model) => Array.from({ length: model.stride }, (_, plate) => this.plate(model, plate)));
    this.fillPlates();
  }

  // A plate: its row, layer, area and box, from its triangles.
  plate(model, plate) {
    const { part, solid } = model;
    model.starts ??= starts(part);
    const [row, layer, triangles] = part.plates.slice(plate * 3, plate * 3 + 3);
    const found = { model, row, layer, triangles, area: 0, ...shapes.nowhere(), id: model.first + plate };
    for (let i = 0; i < triangles; i++) {
      const [a, b, c] = [0, 1, 2].map((corner) => shapes.position(part, solid.words, model.starts[plate] + i * 3 + corner));
      found.area += Math.hypot(...shapes.cross(add(b, a, -1), add(c, a, -1))) / 2;
      for (const corner of [a, b, c]) {
        found.min = found.min.map((v, k) => Math.min(v, corner[k]));
        found.max = found.max.map((v, k) => Math.max(v, corner[k]));
      }
    }
    return found;
  }

  // How thick a plate is in millimetres, where someone gave that.
  thick({ model, layer }) {
    return this.thickness?.get(layer * 65536 + parseInt(model.material.name, 10)) ?? null;
  }

  fillPlates() {
    const { el } = this.page;
    const by = {
      area: (a, b) => b.area - a.area,
      material: (a, b) => a.model.index - b.model.index || a.layer - b.layer,
      layer: (a, b) => a.layer - b.layer || a.model.index - b.model.index,
      thickness: (a, b) => (this.thick(b) ?? -1) - (this.thick(a) ?? -1) || b.area - a.area,
    }[this.sort];
    const wanted = this.filter.value.toLowerCase();
    const found = this.plates.filter(({ model }) => model.material.name.toLowerCase().includes(wanted)).sort(by);
    const row = (plate) => {
      const thick = this.thick(plate);
      const note = `${thick === null ? "" : `${thick} mm · `}layer ${plate.layer} · ${number(plate.area)}`;
      return this.line(plate.model.material.colour, plate.model.material.name, note, { press: () => this.choose(plate.id, true) }).row;
    };
    this.list.replaceChildren(el("p", { class: "scene-note" }, `${number(found.length)} plates; areas in square units of the file`), ...found.slice(0, LISTED).map(row));
    if (found.length > LISTED) this.list.append(el("p", {}, `… and ${number(found.length - LISTED)} more: filter by material`));
  }

  // Thicknesses from a JSON file.
  async readThickness(file) {
    if (!file) return;
    try {
      const found = armorIn(JSON.parse(await file.text()));
      if (!found) throw new Error("it has no object of numbers by layer × 65536 + material");
      if (!this.thickness) {
        this.sorts.prepend(this.page.el("option", { value: "thickness" }, "Thickest first"));
        this.colours.append(this.page.el("option", { value: "thickness" }, "Colour by thickness"));
      }
      this.thickness = found;
      this.plateDetails.firstChild.textContent = "Plates, the thickest first";
      this.sorts.value = this.sort = this.colours.value = "thickness";
      await this.loadPlates();
      this.colour("thickness");
    } catch (error) {
      this.page.say(`${file.name}: ${error.message}`);
    }
  }

  // Colours of plates other than those of their materials.
  colour(by) {
    this.by = by;
    if (by === "layer") this.layerList.open = true;
    this.renderer.palette = by === "material" ? null : new Uint8Array(4096 * Math.ceil(this.count / 1024)).fill(140);
    const most = this.thickness && Math.max(1, ...this.thickness.values());
    for (const model of by === "material" ? [] : this.models) {
      const { part, material, first, stride } = model;
      for (let i = 0; i < stride * (part.places?.[1] ?? 1); i++) {
        const layer = part.plates?.[(i % stride) * 3 + 1];
        const thick = by === "layer" ? null : this.thick({ model, layer });
        const colour = part.plates ? (by === "layer" ? this.layerColours.get(layer) : thick !== null && heat(thick / most)) : material.colour;
        if (colour) this.renderer.palette.set(colour.slice(0, 3).map((c) => c * 255), (first + i) * 4);
      }
    }
    this.redraw();
  }

  isWanted({ part, index }) {
    const fits = !part.lods || this.lod === null || part.lods.includes(Math.min(this.lod, this.coarsest[part.group]));
    return this.shown.has(part.kind) && !this.off.has(index) && fits;
  }

  // Shows what is wanted, and decodes it first where that has not been done.
  async update() {
    for (const model of this.models) model.isShown = this.isWanted(model);
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
    const { image } = this.meta.materials[model.part.material];
    const [bytes, matrices, picture] = await Promise.all([this.block(model.part.block), this.places(model.part), image && this.imageOf(image)]);
    if (!model.solid) Object.assign(model, { matrices, image: picture, solid: shapes.unpack(model.part, bytes) });
  }

  // The box around models, wherever they stand.
  async bounds(models) {
    const { min, max } = shapes.nowhere();
    const take = (point) => point.forEach((v, i) => ((min[i] = Math.min(min[i], v)), (max[i] = Math.max(max[i], v))));
    for (const { part } of models) {
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => [0, 1, 2].map((i) => ((c >> i) & 1 ? part.max : part.min)[i]));
      const m = await this.places(part);
      if (!m) corners.forEach(take);
      for (let i = 0; m && i < m.length; i += 12) {
        for (const p of corners) take([0, 1, 2].map((k) => m[i + k] * p[0] + m[i + 3 + k] * p[1] + m[i + 6 + k] * p[2] + m[i + 9 + k]));
      }
    }
    return min[0] <= max[0] ? { min, max } : { min: [-1, -1, -1], max: [1, 1, 1] };
  }

  async fit() {
    this.renderer.bounds = await this.bounds(this.models);
    this.cutBox = await this.bounds(this.models.filter((model) => this.isWanted(model)));
    this.camera.fit(this.cutBox.min, this.cutBox.max, shapes.aspect(this.canvas));
    this.cut();
  }

  cut() {
    const axis = this.axis.value;
    this.slider.disabled = axis === "";
    const plane = [0, 0, 0, 1];
    if (axis !== "") {
      const { min, max } = this.cutBox;
      plane[axis] = 1;
      plane[3] = min[axis] + (max[axis] - min[axis]) * (this.slider.value / 1000);
    }
    this.renderer.section = plane;
    this.redraw();
  }

  draw(moves) {
    if (!this.canvas.clientWidth) return;
    [this.renderer.chosen, this.renderer.under] = [this.chosen ?? shapes.NONE, this.under ?? shapes.NONE];
    this.renderer.draw(this.camera, moves);
  }

  at(x, y, isPressed) {
    return this.renderer.pick(this.camera, x, y, isPressed);
  }

  facts(id) {
    const { model, plate, place } = this.find(id);
    const { part, material } = model;
    const isArmor = part.kind === "armor";
    const facts = [["material", material.name]];
    if (plate !== null) {
      const [row, layer, triangles] = part.plates.slice(plate * 3, plate * 3 + 3);
      const thick = this.thick({ model, layer });
      facts.push(["layer", layer], ["thickness", thick === null ? "" : `${thick} mm`], ["plate", row], ["triangles", number(triangles)]);
    } else {
      facts.unshift(["part", part.name]);
      facts.push(["triangles", part.kind === "zone" ? "" : number(part.triangles)], ["levels of detail", part.lods ? part.lods.join(", ") : ""]);
    }
    facts.push([isArmor ? "armour" : "model", this.meta.groups[part.group] ?? ""]);
    if (part.places) facts.push(["place", `${place + 1} of ${part.places[1]}`]);
    return facts.filter(([, text]) => text !== "");
  }

  async choose(id, moves = false) {
    this.chosen = id;
    this.redraw();
    this.card.replaceChildren();
    if (id === null) return;
    const { model, plate } = this.find(id);
    await this.load(model);
    if (plate === null) return this.fillCard(this.facts(id));
    const one = this.plate(model, plate);
    this.fillCard([...this.facts(id), ["area", `${number(one.area)} square units`]], "armor_plates", one.row);
    if (!moves) return;
    this.shown.add("armor");
    this.off.delete(model.index);
    if (model.input) model.input.checked = true;
    this.camera.target = one.min.map((v, i) => (v + one.max[i]) / 2);
    this.camera.distance = Math.min(this.camera.distance, Math.max(Math.hypot(...add(one.max, one.min, -1)) * 4, this.camera.radius / 4));
    this.update();
  }

  // Chooses the plate that a link names by its row.
  show(params) {
    const row = params.get("plate");
    if (row === null || !this.renderer) return;
    for (const { part, first } of this.models) {
      for (let i = 0; part.plates && i < part.plates.length; i += 3) {
        if (part.plates[i] === Number(row)) this.choose(first + i / 3, true);
      }
    }
  }

  picture() {
    this.draw(false);
    const shown = this.models.filter((model) => model.isShown && model.solid);
    const materials = new Map(shown.map(({ material }) => [material.name, material.colour]));
    const layers = [...this.layerColours].map(([layer, colour]) => [`Layer ${layer}`, colour]);
    shapes.picture(this.canvas, this.title, (this.by === "layer" ? layers : [...materials]).slice(0, 60), this.page);
  }
}

// The first vertex of each plate of a part.
const starts = (part) => {
  const all = [];
  for (let i = 0, vertex = 0; i < part.plates.length; i += 3) {
    all.push(vertex);
    vertex += part.plates[i + 2] * 3;
  }
  return all;
};

// From blue by violet to red.
const heat = (share) => [0.15 + 0.8 * share, 0.25, 0.95 - 0.8 * share];

// The first object of numbers by numbers from 65536 on, at `value` or a few levels below it.
const armorIn = (value, depth = 0) => {
  if (typeof value !== "object" || value === null || depth > 6) return null;
  const entries = Object.entries(value);
  const fits = ([key, v]) => /^\d+$/.test(key) && Number(key) >= 65536 && typeof v === "number";
  if (entries.length && entries.every(fits)) return new Map(entries.map(([key, v]) => [Number(key), v]));
  for (const [, inner] of entries) {
    const found = armorIn(inner, depth + 1);
    if (found) return found;
  }
  return null;
};

assetq.kinds.scene = { open: (element, part, page) => new Scene(element, part, page) };
