// Levels of detail: stated by the file, or guessed. Meshes around which nearly the same box fits are levels of one
// thing, and the one with the most triangles is the finest.
const shapes = (assetq.shapes ??= {});
const ALIKE = 0.04; // by how much of its diagonal the sides of such boxes differ at most

/** @type {(part: Solid, other: Solid) => boolean} */
const isAlike = ({ min, max }, other) => {
  const limit = ALIKE * Math.hypot(...max.map((v, i) => v - min[i]));
  return [0, 1, 2].every((i) => Math.abs(min[i] - other.min[i]) <= limit && Math.abs(max[i] - other.max[i]) <= limit);
};

// Gives each model of a mesh its `lods`, and the `coarsest` level of what it belongs to. Returns whether any were guessed.
/** @param {Model[]} models */
shapes.findLevels = (models) => {
  /** @type {number[]} */
  const coarsest = [];
  for (const { part } of models) if (part.lods) coarsest[part.group] = Math.max(coarsest[part.group] ?? 0, ...part.lods);
  for (const model of models) if (model.part.lods) Object.assign(model, { lods: model.part.lods, coarsest: coarsest[model.part.group] });
  /** @type {Model[][]} */
  const things = [];
  // A mesh that stands in many places is a model of a space.
  const unknown = models.filter(({ part }) => part.kind === "mesh" && !part.lods && !(part.places?.[1] > 1));
  for (const model of unknown.toSorted((a, b) => b.part.triangles - a.part.triangles)) {
    const thing = things.find(([{ part, file }]) => file === model.file && isAlike(part, model.part));
    if (thing) thing.push(model);
    else things.push([model]);
  }
  if (things.every((thing) => thing.length === 1)) return false;
  for (const thing of things) thing.forEach((model, level) => Object.assign(model, { lods: [level], coarsest: thing.length - 1, isGuess: true }));
  return true;
};
