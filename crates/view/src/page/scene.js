// Meshes, armour and collision hulls: what is shown, how it is coloured, and what lies under the pointer.
const shapes = (assetq.shapes ??= {});
const KINDS = { armor: ["Armour", "plates"], mesh: ["Meshes", "parts"], hull: ["Collision hulls", "hulls"], zone: ["Hit boxes", "boxes"] };
const VIEWS = [["Quarter", -0.9, 0.35], ["Side", -Math.PI / 2, 0], ["Front", 0, 0], ["Top", -Math.PI / 2, 1.57]];
const CUTS = [["", "No cut"], ["0", "Cut the side"], ["1", "Cut the top"], ["2", "Cut the front"]];
const LISTED = 300;
// The first word of a material's name says which part of the ship its plates are in.
const GROUPS = { Bow: "Bow", Cas: "Casemate", Cit: "Citadel", SS: "Superstructure", SSC: "Upper hull", St: "Stern", Stern: "Stern", Dual: "On two parts", Rudder: "Rudder", Tur: "Turret" };
const UNKNOWN = [0.75, 0.75, 0.78];

const { many } = assetq;
// A measure, rounded to four digits; counts are exact.
const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });
const add = shapes.add;

class Scene extends shapes.Comparing(shapes.Measuring(shapes.Look)) {
  constructor(element, part, page) {
    super(element, part, page);
    this.camera = new shapes.Camera();
    this.kinds = Object.keys(KINDS).filter((kind) => this.meta.parts.some((p) => p.kind === kind));
    // One kind hides the others: armour is the most wanted, if present.
    this.shown = new Set(this.kinds.slice(0, 1));
    this.off = new Set();
    // The numbers of the only parts that are shown, if one was isolated.
    this.only = null;
    this.spread = 0;
    this.blocks = new Map();
    this.chosen = this.under = null;
    // The ships and components of all files, and which one's thickness is shown.
    const uses = this.meta.armor.flat();
    this.ships = this.meta.files.length ? uses.filter(({ name }, i) => uses.findIndex((use) => use.name === name) === i) : uses;
    this.use = 0;
    this.sort = "area";
    this.plates = [];
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
      const name = part.name.slice(part.name.lastIndexOf("/") + 1).replace(this.ships.length > 1 ? /, [\d.]+ mm$/ : "", "");
      const material = part.kind === "armor" ? { ...this.meta.materials[part.material], name } : this.meta.materials[part.material];
      const stride = part.plates ? part.plates.length / 3 : 1;
      const file = files[index] ?? 0;
      firsts[file] ??= index;
      const model = { part, index, file, material, colour: this.colourOf(part, material, index - firsts[file]), twoSided: material.twoSided, first, stride, isShown: false };
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

  // Parts of unknown material have distinct pale colours.
  colourOf(part, { name, colour }, index) {
    if (part.kind !== "mesh" || name !== "unknown") return colour;
    const hue = (index * 0.618034) % 1;
    return [...[0, 1 / 3, 2 / 3].map((shift) => 0.68 + 0.1 * Math.cos((hue + shift) * 2 * Math.PI)), colour[3]];
  }

  // Lengths in metres, if the file's unit is known.
  get unit() { return this.meta.metres ?? 1; }
  length(value) { return `${number(value * this.unit)}${this.meta.metres ? " m" : " units"}`; }
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
      return this.refuse(this.element, "The tables of the file work, and “assetq view FILE --to FILE.png” draws,");
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
      if (this.ships.length > 1) {
        const uses = this.ships.map(({ name }, i) => [String(i), this.page.clean(name)]);
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
      else this.clearRule();
    };
    const acts = { f: fit, Home: fit, w: () => wire.input.click(), x: () => through.input.click(), m: () => this.measure(), g: () => this.gridBox.input.click(), i: () => this.isolate(this.only ? null : this.chosen), t: () => this.layers.size && this.thickest(), Escape: escape };
    looks.forEach((look, i) => (acts[i + 1] = look));
    this.steer(this.canvas, (by) => ((this.hasTurned = true), shapes.follow(this.camera, by)), acts);
    this.renderer.models = this.models;
    document.addEventListener("assetq-theme", () => this.paintGrid());
    this.fitted = this.fit();
    this.update();
    if (this.meta.beside) this.placeNames();
    this.hasThickness = this.ships.length > 0 || this.meta.parts.some((part) => part.thickness);
    if (this.layers.size && this.hasThickness) this.showThickness();
  }

