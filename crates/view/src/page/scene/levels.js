// Levels of detail, which the file states, or which were guessed from boxes when the page was written.
const shapes = (assetq.shapes ??= {});

// Gives each model its `lods`, and the `coarsest` level of what it belongs to. Returns whether any were guessed.
/** @param {Model[]} models */
shapes.findLevels = (models) => {
  /** @type {number[]} */
  const coarsest = [];
  for (const { part } of models) if (part.lods) coarsest[part.group] = Math.max(coarsest[part.group] ?? 0, ...part.lods);
  for (const model of models) if (model.part.lods) Object.assign(model, { lods: model.part.lods, coarsest: coarsest[model.part.group] });
  return models.some(({ part }) => part.isGuess);
};
