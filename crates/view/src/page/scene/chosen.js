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

// The box around what is chosen, and its own size, before it is turned to its place. Its part must be loaded.
shapes.boxOf = (contents, id, isWanted) => {
  const { model, plate } = contents.find(id);
  if (plate) {
    const own = contents.measure(plate);
    const part = { ...model.part, min: own.min, max: own.max };
    return { own, box: contents.bounds([{ ...contents.standing(id), part }]), area: own.area };
  }
  const parts = contents.together(id, isWanted);
  return { own: contents.bounds(parts.map((one) => ({ part: contents.find(one).model.part }))), box: contents.bounds(parts.map((one) => contents.standing(one))), area: null };
};
