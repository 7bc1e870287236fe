// Two models side by side: their names, and how their plates differ.
const shapes = (assetq.shapes ??= {});
const { many } = assetq;

// Adds `differences` and `drawNames` to a class of scenes.
shapes.Comparing = (Base) => class extends Base {
  // The plates of each material and layer: for both models their number by thickness.
  platesOf() {
    const found = new Map();
    for (const model of this.models.filter(({ part }) => part.plates)) {
      const name = model.material.name.replace(/, [\d.]+ mm$/, "");
      for (let plate = 0; plate < model.stride; plate++) {
        const layer = model.part.plates[plate * 3 + 1];
        const key = `${name}, layer ${layer}`;
        const thick = this.thick({ model, layer, plate });
        if (!found.has(key)) found.set(key, { key, ids: [], sides: [new Map(), new Map()] });
        const of = found.get(key);
        of.sides[model.file].set(thick, (of.sides[model.file].get(thick) ?? 0) + (model.part.places?.[1] ?? 1));
        of.ids.push(model.first + plate);
      }
    }
    return [...found.values()];
  }

  // A list of what differs: a line shows these plates of both models only.
  differences() {
    const { el } = this.page;
    const said = (counts) => [...counts].sort(([a], [b]) => (a ?? -1) - (b ?? -1)).map(([thick, count]) => `${many(count)}${thick === null ? "" : ` of ${thick} mm`}`).join(", ") || "none";
    const all = this.platesOf();
    const differing = all.filter(({ sides }) => said(sides[0]) !== said(sides[1])).sort((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }));
    const line = ({ key, ids, sides }) => el("button", { class: "scene-line", title: "Show these plates only", onclick: () => this.isolate(ids) },
      el("span", { class: "scene-difference" }, el("b", {}, key), el("span", {}, `${said(sides[0])} → ${said(sides[1])}`)));
    const [first, second] = this.meta.files.map(([name]) => name);
    const note = differing.length ? `Plates by material and layer: ${first} → ${second}` : all.length ? "Both models have as many plates of each material, layer and thickness." : "Neither model has plates.";
    return el("details", { class: "scene-differences", open: true }, el("summary", {}, `Differences of plates (${many(differing.length)})`), el("p", { class: "scene-note" }, note), differing.map(line));
  }

  // Writes the name of each model above it.
  async placeNames() {
    this.signs = await Promise.all(this.meta.files.map(async ([name], file) => {
      const { min, max } = await this.bounds(this.models.filter((model) => model.file === file));
      return { name, at: [(min[0] + max[0]) / 2, max[1], (min[2] + max[2]) / 2] };
    }));
    this.redraw();
  }

  drawNames(pen, ink, paper) {
    for (const { name, at } of this.signs ?? []) {
      const [x, y] = this.renderer.project(this.camera, at);
      Object.assign(pen, { font: "600 14px system-ui, sans-serif", textAlign: "center", textBaseline: "bottom", lineJoin: "round", lineWidth: 4, strokeStyle: paper, fillStyle: ink });
      pen.strokeText(this.page.clean(name), x, y - 8);
      pen.fillText(this.page.clean(name), x, y - 8);
    }
  }
};
