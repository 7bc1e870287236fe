// The part under the pointer and the chosen part: their facts.
const { many } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const { number } = shapes;

shapes.factsOf = (contents, use, id) => {
  const { model, plate, place } = contents.find(id);
  const { part, material, lods } = model;
  const levels = lods ? lods.join(", ") + (part.isGuess ? ", guessed" : "") : "";
  const thick = plate && contents.thick(plate, use);
  /** @type {Fact[]} */
  const facts = plate
    ? [["material", material.name], ["layer", plate.layer], ["thickness", thick === null ? "" : `${number(thick)} mm`], ["plate", contents.rowOf(plate, use)], ["triangles", many(plate.triangles)]]
    : [["part", part.name], ["material", material.name], ["triangles", part.kind === "zone" ? "" : many(part.triangles)], ["levels of detail", levels]];
  facts.push([part.kind === "armor" ? "armour" : "model", contents.meta.groups[part.group ?? -1] ?? ""], ["file", contents.fileOf(model)], ["version", contents.meta.overlay ? contents.tint(model) : ""]);
  if (part.places) facts.push(["place", `${place + 1} of ${part.places[1]}`]);
  return facts.filter(([, text]) => text !== "");
};

// The table and the row of what is chosen, if the page has them.
shapes.rowOf = (contents, use, id) => {
  const { model, plate } = contents.find(id);
  const row = plate ? contents.rowOf(plate, use) : model.part.kind === "zone" ? contents.zones.indexOf(model) : contents.instance(id);
  const table = plate ? (model.file ? null : "armor_plates") : model.part.kind === "zone" ? "boxes" : row < 0 ? null : "instances";
  return { table, row };
};

// The thickness of plates on an owner: of all, or from the least to the greatest; a text of nothing if none is known.
shapes.thickOf = (contents, plates, use) => {
  const all = plates.flatMap((plate) => contents.thick(plate, use) ?? []);
  if (!all.length) return "";
  const [least, most] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  return `${least === most ? "" : `${number(least)} to `}${number(most)} mm`;
};

// The facts of a zone of armour, or of a part of one.
shapes.factsOfNode = (contents, use, { name, whole, above, below, plates, models }) => {
  const places = models.reduce((sum, model) => sum + model.stride * contents.placesOf(model), 0);
  /** @type {Fact[]} */
  const facts = [["zone", above?.name ?? name], [whole === "part" ? "material" : "parts", whole === "part" ? name : many(below.length)], ["plates", many(plates.length)],
    ["thickness", shapes.thickOf(contents, plates, use)], ["places", places > plates.length ? many(places) : ""]];
  return facts.filter(([, text]) => text !== "");
};

// The box around what is chosen, its own size, before it is turned to its place, and of plates their area. Its parts must be loaded.
shapes.boxOf = (contents, now, isWanted) => {
  const found = contents.selection(now, isWanted);
  const [{ model, plate, numbers }] = found;
  if (plate) {
    const own = contents.measure(plate);
    const part = { ...model.part, min: own.min, max: own.max };
    return { own, box: contents.bounds([{ ...contents.standing(numbers[0]), part }]), area: own.area };
  }
  const area = now.whole && found.flatMap(({ model }) => model.plates).reduce((sum, one) => sum + contents.measure(one).area * contents.placesOf(one.model), 0);
  return { own: contents.bounds(found.map(({ model: { part } }) => ({ part }))), box: contents.bounds(found.map(({ model, numbers }) => (now.whole ? model : contents.standing(numbers[0])))), area };
};