  // The lists at the side: kinds with their parts, layers, plates, notes.
  lists() {
    const { el } = this.page;
    const lists = [this.spaceList(), ...(this.meta.beside ? [this.differences()] : []), ...this.kinds.map((kind) => this.kindList(kind))];
    if (this.layers.size) {
      const hide = (layer) => (on) => {
        const bit = 1 << Math.min(layer, 31);
        this.renderer.hidden = (on ? this.renderer.hidden & ~bit : this.renderer.hidden | bit) >>> 0;
        this.redraw();
      };
      const rows = [...this.layers].map(([layer, plates]) => this.line(this.layerColours.get(layer), `Layer ${layer}`, many(plates), { checked: true, change: hide(layer) }).row);
      this.layerList = el("details", { class: "scene-layers" }, el("summary", {}, `Layers of armour (${this.layers.size})`), rows);
      lists.push(this.layerList, this.plateList());
    }
    const notes = [...this.meta.damage.map((text) => `Damaged: ${text}`), ...this.meta.notes];
    if (notes.length) lists.push(el("details", {}, el("summary", {}, `Notes (${notes.length})`), notes.slice(0, LISTED).map((text) => el("p", {}, text))));
    return lists;
  }

  // Everything outside of parts: the grid, and how far parts are moved apart.
  spaceList() {
    const { el } = this.page;
    this.gridBox = this.check("Grid", "A grid below, with the scale and the axes (G)", (on) => ((this.hasGrid = on), this.paintGrid()), true);
    this.hasGrid = true;
    this.all = el("button", { hidden: true, title: "Show what was shown before (I)", onclick: () => this.isolate(null) }, "Show all again");
    const isMovable = this.models.length > 1 && !this.meta.places;
    const slider = el("input", { type: "range", min: "0", max: "100", value: "0", "aria-label": "Move parts apart", oninput: () => this.explode(slider.value / 100) });
    this.apart = slider;
    return el("div", { class: "scene-space" }, this.gridBox.label, isMovable && el("label", { class: "scene-check", title: "Move parts away from the middle" }, "Explode ", slider), this.all);
  }

  // Shows only the parts that a number or several belong to, or all again.
  async isolate(id) {
    const ids = Array.isArray(id) ? id : id === null ? [] : this.together(id);
    this.only = ids.length ? new Set(ids.map((one) => this.find(one).model.index)) : null;
    this.all.hidden = !this.only;
    if (this.only) this.chosen = null;
    this.card.replaceChildren();
    await this.update();
    await this.fit();
    this.page.hold();
  }

  // Moves each part away from the middle, by a share of its distance to it.
  explode(share) {
    this.spread = share;
    const { min, max } = this.middleBox ??= this.boxOf(this.models);
    const middle = min.map((v, i) => (v + max[i]) / 2);
    for (const model of this.models) {
      const { part } = model;
      model.shift = share ? middle.map((v, i) => ((part.min[i] + part.max[i]) / 2 - v) * share * 1.5) : undefined;
    }
    this.bounds(this.models).then((bounds) => ((this.renderer.bounds = this.around(bounds)), this.redraw()));
  }

  // The box around parts where the file has them.
  boxOf(models) {
    const { min, max } = shapes.nowhere();
    for (const { part } of models) part.min.forEach((v, i) => ((min[i] = Math.min(min[i], v)), (max[i] = Math.max(max[i], part.max[i]))));
    return { min, max };
  }

  // A box that contains the grid, too.
  around({ min, max }) {
    const { grid } = this;
    if (!grid) return { min, max };
    return { min: min.map((v, i) => Math.min(v, grid.part.min[i])), max: max.map((v, i) => Math.max(v, grid.part.max[i])) };
  }

