// The contents of a scene: its parts, with their plates, layers, levels of detail, owners and joints. They do not change, except that
// a solid is decoded when it is first shown, and that joints and *Explode* move parts.
/** @type {Shapes} */
const shapes = assetq.shapes;
const { add, number } = shapes;

shapes.KINDS = { armor: ["Armour", "plates"], mesh: ["Meshes", "parts"], hull: ["Collision hulls", "hulls"], zone: ["Hit boxes", "boxes"] };

// Parts of unknown material are grey, as elsewhere, with a shade of green or blue for all but the first.
shapes.colourOf = (part, { name, colour }, index) => {
  if (part.kind !== "mesh" || name !== "unknown") return colour;
  const turn = index * 0.618034 * 2 * Math.PI;
  const cold = 0.06 * (1 - Math.cos(turn));
  return [colour[0] - cold, colour[1] + 0.08 * Math.sin(turn), colour[2] + cold, colour[3]];
};

/** @type {(box: Box) => number} */
const size = ({ min, max }) => Math.hypot(...add(max, min, -1));

class Contents {
  /** @type {Map<string, Promise<ImageBitmap>>} */
  pictures = new Map();

  // Decodes where parts stand, and which row of instances each place is of.
  /** @type {(meta: SceneMeta, page: Page) => Promise<Contents>} */
  static async load(meta, page) {
    /** @type {(Uint8Array<ArrayBuffer> | null)[]} */
    const [places, rows] = await Promise.all([meta.places, meta.rows].map((name) => (name === null ? null : page.block(name))));
    return new Contents(meta, page, places && new Float32Array(places.buffer, places.byteOffset, places.byteLength / 4),
      rows && new Uint32Array(rows.buffer, rows.byteOffset, rows.byteLength / 4));
  }

  /** @param {SceneMeta} meta @param {Page} page @param {Float32Array | null} matrices @param {Uint32Array | null} rows */
  constructor(meta, page, matrices, rows) {
    this.meta = meta;
    this.page = page;
    this.matrices = matrices;
    this.rows = rows;
    this.kinds = Object.keys(shapes.KINDS).filter((kind) => meta.parts.some((part) => part.kind === kind));
    // The owners of the plates of all files.
    const uses = meta.armor.flat();
    this.owners = meta.files.length ? uses.filter(({ name }, i) => uses.findIndex((use) => use.name === name) === i) : uses;
    /** @type {Rig[]} */
    this.rigs = (meta.rigs ?? []).map((joints) => ({ joints, pose: null }));
    this.joints = shapes.jointNames(this.rigs);
    this.models = this.number();
    this.plates = this.models.flatMap(({ plates }) => plates);
    this.zones = this.models.filter(({ part }) => part.kind === "zone");
    const last = this.models.at(-1);
    this.count = last ? last.first + last.stride * this.placesOf(last) : 0;
    // Levels of detail, which the file states, or which were guessed from boxes when the page was written.
    this.lods = [...new Set(this.models.flatMap(({ lods }) => lods ?? []))].sort((a, b) => a - b);
    this.hasGuess = meta.parts.some(({ isGuess }) => isGuess);
    /** @type {Map<number, number>} */
    const layers = new Map();
    for (const { layer } of this.plates) layers.set(layer, (layers.get(layer) ?? 0) + 1);
    this.layers = new Map([...layers].sort(([a], [b]) => a - b));
    const colours = shapes.colours(layers.size);
    this.layerColours = new Map([...this.layers.keys()].map((layer, i) => [layer, colours[i]]));
    this.hasThickness = this.plates.length > 0 && (this.owners.length > 0 || meta.parts.some((part) => part.thickness));
    /** @type {SceneState["by"][]} */
    this.colourings = this.layers.size ? ["material", "layer", ...(this.hasThickness ? [/** @type {const} */ ("thickness")] : [])] : ["material"];
    this.isMovable = this.models.length > 1 && !meta.places;
    this.regions = this.grow();
  }

