// The state of a scene: all that a person can change in it, as plain values. Lists, address, legend and renderer follow from it.
/** @type {Shapes} */
const shapes = assetq.shapes;
const AXES = "xyz";
const VIEW = [-0.9, 0.35];
const WHOLES = /** @type {const} */ (["part", "zone"]);

/** @type {(contents: Contents) => SceneState} */
const first = ({ models, kinds, lods, hasThickness }) => ({
  parts: new Set(models.filter(({ part }) => part.kind === kinds[0]).map(({ index }) => index)),
  only: null, level: lods[0] ?? null, hidden: 0, by: hasThickness ? "thickness" : "material", use: 0, range: [null, null],
  cut: null, eye: VIEW, apart: 0, grid: true, wireframe: false, seeThrough: false, turns: {}, chosen: null, whole: null,
});

// Of what is shown.

shapes.isLayerShown = ({ hidden }, layer) => (hidden & (1 << Math.min(layer, 31))) === 0;
shapes.hasRange = ({ range }) => range.some((end) => end !== null);
shapes.isInRange = (now, thick) => !shapes.hasRange(now) || (thick !== null && thick >= (now.range[0] ?? 0) && thick <= (now.range[1] ?? Infinity));
shapes.isOfLevel = ({ level }, { lods, coarsest = 0 }) => !lods || level === null || lods.includes(Math.min(level, coarsest));
shapes.isWanted = (now, model) => (now.only ?? now.parts).has(model.index) && shapes.isOfLevel(now, model);

/** @type {(contents: Contents, now: SceneState, plate: Plate) => boolean} */
const isPlateSeen = (contents, now, plate) => shapes.isLayerShown(now, plate.layer) && shapes.isInRange(now, contents.thick(plate, now.use));

// The layers of the plates of a part that are not hidden; null if the part is not drawn.
shapes.layersSeen = (contents, now, model) => {
  if (!shapes.isWanted(now, model)) return null;
  const seen = new Set();
  for (const plate of model.plates) if (!seen.has(plate.layer) && isPlateSeen(contents, now, plate)) seen.add(plate.layer);
  return seen.size || !model.plates.length ? seen : null;
};

/** @type {(contents: Contents, now: SceneState, found: { model: Model, plate: Plate | null }) => boolean} */
const isSeen = (contents, now, { model, plate }) => (plate ? shapes.isWanted(now, model) && isPlateSeen(contents, now, plate) : !!shapes.layersSeen(contents, now, model));

// Changes of the state.

// Shows a part, or one of its plates, whatever hides it.
shapes.reveal = (contents, now, { model, plate }) => {
  const next = { ...now };
  if (next.only && !next.only.has(model.index)) next.only = null;
  if (!next.only) {
    // If the kind is hidden, all of it is shown.
    const kind = contents.models.filter(({ part }) => part.kind === model.part.kind);
    const isNone = !kind.some(({ index }) => now.parts.has(index));
    next.parts = new Set([...now.parts, ...(isNone ? kind : [model]).map(({ index }) => index)]);
  }
  if (!shapes.isOfLevel(next, model)) next.level = model.lods?.[0] ?? null;
  const plates = plate ? [plate] : model.plates;
  if (plates.length && !plates.some((one) => shapes.isInRange(next, contents.thick(one, next.use)))) next.range = [null, null];
  if (plates.length && !plates.some((one) => isPlateSeen(contents, next, one))) next.hidden = 0;
  return next;
};

// Shows all that is chosen; a zone or a part only if no plate of it is seen.
shapes.revealAll = (contents, now) => {
  if (now.whole && contents.nodeOf(now)?.plates.some((plate) => isSeen(contents, now, { model: plate.model, plate }))) return now;
  return contents.selection(now, (model) => shapes.isOfLevel(now, model)).reduce((state, found) => shapes.reveal(contents, state, found), now);
};

// Shows some parts or hides them. What else hides all of them ends.
shapes.tick = (contents, now, models, isOn) => {
  const all = new Set(now.only ?? now.parts);
  for (const { index } of models) all[isOn ? "add" : "delete"](index);
  const next = now.only ? { ...now, only: all } : { ...now, parts: all };
  const isSeen = models.some((model) => shapes.layersSeen(contents, next, model));
  return isOn && models.length && !isSeen ? shapes.reveal(contents, next, { model: models[0], plate: null }) : next;
};

