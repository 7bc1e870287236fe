// Two models side by side: their names, and how their plates differ.
const { el, many } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;

// The plates of each material and layer: for both models their number by thickness.
/** @type {(contents: Contents, use: number) => { key: string, ids: number[], sides: Map<number | null, number>[] }[]} */
const platesOf = (contents, use) => {
  const found = new Map();
  for (const plate of contents.plates) {
    const { model, layer, id } = plate;
    const key = `${contents.materialOf(model)}, layer ${layer}`;
    const thick = contents.thick(plate, use);
    if (!found.has(key)) found.set(key, { key, ids: [], sides: [new Map(), new Map()] });
    const { ids, sides } = found.get(key);
    sides[model.file].set(thick, (sides[model.file].get(thick) ?? 0) + contents.placesOf(model));
    ids.push(id);
  }
  return [...found.values()];
};

/** @param {Map<number | null, number>} counts */
const said = (counts) => [...counts].sort(([a], [b]) => (a ?? -1) - (b ?? -1)).map(([thick, count]) => `${many(count)}${thick === null ? "" : ` of ${thick} mm`}`).join(", ") || "none";

// A list of what differs on an owner: a line shows these plates of both models only.
shapes.differences = (contents, store, isolate) => {
  const [first, second] = contents.meta.files.map(([name]) => name);
  const list = el("details", { class: "scene-differences", open: true });
  store.listen(({ use }, before) => {
    if (use === before.use) return;
    const all = platesOf(contents, use);
    const differing = all.filter(({ sides }) => said(sides[0]) !== said(sides[1])).sort((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }));
    const note = differing.length ? `Plates by material and layer: ${first} → ${second}` : all.length ? "Both models have as many plates of each material, layer and thickness." : "Neither model has plates.";
    list.replaceChildren(el("summary", {}, `Differences of plates (${many(differing.length)})`), el("p", { class: "scene-note" }, note),
      ...differing.map(({ key, ids, sides }) => el("button", { class: "scene-line", title: "Show these plates only", onclick: () => isolate(ids) },
        el("span", { class: "scene-difference" }, el("b", {}, key), el("span", {}, `${said(sides[0])} → ${said(sides[1])}`)))));
  });
  return list;
};

// Each model's name, and where it is above the model.
shapes.signs = (contents) => contents.meta.files.map(([name], file) => {
  const { min, max } = contents.bounds(contents.models.filter((model) => model.file === file));
  return { name, at: [(min[0] + max[0]) / 2, max[1], (min[2] + max[2]) / 2] };
});

shapes.drawNames = (pen, signs, project, ink, paper) => {
  for (const { name, at } of signs) {
    const [x, y] = project(at);
    Object.assign(pen, { font: "600 14px system-ui, sans-serif", textAlign: "center", textBaseline: "bottom", lineJoin: "round", lineWidth: 4, strokeStyle: paper, fillStyle: ink });
    pen.strokeText(assetq.clean(name), x, y - 8);
    pen.fillText(assetq.clean(name), x, y - 8);
  }
};