  // Numbers all that can be pointed at: each plate, and each place of each other part.
  number() {
    const { meta, owners } = this;
    let next = 0;
    /** @type {number[]} */
    const firsts = []; // the first part of each file
    /** @type {number[]} */
    const coarsest = []; // the coarsest level of each group
    for (const { lods, group } of meta.parts) if (lods && group !== undefined) coarsest[group] = Math.max(coarsest[group] ?? 0, ...lods);
    const files = meta.files.flatMap(([, count], file) => new Array(count).fill(file));
    return meta.parts.map((part, index) => {
      // Plates of one colour may be of several materials: their part names these.
      const name = part.name.slice(part.name.lastIndexOf("/") + 1).replace(owners.length > 1 ? /, [\d.]+ mm$/ : "", "");
      const material = part.kind === "armor" ? { ...meta.materials[part.material], name } : meta.materials[part.material];
      const stride = part.plates ? part.plates.length / 3 : 1;
      const file = files[index] ?? 0;
      firsts[file] ??= index;
      const first = next;
      next += stride * (part.places?.[1] ?? 1);
      const matrices = part.places && this.matrices ? this.matrices.subarray(part.places[0] * 12, (part.places[0] + part.places[1]) * 12) : null;
      /** @type {Model} */
      const model = { part, index, file, material, colour: shapes.colourOf(part, material, index - firsts[file]), twoSided: material.twoSided, first, stride, plates: [], matrices,
        isShown: false, isDrawn: false, lods: part.lods, coarsest: part.group === undefined ? 0 : coarsest[part.group], rig: part.rig === undefined ? undefined : this.rigs[part.rig] };
      let vertex = 0;
      for (let at = 0; part.plates && at < part.plates.length; at += 3) {
        const [row, layer, triangles] = part.plates.slice(at, at + 3);
        model.plates.push({ model, number: at / 3, row, layer, triangles, id: first + at / 3, vertex });
        vertex += triangles * 3;
      }
      return model;
    });
  }

  // Lengths in metres, if the file's unit is known.
  get unit() { return this.meta.metres ?? 1; }

  /** @param {number} value */
  area(value) { return `${number(value * this.unit ** 2)} ${this.meta.metres ? "m²" : "square units"}`; }

  // The name of a part's colour: of armour not always its material.
  /** @param {Model} model */
  tint({ part }) { return this.meta.materials[part.material].name; }

  // The file that a part is of, if the scene has several.
  /** @param {Model} model */
  fileOf({ file }) { return this.meta.files[file]?.[0] ?? ""; }

  /** @param {Model} model */
  placesOf({ part }) { return part.places?.[1] ?? 1; }