// The address.

/** @type {(contents: Contents, now: SceneState, get: (name: string) => string) => number | null} */
const locate = (contents, now, get) => {
  const [index, place = 0] = get("part").split(",").filter(Boolean).map(Number);
  const models = index === undefined ? contents.models : contents.models.slice(index, index + 1).filter((model) => place < contents.placesOf(model));
  const [model] = models;
  if (get("plate")) {
    const plates = models.flatMap((one) => (one.file === (Number(get("file")) || 0) ? one.plates : []));
    const found = plates.find((plate) => contents.rowOf(plate, now.use) === Number(get("plate")));
    return found ? found.id + place * found.model.stride : null;
  }
  if (index !== undefined) return model ? model.first + place * model.stride : null;
  if (get("zone")) return contents.zones[Number(get("zone"))]?.first ?? null;
  if (!get("instance")) return null;
  const row = Number(get("instance"));
  return [...contents.partsOf(row, (one) => shapes.isWanted(now, one)), ...contents.partsOf(row, (one) => shapes.isOfLevel(now, one))][0] ?? null;
};

/** @type {(contents: Contents, now: SceneState) => Record<string, string>} */
const chosen = (contents, now) => {
  if (now.chosen === null) return {};
  const { model, plate, place } = contents.find(now.chosen);
  const row = contents.instance(now.chosen);
  /** @type {Record<string, string>} */
  const found = plate ? { plate: String(contents.rowOf(plate, now.use)), ...(model.file && { file: String(model.file) }) }
    : model.part.kind === "zone" ? { zone: String(contents.zones.indexOf(model)) } : row >= 0 ? { instance: String(row) } : {};
  if (now.whole) found.whole = now.whole;
  return locate(contents, now, (name) => found[name] ?? "") === now.chosen ? found : { ...found, part: `${model.index},${place}` };
};

/** @type {(contents: Contents, now: SceneState) => Record<string, string>} */
const texts = (contents, now) => {
  const has = (/** @type {Model} */ { index }) => now.parts.has(index);
  const kinds = contents.kinds.filter((kind) => contents.models.some((model) => model.part.kind === kind && has(model)));
  const off = contents.models.filter((model) => kinds.includes(model.part.kind) && !has(model));
  return {
    ...chosen(contents, now),
    use: String(now.use), by: now.by, cut: now.cut ? [now.cut.axis, now.cut.at, now.cut.side].join() : "",
    show: kinds.join(), off: off.map(({ index }) => index).join(), only: now.only ? [...now.only].join() || "none" : "",
    level: String(now.level ?? "all"), hide: [...contents.layers.keys()].filter((layer) => !shapes.isLayerShown(now, layer)).join(),
    thick: shapes.hasRange(now) ? now.range.map((end) => end ?? "").join() : "",
    turn: Object.entries(now.turns).map(([joint, degrees]) => joint + degrees).join(), apart: String(now.apart),
    grid: String(now.grid), wire: String(now.wireframe), through: String(now.seeThrough), eye: now.eye.join(),
  };
};

/** @type {(text: string, least: number, most: number) => number} */
const within = (text, least, most) => Math.max(least, Math.min(most, Number(text) || 0));