  // Gives the grid a colour between the paper and the text.
  paintGrid() {
    if (this.grid) {
      const { paper } = this.renderer;
      const isLight = paper[0] > 0.5;
      this.grid.colour = [...paper.map((c) => c + (isLight ? -0.13 : 0.13)), 0.5];
      this.grid.isShown = this.hasGrid;
    }
    this.redraw();
  }

  // Draws the scale and the axes over the canvas.
  drawOver() {
    const { over, canvas } = this;
    const scale = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (over.width !== Math.round(width * scale) || over.height !== Math.round(height * scale)) Object.assign(over, { width: Math.round(width * scale), height: Math.round(height * scale) });
    const pen = over.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.drawMarks(pen);
  }

  drawMarks(pen) {
    const style = getComputedStyle(document.documentElement);
    const [ink, paper] = ["--fg", "--card"].map((name) => style.getPropertyValue(name).trim());
    this.drawNames(pen, ink, paper);
    if (!this.hasGrid) return;
    shapes.drawScale(pen, this.camera, [this.canvas.clientWidth, this.canvas.clientHeight],
      { unit: this.unit, hasMetres: !!this.meta.metres, axes: this.meta.axes, ink, paper });
  }

  kindList(kind) {
    const { el } = this.page;
    const [title, what] = KINDS[kind];
    const of = this.models.filter((model) => model.part.kind === kind);
    const items = of.reduce((sum, model) => sum + model.stride, 0);
    const all = el("input", { type: "checkbox", "aria-label": `Show ${title.toLowerCase()}`, checked: this.shown.has(kind), onchange: () => (this.shown[all.checked ? "add" : "delete"](kind), this.update()) });
    const levels = [];
    if (kind === "mesh" && this.lods.length) {
      const options = this.lods.map((lod) => [String(lod), `Level of detail ${lod}${this.hasGuess ? ", guessed" : ""}`]);
      levels.push(this.select("Level of detail", [...options, ["", "All levels"]], (lod) => ((this.lod = lod === "" ? null : Number(lod)), this.update())));
    }
    const files = new Set(of.map((model) => this.fileOf(model)));
    const list = el("div", { class: "scene-list" });
    const filter = el("input", { type: "search", placeholder: "Filter by name", "aria-label": `Filter ${title}`, oninput: () => fill() });
    const set = (models, on) => {
      for (const model of models) {
        this.off[on ? "delete" : "add"](model.index);
        if (model.input) model.input.checked = on;
      }
      this.update();
    };
    const fill = () => {
      const wanted = filter.value.toLowerCase();
      const found = of.filter(({ part, material }) => `${part.name} ${material.name}`.toLowerCase().includes(wanted));
      const listed = found.slice(0, LISTED);
      const groups = new Map();
      for (const model of listed) {
        const name = [files.size > 1 && this.fileOf(model), kind === "armor" && (this.meta.overlay ? this.tint(model) : groupOf(model.material.name))].filter(Boolean).join(" · ");
        groups.set(name, [...(groups.get(name) ?? []), model]);
      }
      list.replaceChildren();
      for (const [name, models] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const lines = models.map((model) => this.partLine(model));
        if (groups.size === 1) list.append(...lines);
        else {
          const box = el("input", { type: "checkbox", "aria-label": `Show ${name}`, checked: models.some(({ index }) => !this.off.has(index)), onchange: () => set(models, box.checked) });
          list.append(this.folder(box, `${name} (${models.length})`, true, ...lines));
        }
      }
      if (found.length > LISTED) list.append(el("p", {}, `… and ${many(found.length - LISTED)} more: filter by name`));
    };
    const both = [true, false].map((on) => el("button", { onclick: () => (set(of, on), fill()) }, on ? "All" : "None"));
    fill();
    return this.folder(all, `${title} (${many(items)} ${items === 1 ? what.replace(/(x)es$|s$/, "$1") : what})`, this.shown.has(kind) && of.length <= 60,
      ...levels, el("div", { class: "scene-all" }, of.length > 12 ? filter : null, both), list);
  }

