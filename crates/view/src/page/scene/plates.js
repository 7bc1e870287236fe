// Plates of armour: their thickness, their lists, and their colours.
const shapes = (assetq.shapes ??= {});
const { many } = assetq;
const { add } = shapes;
const { number } = shapes;
const LISTED = 300;
const UNKNOWN = [0.75, 0.75, 0.78];

// The first vertex of each plate of a part.
const starts = (part) => {
  const all = [];
  for (let i = 0, vertex = 0; i < part.plates.length; i += 3) {
    all.push(vertex);
    vertex += part.plates[i + 2] * 3;
  }
  return all;
};

shapes.Plating = (Base) => class extends Base {
  // The plates: a line leads to the plate.
  plateList() {
    const { el } = this.page;
    this.list = el("div", { class: "scene-list" });
    this.scale = el("div", { class: "scene-list" });
    this.limits = ["from", "to"].map((end) => el("input", { type: "number", min: "0", step: "any", placeholder: end, "aria-label": `Thickness ${end}, in millimetres`, oninput: () => this.sieve(),
      onkeydown: (event) => event.key === "Escape" && this.thicknesses && (event.preventDefault(), this.setThicknesses("")) }));
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

  // The thickness of a plate in millimetres, on the chosen owner; null if unknown.
  thick({ model, layer, plate }) {
    const uses = this.meta.armor[model.file] ?? [];
    if (!uses.length) return model.part.thickness?.[plate] ?? null;
    return uses[this.useIn(model.file)]?.plates[layer * 65536 + parseInt(model.material.name, 10)] ?? null;
  }

  // The number of the chosen owner in the list of a file, or of another one of the same name; -1 if the file has
  // neither.
  useIn(file, use = this.use) {
    if (!this.meta.files.length) return use;
    const [uses, owner] = [this.meta.armor[file] ?? [], this.owners[use]];
    const same = uses.findIndex(({ name }) => name === owner?.name);
    return same >= 0 ? same : uses.findIndex((use) => use.of === owner?.of);
  }

  // The row of a plate on the chosen owner: the table of its file has a row for each.
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
    const [from, to] = (this.limits ?? []).map(({ value }) => (value === "" ? null : Number(value)));
    return ((from ?? null) === null && (to ?? null) === null) || (thick !== null && thick >= (from ?? 0) && thick <= (to ?? Infinity));
  }

  // The range of thicknesses that is shown, in the form of the address: `from,to`; empty without a range.
  get thicknesses() {
    const text = (this.limits ?? []).map(({ value }) => value).join();
    return text === "," ? "" : text;
  }

  setThicknesses(text) {
    if (text === this.thicknesses) return;
    const ends = text.split(",");
    this.limits.forEach((limit, i) => (limit.value = ends[i] ?? ""));
    this.sieve();
  }

  // Hides plates whose thickness is out of the range.
  sieve() {
    this.renderer.sieves = !!this.thicknesses;
    this.tick();
    this.colour(this.by ?? "material");
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
      this.setThicknesses(this.thicknesses === ends.join() ? "" : ends.join());
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

  // Shows how thick plates are on an owner.
  async showUse(use) {
    this.use = use;
    if (this.uses) this.uses.value = String(use);
    this.findBands();
    this.fillScale();
    this.tick();
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
    const { materials, overlay } = this.meta;
    // Colours of a texture need no names.
    const isOfFew = overlay || (!this.layers.size && materials.length <= 12 && materials.every(({ name, image }) => name !== "unknown" && !image));
    const isListed = (this.by ?? "material") === "material" && !isOfFew;
    this.legend.hidden = isListed;
    this.legend.replaceChildren(...this.legendLines(isListed ? [] : this.entries()));
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
};