  /** @type {(id: number) => Found} */
  find(id) {
    let [low, high] = [0, this.models.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.models[middle].first <= id) low = middle;
      else high = middle - 1;
    }
    const model = this.models[low];
    const within = id - model.first;
    return { model, plate: model.plates[within % model.stride] ?? null, place: Math.floor(within / model.stride) };
  }

  // The row of the instance that something stands for, or -1.
  /** @param {number} id */
  instance(id) {
    const { model: { part }, place } = this.find(id);
    return this.rows && part.places ? this.rows[part.places[0] + place] - 1 : -1;
  }

  // The parts of an instance by its row.
  /** @type {(row: number, isWanted: (model: Model) => boolean) => number[]} */
  partsOf(row, isWanted) {
    return this.models.flatMap((model) => {
      const [from, count] = model.part.places ?? [0, 0];
      const at = this.rows ? this.rows.subarray(from, from + count).indexOf(row + 1) : -1;
      return at >= 0 && isWanted(model) ? model.first + at * model.stride : [];
    });
  }

  // The parts of the instance that has a part, by their numbers: the part alone if it is of no instance.
  /** @type {(id: number, isWanted: (model: Model) => boolean) => number[]} */
  together(id, isWanted) {
    const row = this.instance(id);
    return [...new Set([id, ...(row < 0 ? [] : this.partsOf(row, isWanted))])];
  }

  // Armour as a tree: zones of the ship, by file or version if there are several, their parts of one material, and plates.
  grow() {
    const armour = this.models.filter(({ part }) => part.kind === "armor");
    const isOfSeveral = new Set(armour.map(({ file }) => file)).size > 1;
    const name = (/** @type {Model} */ model) => [isOfSeveral && this.fileOf(model), this.meta.overlay ? this.tint(model) : model.part.region].filter(Boolean).join(" · ");
    /** @type {(models: Model[], name: (model: Model) => string) => [string, Model[]][]} */
    const groups = (models, name) => [...Map.groupBy(models, name)].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
    return groups(armour, name).map(([name, models]) => {
      /** @type {ArmourNode} */
      const zone = { name, whole: "zone", above: null, models, plates: models.flatMap(({ plates }) => plates), below: [] };
      zone.below = groups(models, (model) => this.materialOf(model)).map(([name, models]) => {
        /** @type {ArmourNode} */
        const part = { name, whole: "part", above: zone, models, plates: models.flatMap(({ plates }) => plates).sort((a, b) => a.layer - b.layer), below: [] };
        part.below = part.plates.map((plate) => ({ name: `Layer ${plate.layer}`, whole: null, above: part, models: [plate.model], plates: [plate], below: [] }));
        return part;
      });
      return zone;
    });
  }

  // The material of armour without its thickness, which the names of some scenes have.
  /** @param {Model} model */
  materialOf({ material }) { return material.name.replace(/, [\d.]+ mm$/, ""); }

  // The zone, the part or the plate that is chosen, if plates are.
  /** @type {(now: Pick<SceneState, "chosen" | "whole">) => ArmourNode | null} */
  nodeOf({ chosen, whole }) {
    const plate = chosen === null ? null : this.find(chosen).plate;
    const has = (/** @type {ArmourNode} */ { plates }) => plates.some((one) => one === plate);
    let node = plate ? this.regions.find(has) : undefined;
    while (node && node.whole !== whole) node = node.below.find(has);
    return node ?? null;
  }

  // The parts of the zone or the instance that is chosen, or the one part or plate; each with its first number and how many it has.
  /** @type {(now: Pick<SceneState, "chosen" | "whole">, isWanted: (model: Model) => boolean) => (Found & { numbers: [number, number] })[]} */
  selection(now, isWanted) {
    const node = now.whole && this.nodeOf(now);
    if (node) return node.models.map((model) => ({ model, plate: null, place: 0, numbers: [model.first, model.stride * this.placesOf(model)] }));
    return now.chosen === null ? [] : this.together(now.chosen, isWanted).map((id) => ({ ...this.find(id), numbers: [id, 1] }));
  }

  // The part at one of its places only.
  /** @param {number} id */
  standing(id) {
    const { model, place } = this.find(id);
    return { ...model, matrices: model.matrices?.subarray(place * 12, place * 12 + 12) ?? null };
  }

  // The thickness of a plate in millimetres, on an owner; null if unknown.
  /** @type {(plate: Plate, use: number) => number | null} */
  thick({ model, layer, number }, use) {
    const uses = this.meta.armor[model.file] ?? [];
    if (!uses.length) return model.part.thickness?.[number] ?? null;
    return uses[this.useIn(model.file, use)]?.plates[layer * 65536 + parseInt(model.material.name, 10)] ?? null;
  }

  // The number of an owner in the list of a file, or of another one of the same name; -1 if the file has neither.
  /** @type {(file: number, use: number) => number} */
  useIn(file, use) {
    if (!this.meta.files.length) return use;
    const [uses, owner] = [this.meta.armor[file] ?? [], this.owners[use]];
    const same = uses.findIndex(({ name }) => name === owner?.name);
    return same >= 0 ? same : uses.findIndex((use) => use.of === owner?.of);
  }

  // The row of a plate on an owner: the table of its file has a row for each.
  /** @type {(plate: Plate, use: number) => number} */
  rowOf({ model, row }, use) { return row + Math.max(0, this.useIn(model.file, use)); }

  // The area of a plate and the box around it, as its file has them, from its triangles. Its part must be loaded.
  /** @type {(plate: Plate) => Box & { area: number }} */
  measure({ model: { part, solid }, triangles, vertex }) {
    const found = { area: 0, ...shapes.nowhere() };
    for (let i = vertex; solid && i < vertex + triangles * 3; i += 3) {
      const [a, b, c] = [0, 1, 2].map((corner) => shapes.position(part, solid.words, i + corner));
      found.area += Math.hypot(...shapes.cross(add(b, a, -1), add(c, a, -1))) / 2;
      for (const corner of [a, b, c]) shapes.extend(found, corner);
    }
    return found;
  }

  // The box around models, wherever they stand; `isPosed` if joints that turned move them.
  /** @type {(models: Standing[], isPosed?: boolean) => Frame} */
  bounds(models, isPosed = true) {
    const box = { ...shapes.nowhere(), points: /** @type {Point[]} */ ([]) };
    for (const { part, rig, matrices, shift = [0, 0, 0] } of models) {
      let corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => [0, 1, 2].map((i) => ((c >> i) & 1 ? part.max : part.min)[i]));
      // Vertices lie between the places that their joints give them.
      for (const m of [isPosed ? rig?.pose : null, matrices]) {
        if (m) corners = Array.from({ length: m.length / 12 }, (_, n) => corners.map((p) => [0, 1, 2].map((k) => m[n * 12 + k] * p[0] + m[n * 12 + 3 + k] * p[1] + m[n * 12 + 6 + k] * p[2] + m[n * 12 + 9 + k]))).flat();
      }
      for (const corner of corners) {
        box.points.push(add(corner, shift));
        shapes.extend(box, add(corner, shift));
      }
    }
    return models.length ? box : { min: [-1, -1, -1], max: [1, 1, 1], points: [] };
  }

  // The box to frame: around all, or around what holds 99 % of the triangles, if the few others would make it less than half as
  // large. Some models have a sheet of two triangles far from the rest. Joints that turn leave it as it is.
  /** @type {(models: Model[]) => Frame} */
  framed(models) {
    const weight = (/** @type {Model} */ model) => model.part.triangles * this.placesOf(model);
    const sorted = models.toSorted((a, b) => weight(b) - weight(a));
    let left = models.reduce((sum, model) => sum + weight(model), 0) * 0.99;
    const most = sorted.filter((model) => left > 0 && ((left -= weight(model)), true));
    const [all, box] = [this.bounds(models, false), this.bounds(most, false)];
    if (size(box) * 2 > size(all)) return all;
    const limit = size(box) * 1.25;
    // Small parts beside the large ones are framed with them.
    for (const model of sorted.slice(most.length)) {
      const own = this.bounds([model], false);
      const both = { min: box.min.map((v, i) => Math.min(v, own.min[i])), max: box.max.map((v, i) => Math.max(v, own.max[i])) };
      if (size(both) <= limit) Object.assign(box, both, { points: [...box.points, ...own.points] });
    }
    return box;
  }

  // The image of a block, decoded once.
  /** @param {string} block */
  imageOf(block) {
    const decode = async () =>
      createImageBitmap(new Blob([await this.page.block(block)], { type: "image/png" }), { premultiplyAlpha: "none", colorSpaceConversion: "none" });
    const image = this.pictures.get(block) ?? decode();
    this.pictures.set(block, image);
    return image;
  }

  // Decodes the solid of a part, and its images: the colour, then what the surface does to light.
  /** @param {Model} model */
  async load(model) {
    if (model.solid) return;
    const { image, maps } = this.meta.materials[model.part.material];
    const pictures = Promise.all([image, ...maps].map((block) => block && this.imageOf(block)));
    const [bytes, images] = await Promise.all([this.page.block(model.part.block), pictures]);
    if (!model.solid) Object.assign(model, { images, solid: shapes.unpack(model.part, bytes) });
  }
}
/** @typedef {typeof Contents} ContentsClass */
shapes.Contents = Contents;