  partLine(model) {
    const { part, material, index } = model;
    const isArmor = part.kind === "armor";
    const change = (on) => (this.off[on ? "delete" : "add"](index), this.update());
    const { row, input } = this.line(model.colour, isArmor ? material.name : part.name, isArmor ? many(model.stride) : part.kind === "zone" ? "" : many(part.triangles), { change, checked: !this.off.has(index) });
    if (this.meta.materials[part.material].image) row.querySelector(".scene-swatch").style.visibility = "hidden";
    row.title = this.page.clean(isArmor ? `${part.name}: plates` : `${part.name}, of ${material.name}`);
    model.input = input;
    return row;
  }

  // The plates: a line leads to the plate.
  plateList() {
    const { el } = this.page;
    this.list = el("div", { class: "scene-list" });
    this.scale = el("div", { class: "scene-list" });
    this.limits = ["from", "to"].map((end) => el("input", { type: "number", min: "0", step: "any", placeholder: end, "aria-label": `Thickness ${end}, in millimetres`, oninput: () => this.sieve() }));
    this.range = el("div", { hidden: true }, el("div", { class: "scene-all scene-range" }, "Thickness ", this.limits[0], " to ", this.limits[1], " mm"), this.scale);
    this.filter = el("input", { type: "search", placeholder: "Filter by material", "aria-label": "Filter plates", oninput: () => this.fillPlates() });
    this.sorts = this.select("Order of plates", [["area", "Largest first"], ["material", "By material"], ["layer", "By layer"]], (by) => ((this.sort = by), this.fillPlates()));
    const { warnings } = this.page.facts;
    const note = el("p", { class: "scene-note" }, warnings ? warnings.join(" ") : ["The game's parameters state how thick plates are, not this file: ", el("code", {}, "assetq view FILE --with GameParams.data"), " shows it."]);
    this.thickNote = note;
    const details = el("details", { ontoggle: () => details.open && this.loadPlates() }, el("summary", {}, "Plates, the largest first"), el("div", { class: "scene-all" }, this.filter, this.sorts), this.range, note, this.list);
    return (this.plateDetails = details);
  }

