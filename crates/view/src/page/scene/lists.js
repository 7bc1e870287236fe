// The lists of parts: a line for each, by kind and by file, ticked if it is drawn.
const { el, many } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const LISTED = 300;

/** @type {(contents: Contents, model: Model, change: (isOn: boolean) => void) => Line} */
const partLine = (contents, { part, material, colour }, change) => {
  const { row, input } = shapes.line(colour, part.name, part.kind === "zone" ? "" : many(part.triangles), { change });
  const swatch = /** @type {HTMLElement} */ (row.querySelector(".scene-swatch"));
  if (contents.meta.materials[part.material].image) swatch.style.visibility = "hidden";
  row.title = assetq.clean(`${part.name}, of ${material.name}`);
  return { row, input };
};

const levelOf = (/** @type {Contents} */ { lods, hasGuess }, /** @type {Store} */ store, /** @type {Change} */ change) => {
  const options = lods.map((lod) => [String(lod), `Level of detail ${lod}${hasGuess ? ", guessed" : ""}`]);
  const select = shapes.select("Level of detail", [...options, ["", "All levels"]], (lod) => change({ level: lod === "" ? null : Number(lod) }));
  store.listen(({ level }) => (select.value = String(level ?? "")));
  return select;
};

// The parts of a kind: lines by file, or of armour a tree.
shapes.partList = (contents, store, kind, change, choose) => {
  const [title, what] = shapes.KINDS[kind];
  const of = contents.models.filter((model) => model.part.kind === kind);
  const items = of.reduce((sum, model) => sum + model.stride, 0);
  const isOfSeveral = new Set(of.map(({ file }) => file)).size > 1;
  /** @type {(models: Model[]) => (isOn: boolean) => void} */
  const show = (models) => (isOn) => change(shapes.tick(contents, store.now, models, isOn));
  // Boxes of the list, each with the parts that it stands for.
  /** @type {Tick[]} */
  let boxes = [];
  /** @type {(label: string, models: Model[]) => Tick} */
  const box = (label, models) => {
    const input = el("input", { type: "checkbox", "aria-label": `Show ${label}`, onchange: ({ currentTarget }) => show(models)(currentTarget.checked) });
    boxes.push({ input, models });
    return boxes[boxes.length - 1];
  };
  const all = box(title.toLowerCase(), of);
  const tick = (/** @type {SceneState} */ now) => {
    for (const { input, models, item } of boxes) {
      const drawn = models.filter((model) => model.isDrawn).length;
      input.checked = drawn > 0;
      input.indeterminate = drawn > 0 && drawn < models.filter((model) => shapes.isOfLevel(now, model)).length;
      item?.setAttribute("aria-checked", input.indeterminate ? "mixed" : String(input.checked));
    }
  };
  const zones = kind === "armor" ? shapes.armourTree(contents, store, box, () => tick(store.now), choose) : null;
  const list = zones?.tree ?? el("div", { class: "scene-list" });
  /** @param {Model[]} found */
  const lines = (found) => {
    const groups = Map.groupBy(found.slice(0, LISTED), (model) => (isOfSeveral ? contents.fileOf(model) : ""));
    list.replaceChildren();
    for (const [name, models] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const rows = models.map((model) => {
        const { row, input } = partLine(contents, model, show([model]));
        boxes.push({ input, models: [model] });
        return row;
      });
      if (groups.size === 1) list.append(...rows);
      else list.append(shapes.folder(box(name, models).input, `${name} (${models.length})`, true, ...rows));
    }
    if (found.length > LISTED) list.append(el("p", {}, `… and ${many(found.length - LISTED)} more: filter by name`));
  };
  const filter = el("input", { type: "search", placeholder: "Filter by name", "aria-label": `Filter ${title}`, oninput: () => fill() });
  const fill = () => {
    const wanted = filter.value.toLowerCase();
    boxes = [all];
    (zones?.lay ?? lines)(of.filter(({ part, material }) => `${part.name} ${material.name}`.toLowerCase().includes(wanted)));
    tick(store.now);
  };
  fill();
  store.listen(tick);
  return shapes.folder(all.input, `${title} (${many(items)} ${items === 1 ? what.replace(/(x)es$|s$/, "$1") : what})`, kind === contents.kinds[0] && of.length <= 60,
    kind === "mesh" && contents.lods.length > 0 && levelOf(contents, store, change),
    el("div", { class: "scene-all" }, of.length > 12 ? filter : null, [true, false].map((isOn) => el("button", { onclick: () => show(of)(isOn) }, isOn ? "All" : "None"))), list);
};