/** @type {(contents: Contents, params: URLSearchParams, say: (text: string) => void) => SceneState} */
const read = (contents, params, say) => {
  const now = first(contents);
  const usual = texts(contents, now);
  const get = (/** @type {string} */ name) => params.get(name) ?? usual[name] ?? "";
  const numbers = (/** @type {string} */ name) => get(name).split(",").filter(Boolean).map(Number);
  const [kinds, off, only, hide] = [get("show").split(","), new Set(numbers("off")), numbers("only").filter((index) => index in contents.models), numbers("hide")];
  now.parts = new Set(contents.models.filter(({ part, index }) => kinds.includes(part.kind) && !off.has(index)).map(({ index }) => index));
  if (only.length || get("only") === "none") now.only = new Set(only);
  now.level = get("level") === "all" ? null : contents.lods.find((lod) => String(lod) === get("level")) ?? now.level;
  for (const layer of contents.layers.keys()) if (hide.includes(layer)) now.hidden = (now.hidden | (1 << Math.min(layer, 31))) >>> 0;
  now.by = contents.colourings.find((by) => by === get("by")) ?? now.by;
  // A plate has a row for each owner in its file.
  const [file, row] = [Number(get("file")) || 0, Number(get("plate"))];
  const uses = contents.meta.armor[file] ?? [];
  now.use = within(get("use"), 0, Math.max(contents.owners.length - 1, 0));
  if (params.has("plate") && uses.length && Math.max(0, contents.useIn(file, now.use)) !== row % uses.length) {
    const own = uses[row % uses.length];
    now.use = Math.max(0, contents.owners.findIndex((owner) => owner === own || (contents.meta.files.length && owner.name === own?.name)));
  }
  const [from = null, to = null] = get("thick").split(",").map((end) => (end === "" || !Number.isFinite(Number(end)) ? null : Number(end)));
  if (contents.layers.size) now.range = [from, to];
  const [axis = "", at = "", side = ""] = get("cut").split(",");
  if (/^[012]$/.test(axis)) now.cut = { axis: Number(axis), at: within(at, 0, 1000), side: Number(side) < 0 ? -1 : 1 };
  const eye = get("eye").split(",").map(Number);
  if (eye.every(Number.isFinite) && (eye.length === 2 || (eye.length === 6 && eye[2] > 0))) now.eye = eye;
  now.apart = contents.isMovable ? within(get("apart"), 0, 100) : 0;
  [now.grid, now.wireframe, now.seeThrough] = ["grid", "wire", "through"].map((name) => get(name) === "true");
  /** @type {Record<string, number>} */
  const turns = {};
  for (const [, joint, around, degrees] of get("turn").matchAll(/(\d+)([xyz])(-?\d+)/g)) {
    if (Number(joint) < contents.joints.length) Number(degrees) && (turns[Number(joint) + around] = within(degrees, -180, 180));
    else if (contents.joints.length) say(`There is no joint ${joint} here`);
  }
  now.turns = turns;
  now.chosen = locate(contents, now, get);
  const what = ["plate", "zone", "instance", "part"].find((name) => params.has(name));
  if (what && now.chosen === null) say(`There is no ${what === "zone" ? "hit box" : what} ${get(what)} here`);
  if (now.chosen !== null && contents.find(now.chosen).plate) now.whole = WHOLES.find((whole) => whole === get("whole")) ?? null;
  return shapes.revealAll(contents, now);
};

class Store {
  /** @type {((now: SceneState, before: Partial<SceneState>) => void)[]} */
  listeners = [];

  /** @param {Contents} contents */
  constructor(contents) {
    this.contents = contents;
    this.now = first(contents);
    this.usual = texts(contents, this.now);
  }

  // Changes some values, and tells all listeners. What is chosen is drawn, or some of its plates are.
  /** @param {Partial<SceneState>} patch */
  change(patch) {
    const before = this.now;
    this.now = { ...before, ...patch };
    const { now, contents } = this;
    const found = now.chosen === null ? null : contents.find(now.chosen);
    if (!found?.plate) now.whole = null;
    if (found && !isSeen(contents, now, found)) now.chosen = (now.whole && contents.nodeOf(now)?.plates.find((plate) => isSeen(contents, now, { model: plate.model, plate }))?.id) ?? null;
    if (now.chosen === null) now.whole = null;
    this.tell(before);
  }

  /** @param {Partial<SceneState>} before */
  tell(before) {
    const { now } = this;
    for (const listener of this.listeners) listener(now, before);
  }

  /** @param {(now: SceneState, before: Partial<SceneState>) => void} listener */
  listen(listener) { this.listeners.push(listener); }

  // The state that the parameters of an address name; `say` says what the scene lacks.
  /** @type {(params: URLSearchParams, say: (text: string) => void) => SceneState} */
  read(params, say) { return read(this.contents, params, say); }

  // The parameters of an address for the present state: those that differ from the first state.
  write() {
    return Object.fromEntries(Object.entries(texts(this.contents, this.now)).filter(([name, text]) => text !== (this.usual[name] ?? "")));
  }
}
/** @typedef {typeof Store} StoreClass */
shapes.Store = Store;