  async thickest() {
    this.foldSide(true);
    this.plateDetails.open = true;
    await this.loadPlates();
    this.plateDetails.scrollIntoView({ block: "start" });
    this.plateDetails.querySelector("input, select").focus({ preventScroll: true });
    if (!this.hasThickness) this.page.say("This page has no thickness of plates: the largest plates come first.");
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
    const [, layer, triangles] = part.plates.slice(plate * 3, plate * 3 + 3);
    const found = { model, plate, layer, triangles, area: 0, ...shapes.nowhere(), id: model.first + plate };
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

  // The thickness of a plate in millimetres, on the chosen ship; null if unknown.
  thick({ model, layer, plate }) {
    const uses = this.meta.armor[model.file] ?? [];
    if (!uses.length) return model.part.thickness?.[plate] ?? null;
    return uses[this.useIn(model.file)]?.plates[layer * 65536 + parseInt(model.material.name, 10)] ?? null;
  }

  // The number of the chosen ship and component in the list of a file, or of another component of this ship; -1 if the file has
  // neither.
  useIn(file, use = this.use) {
    if (!this.meta.files.length) return use;
    const [uses, ship] = [this.meta.armor[file] ?? [], this.ships[use]];
    const same = uses.findIndex(({ name }) => name === ship?.name);
    return same >= 0 ? same : uses.findIndex((use) => use.of === ship?.of);
  }

  // The row of a plate on the chosen ship: the table of its file has a row for each ship.
  rowOf(model, plate) { return model.part.plates[plate * 3] + Math.max(0, this.useIn(model.file)); }

  fillPlates() {
    const { el } = this.page;
    const by = {
      area: (a, b) => b.area - a.area,
      material: (a, b) => a.model.index - b.model.index || a.layer - b.layer,
      layer: (a, b) => a.layer - b.layer || a.model.index - b.model.index,
      thickness: (a, b) => (this.thick(b) ?? -1) - (this.thick(a) ?? -1) || b.area - a.area,
    }[this.sort];
    const wanted = this.filter.value.toLowerCase();
    const found = this.plates.filter((plate) => plate.model.material.name.toLowerCase().includes(wanted) && this.isInRange(this.thick(plate))).sort(by);
    const row = (plate) => {
      const thick = this.thick(plate);
      const note = `${thick === null ? "" : `${number(thick)} mm · `}layer ${plate.layer} · ${this.area(plate.area)}`;
      return this.line(this.shade(plate.model, plate.layer, thick), plate.model.material.name, note, { press: () => this.choose(plate.id, true) }).row;
    };
    this.list.replaceChildren(el("p", { class: "scene-note" }, `${many(found.length)} plates`), ...found.slice(0, LISTED).map(row));
    if (found.length > LISTED) this.list.append(el("p", {}, `… and ${many(found.length - LISTED)} more: filter by material`));
  }

  // Whether a thickness is in the range that is shown.
  isInRange(thick) {
    const [from, to] = this.limits.map(({ value }) => (value === "" ? null : Number(value)));
    return (from === null && to === null) || (thick !== null && thick >= (from ?? 0) && thick <= (to ?? Infinity));
  }

  // Hides plates whose thickness is out of the range.
  sieve() {
    this.renderer.sieves = this.limits.some(({ value }) => value !== "");
    this.colour(this.by);
  }

  // The scale of thicknesses: a line for each band shows its plates only, or all again.
  fillScale() {
    const counts = new Map();
    for (const model of this.models) {
      for (let i = 1; model.part.plates && i < model.part.plates.length; i += 3) {
        const thick = this.thick({ model, layer: model.part.plates[i], plate: (i - 1) / 3 });
        const band = thick === null ? null : this.bands.find(({ to }) => thick <= to);
        if (band) counts.set(band, (counts.get(band) ?? 0) + 1);
      }
    }
    const show = ({ from, to }) => {
      const ends = [from, to === Infinity ? "" : to].map(String);
      // The lower bound of a band belongs to the band below.
      if (from > 0) ends[0] = String(from + 0.001);
      const isShown = this.limits.every(({ value }, i) => value === ends[i]);
      this.limits.forEach((limit, i) => (limit.value = isShown ? "" : ends[i]));
      this.sieve();
    };
    this.range.hidden = !this.bands.length;
    this.scale.replaceChildren(...this.bands.map((band) => {
      const { row } = this.line(band.colour, band.text, many(counts.get(band) ?? 0), { press: () => show(band) });
      row.title = "Show these plates only, or all again";
      return row;
    }));
  }

  // Shows thicknesses first, once they are known.
  async showThickness() {
    this.sorts.prepend(this.page.el("option", { value: "thickness" }, "Thickest first"));
    this.colours.append(this.page.el("option", { value: "thickness" }, "By thickness"));
    this.thickNote.hidden = true;
    this.plateDetails.firstChild.textContent = "Plates, the thickest first";
    this.sorts.value = this.sort = this.colours.value = "thickness";
    await this.showUse(0);
  }

  // Shows how thick plates are on a ship and component.
  async showUse(use) {
    this.use = use;
    if (this.uses) this.uses.value = String(use);
    this.findBands();
    this.fillScale();
    this.colour("thickness");
    await this.loadPlates();
    if (this.chosen !== null) await this.choose(this.chosen);
  }

  // The bands of the game's scale that plates are in, from thin to thick.
  findBands() {
    const all = this.meta.scale.map(([to, colour], i) => {
      const from = i ? this.meta.scale[i - 1][0] : 0;
      return { from, to, text: `${number(from)} to ${number(to)} mm`, colour: colour.map((c) => c / 255) };
    });
    const last = all.at(-1);
    all.push({ ...last, from: last.to, to: Infinity, text: `more than ${number(last.to)} mm` });
    const found = new Set();
    for (const model of this.models) {
      for (let i = 1; model.part.plates && i < model.part.plates.length; i += 3) {
        const thick = this.thick({ model, layer: model.part.plates[i], plate: (i - 1) / 3 });
        if (thick !== null) found.add(all.find(({ to }) => thick <= to));
      }
    }
    this.bands = all.filter((band) => found.has(band));
  }

  // The colour of a plate, as plates are coloured now.
  shade(model, layer, thick) {
    if (!model.part.plates) return model.colour;
    if (this.by === "layer") return this.layerColours.get(layer);
    if (this.by !== "thickness") return model.colour;
    return thick === null ? UNKNOWN : this.bands.find(({ to }) => thick <= to)?.colour ?? UNKNOWN;
  }

  // Colours plates by their material, layer or thickness. Only the list that has these colours shows them.
  colour(by) {
    this.by = by;
    if (this.colours) this.colours.value = by;
    if (by === "layer") this.layerList.open = true;
    this.element.dataset.by = by;
    const isPlain = (by ?? "material") === "material" && !this.renderer.sieves;
    this.renderer.palette = isPlain ? null : new Uint8Array(4096 * Math.ceil(this.count / 1024)).fill(140);
    for (const model of isPlain ? [] : this.models) {
      const { part, first, stride } = model;
      for (let i = 0; i < stride * (part.places?.[1] ?? 1); i++) {
        const plate = i % stride, layer = part.plates?.[plate * 3 + 1];
        const thick = this.thick({ model, layer, plate });
        const alpha = part.plates && !this.isInRange(thick) ? 0 : 255;
        this.renderer.palette.set([...this.shade(model, layer, thick).slice(0, 3).map((c) => c * 255), alpha], (first + i) * 4);
      }
    }
    this.fillLegend();
    if (this.plates.length) this.fillPlates();
    this.redraw();
    this.page.hold();
  }

  // Names the colours on the picture, unless the lists do: materials of armour, and parts of unknown material.
  fillLegend() {
    const { el } = this.page;
    const { materials, overlay } = this.meta;
    // Colours of a texture need no names.
    const isOfFew = overlay || (!this.layers.size && materials.length <= 12 && materials.every(({ name, image }) => name !== "unknown" && !image));
    const isListed = (this.by ?? "material") === "material" && !isOfFew;
    this.legend.hidden = isListed;
    this.legend.replaceChildren(...(isListed ? [] : this.entries()).map(([text, colour]) => {
      const swatch = el("i", { class: "scene-swatch" });
      swatch.style.background = shapes.css(colour);
      return el("div", {}, swatch, text);
    }));
  }

  // The legend of the present colours: pairs of a text and a colour.
  entries() {
    if (this.by === "layer") return [...this.layerColours].map(([layer, colour]) => [`Layer ${layer}`, colour]);
    if (this.by === "thickness") {
      const bands = this.bands.map(({ text, colour }) => [text, colour]);
      const hasUnknown = this.models.some((model) => model.isShown && model.part.plates?.some((layer, i) => i % 3 === 1 && this.thick({ model, layer, plate: (i - 1) / 3 }) === null));
      return hasUnknown ? [...bands, ["unknown", UNKNOWN]] : bands;
    }
    return [...new Map(this.models.filter((model) => model.isShown && model.solid).map((model) => [this.meta.overlay ? this.tint(model) : model.material.name, model.colour]))];
  }

  isWanted({ part, index, lods, coarsest }) {
    const fits = !lods || this.lod === null || lods.includes(Math.min(this.lod, coarsest));
    return (this.only ? this.only.has(index) : this.shown.has(part.kind) && !this.off.has(index)) && fits;
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
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => [0, 1, 2].map((i) => ((c >> i) & 1 ? part.max : part.min)[i] + shift[i]));
      const m = await this.places(part);
      if (!m) corners.forEach(take);
      for (let i = 0; m && i < m.length; i += 12) {
        for (const p of corners) take([0, 1, 2].map((k) => m[i + k] * p[0] + m[i + 3 + k] * p[1] + m[i + 6 + k] * p[2] + m[i + 9 + k]));
      }
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

  // Begins to cut: the half toward the eye goes, so that the inside is seen.
  startCut() {
    const axis = this.axis.value;
    this.cutting.hidden = axis === "";
    if (axis !== "") this.side = this.camera.axes().eye[axis] < 0 ? -1 : 1;
    this.cut();
  }

  cut() {
    const axis = this.axis.value;
    const plane = [0, 0, 0, 1];
    if (axis !== "" && this.cutBox) {
      const { min, max } = this.cutBox;
      const at = min[axis] + (max[axis] - min[axis]) * (this.slider.value / 1000);
      plane[axis] = this.side;
      plane[3] = at * this.side;
      // The middle of a symmetric hull is 0 and not a rest of rounding.
      this.place.textContent = this.length(Math.abs(at) < (max[axis] - min[axis]) * 1e-4 ? 0 : at);
      this.slider.setAttribute("aria-valuetext", this.place.textContent);
    }
    this.renderer.section = plane;
    this.redraw();
    this.holdSoon();
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

  facts(id) {
    const { model, plate, place } = this.find(id);
    const { part, material } = model;
    const isArmor = part.kind === "armor";
    const facts = [["material", material.name]];
    if (plate !== null) {
      const [, layer, triangles] = part.plates.slice(plate * 3, plate * 3 + 3);
      const thick = this.thick({ model, layer, plate });
      facts.push(["layer", layer], ["thickness", thick === null ? "" : `${number(thick)} mm`], ["plate", this.rowOf(model, plate)], ["triangles", many(triangles)]);
    } else {
      facts.unshift(["part", part.name]);
      facts.push(["triangles", part.kind === "zone" ? "" : many(part.triangles)], ["levels of detail", model.lods ? model.lods.join(", ") + (model.isGuess ? ", guessed" : "") : ""]);
    }
    facts.push([isArmor ? "armour" : "model", this.meta.groups[part.group] ?? ""], ["file", this.fileOf(model)], ["version", this.meta.overlay ? this.tint(model) : ""]);
    if (part.places) facts.push(["place", `${place + 1} of ${part.places[1]}`]);
    return facts.filter(([, text]) => text !== "");
  }

  async choose(id, moves = false) {
    this.chosen = id;
    for (const model of this.models) model.twin = shapes.NONE;
    this.redraw();
    this.card.replaceChildren();
    this.page.hold();
    if (id === null) return;
    const { model, plate } = this.find(id);
    await Promise.all([this.load(model), this.loadRows()]);
    const ids = this.together(id);
    for (const other of ids) this.find(other).model.twin = other;
    this.redraw();
    const one = plate === null ? await this.bounds(ids.map((id) => ({ part: this.standing(id) }))) : this.plate(model, plate);
    if (this.chosen !== id) return;
    // A part is as large as it is before it is turned to its place.
    const own = plate === null ? await this.bounds(ids.map((id) => ({ part: { ...this.find(id).model.part, places: null } }))) : one;
    const extent = ["size", own.max.map((v, i) => number((v - own.min[i]) * this.unit)).join(" × ") + (this.meta.metres ? " m" : " units")];
    if (plate === null) {
      const [table, row] = model.part.kind === "zone" ? ["boxes", this.zone(model)] : ["instances", this.instance(id)];
      this.fillCard([...this.facts(id), extent], row < 0 ? null : table, row);
    } else {
      this.fillCard([...this.facts(id), ["area", this.area(one.area)], extent], model.file ? null : "armor_plates", this.rowOf(model, plate));
    }
    if (this.models.length > 1 && !this.only) this.card.append(this.page.el("button", { title: "Hide all other parts (I)", onclick: () => this.isolate(id) }, "Only this"));
    if (!moves) return;
    this.shown.add(model.part.kind);
    this.off.delete(model.index);
    if (model.input) model.input.checked = true;
    this.isFitted = false;
    this.camera.target = one.min.map((v, i) => (v + one.max[i]) / 2);
    this.camera.distance = Math.min(this.camera.distance, Math.max(Math.hypot(...add(one.max, one.min, -1)) * 4, this.camera.radius / 4));
    this.update();
  }

  // The parts of the instance that has a part, by their numbers: the part alone if it is of no instance.
  together(id) {
    const row = this.instance(id);
    return [...new Set([id, ...(row < 0 ? [] : this.partsOf(row))])];
  }

  // The part at one of its places only.
  standing(id) {
    const { model: { part }, place } = this.find(id);
    return part.places ? { ...part, places: [part.places[0] + place, 1] } : part;
  }

  // The row of the instance that something stands for, or -1.
  instance(id) {
    const { model, place } = this.find(id);
    return this.rows && model.part.places ? this.rows[model.part.places[0] + place] - 1 : -1;
  }

  // Decodes which row of instances each place is of.
  async loadRows() {
    if (!this.meta.rows || this.rows) return;
    const bytes = await this.block(this.meta.rows);
    this.rows = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  }

  // The parts of an instance that are shown, by its row.
  partsOf(row) {
    return !this.rows ? [] : this.models.flatMap((model) => {
      const [from, count] = model.part.places ?? [0, 0];
      const at = this.rows.subarray(from, from + count).indexOf(row + 1);
      return at >= 0 && this.isWanted(model) ? model.first + at * model.stride : [];
    });
  }

  // The first part of an instance, by its row.
  async partOf(row) {
    await this.loadRows();
    return this.partsOf(row)[0] ?? null;
  }

  // The number of a hit box among all hit boxes, which is its row.
  zone(model) { return this.models.filter(({ part }) => part.kind === "zone").indexOf(model); }

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
    if (this.hasTurned) state.eye = this.camera.text;
    return state;
  }

  // Shows the state that an address holds: a plate or a hit box by its row, colours, a section, and the camera.
  async show(params) {
    if (!this.renderer) return;
    await this.fitted;
    const [row, zone, cut, instance] = ["plate", "zone", "cut", "instance"].map((name) => params.get(name));
    let id = instance === null ? null : await this.partOf(Number(instance));
    // A plate has a row for each ship of its file.
    const file = Number(params.get("file")) || 0;
    const uses = this.meta.armor[file] ?? [];
    let use = (Number(params.get("use")) || 0) % Math.max(this.ships.length, 1);
    if (row !== null && uses.length && this.useIn(file, use) !== row % uses.length) {
      const own = uses[row % uses.length];
      use = this.ships.findIndex((ship) => ship === own || (this.meta.files.length && ship.name === own?.name));
    }
    if (this.ships[use] && use !== this.use) await this.showUse(use);
    for (const model of row === null ? [] : this.models) {
      const plates = model.file === file ? model.part.plates ?? [] : [];
      for (let i = 0; i < plates.length; i += 3) if (this.rowOf(model, i / 3) === Number(row)) id = model.first + i / 3;
    }
    if (zone !== null) id = this.models.filter(({ part }) => part.kind === "zone")[zone]?.first ?? null;
    const what = Object.entries({ plate: row, "hit box": zone, instance }).find(([, value]) => value !== null);
    if (id === null && what) this.page.say(`There is no ${what.join(" ")} here`);
    const by = params.get("by");
    if (by && this.colours && [...this.colours.options].some((option) => option.value === by)) this.colour(by);
    if (cut) {
      const [axis, at, side] = cut.split(",");
      [this.axis.value, this.slider.value] = [axis, at];
      this.startCut();
      this.side = Number(side) < 0 ? -1 : 1;
      this.cut();
    }
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

const groupOf = (name) => {
  const word = name.replace(/^\d+ /, "").match(/^(Dual|Bow|Cas|Cit|SSC|SS|Stern|St|Rudder|Tur)(?![a-z])|^Rudder|^Tur/)?.[0];
  return GROUPS[word] ?? "Other";
};

// The first vertex of each plate of a part.
const starts = (part) => {
  const all = [];
  for (let i = 0, vertex = 0; i < part.plates.length; i += 3) {
    all.push(vertex);
    vertex += part.plates[i + 2] * 3;
  }
  return all;
};

assetq.kinds.scene = {
  open: (element, part, page) => new Scene(element, part, page),
  links(part, table, row, page) {
    const name = { armor_plates: "plate", boxes: "zone", instances: "instance" }[table];
    const has = { plate: (one) => one.plates, zone: (one) => one.kind === "zone", instance: (one) => part.meta.rows && one.places }[name];
    return name && part.meta.parts.some(has) ? [[part.title, page.link(part.id, { [name]: row })]] : [];
  },
};
