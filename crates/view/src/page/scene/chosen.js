// The part under the pointer and the chosen part: their facts, and links between them and the rows of tables.
const shapes = (assetq.shapes ??= {});
const { many } = assetq;
const { add } = shapes;
const { number } = shapes;

shapes.Choosing = (Base) => class extends Base {
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
      facts.push(["triangles", part.kind === "zone" ? "" : many(part.triangles)], ["levels of detail", model.lods ? model.lods.join(", ") + (part.isGuess ? ", guessed" : "") : ""]);
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
    if (moves) for (const one of this.together(id, true)) this.reveal(this.find(one).model, this.find(one).plate);
    const ids = this.together(id);
    for (const other of ids) this.find(other).model.twin = other;
    this.redraw();
    const one = plate === null ? await this.bounds(ids.map((id) => ({ part: this.standing(id) }))) : this.plate(model, plate);
    if (this.chosen !== id) return;
    // A part is as large as it is before it is turned to its place.
    const own = plate === null ? await this.bounds(ids.map((id) => ({ part: { ...this.find(id).model.part, places: null, rig: undefined } }))) : one;
    const extent = ["size", own.max.map((v, i) => number((v - own.min[i]) * this.unit)).join(" × ") + ` ${this.unitName}`];
    if (plate === null) {
      const [table, row] = model.part.kind === "zone" ? ["boxes", this.zone(model)] : ["instances", this.instance(id)];
      this.fillCard([...this.facts(id), extent], row < 0 ? null : table, row);
    } else {
      this.fillCard([...this.facts(id), ["area", this.area(one.area)], extent], model.file ? null : "armor_plates", this.rowOf(model, plate));
    }
    if (this.models.length > 1 && !this.only) this.card.append(this.page.el("button", { title: "Hide all other parts (I)", onclick: () => this.isolate(id) }, "Only this"));
    if (!moves) return;
    this.isFitted = false;
    this.camera.target = one.min.map((v, i) => (v + one.max[i]) / 2);
    this.camera.distance = Math.min(this.camera.distance, Math.max(Math.hypot(...add(one.max, one.min, -1)) * 4, this.camera.radius / 4));
    this.redraw();
  }

  // The parts of the instance that has a part, by their numbers: the part alone if it is of no instance.
  together(id, isAll = false) {
    const row = this.instance(id);
    return [...new Set([id, ...(row < 0 ? [] : this.partsOf(row, isAll))])];
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

  // The parts of an instance by its row: those that are shown, or all of the level that is shown.
  partsOf(row, isAll = false) {
    return !this.rows ? [] : this.models.flatMap((model) => {
      const [from, count] = model.part.places ?? [0, 0];
      const at = this.rows.subarray(from, from + count).indexOf(row + 1);
      return at >= 0 && (isAll ? this.isOfLevel(model) : this.isWanted(model)) ? model.first + at * model.stride : [];
    });
  }

  // The first part of an instance, by its row.
  async partOf(row) {
    await this.loadRows();
    return this.partsOf(row)[0] ?? this.partsOf(row, true)[0] ?? null;
  }

  // The number of a hit box among all hit boxes, which is its row.
  zone(model) { return this.models.filter(({ part }) => part.kind === "zone").indexOf(model); }
};
