// The colours of a scene: of plates by their material, layer or thickness; and lists of plates.
const { el, many } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const { number } = shapes;
const LISTED = 300;
const UNKNOWN = [0.75, 0.75, 0.78];

// The bands of the game's scale that plates are in, from thin to thick, counted once for each owner.
/** @type {WeakMap<Contents, Band[][]>} */
const counted = new WeakMap();

/** @type {(contents: Contents, use: number) => Band[]} */
const bandsOf = (contents, use) => {
  const known = counted.get(contents) ?? [];
  counted.set(contents, known);
  return (known[use] ??= countBands(contents, use));
};

/** @type {(contents: Contents, use: number) => Band[]} */
const countBands = (contents, use) => {
  const { scale } = contents.meta;
  const all = scale.map(([to, colour], i) => {
    const from = i ? scale[i - 1][0] : 0;
    return { from, to, text: `${number(from)} to ${number(to)} mm`, colour: colour.map((c) => c / 255), count: 0 };
  });
  const last = all[all.length - 1];
  all.push({ ...last, from: last.to, to: Infinity, text: `more than ${number(last.to)} mm` });
  for (const plate of contents.plates) {
    const band = bandOf(all, contents.thick(plate, use));
    if (band) band.count++;
  }
  return all.filter(({ count }) => count);
};

/** @type {(bands: Band[], thick: number | null) => Band | undefined} */
const bandOf = (bands, thick) => (thick === null ? undefined : bands.find(({ to }) => thick <= to));

// The colour of a plate, as plates are coloured now.
/** @type {(contents: Contents, now: SceneState, bands: Band[], plate: Plate) => number[]} */
const shade = (contents, { by, use }, bands, plate) => {
  if (by === "layer") return contents.layerColours.get(plate.layer) ?? UNKNOWN;
  return by === "thickness" ? bandOf(bands, contents.thick(plate, use))?.colour ?? UNKNOWN : plate.model.colour;
};

// The colours of some plates, each once, from the thinnest plate on.
shapes.coloursOf = (contents, now, plates) => {
  const bands = bandsOf(contents, now.use);
  const sorted = plates.toSorted((a, b) => (contents.thick(a, now.use) ?? -1) - (contents.thick(b, now.use) ?? -1));
  return [...new Set(sorted.map((plate) => shapes.css(shade(contents, now, bands, plate))))];
};

// The colours of all that can be pointed at, by number: of an opacity of 0 what is out of the range of thicknesses. null if
// each part has one colour.
shapes.palette = (contents, now) => {
  if (now.by === "material" && !shapes.hasRange(now)) return null;
  const palette = new Uint8Array(4096 * Math.ceil(contents.count / 1024)).fill(140);
  const bands = bandsOf(contents, now.use);
  for (const model of contents.models) {
    const own = model.plates.length ? model.plates.map((plate) => [...shade(contents, now, bands, plate).slice(0, 3), shapes.isInRange(now, contents.thick(plate, now.use)) ? 1 : 0]) : [[...model.colour.slice(0, 3), 1]];
    for (let i = 0; i < model.stride * contents.placesOf(model); i++) palette.set(own[i % model.stride].map((c) => c * 255), (model.first + i) * 4);
  }
  return palette;
};

// The legend of the present colours: pairs of a text and a colour.
shapes.entries = (contents, now) => {
  const shown = contents.models.filter((model) => shapes.isWanted(now, model));
  if (now.by === "layer") return [...contents.layerColours].map(([layer, colour]) => [`Layer ${layer}`, colour]);
  if (now.by === "thickness") {
    const hasUnknown = shown.some(({ plates }) => plates.some((plate) => contents.thick(plate, now.use) === null));
    return [...bandsOf(contents, now.use).map(({ text, colour }) => /** @type {LegendEntry} */ ([text, colour])), ...(hasUnknown ? [/** @type {LegendEntry} */ (["unknown", UNKNOWN])] : [])];
  }
  return [...new Map(shown.map((model) => [contents.meta.overlay ? contents.tint(model) : model.material.name, model.colour]))];
};

// Whether the lists name the colours, so that the picture need not: materials of armour, and parts of unknown material. Colours of a
// texture need no names.
shapes.areListed = ({ layers, meta: { materials, overlay } }, { by }) =>
  by === "material" && !overlay && (layers.size > 0 || materials.length > 12 || materials.some(({ name, image }) => name === "unknown" || image));

shapes.layerList = (contents, store) => {
  const hide = (/** @type {number} */ layer) => (/** @type {boolean} */ isOn) => {
    const bit = 1 << Math.min(layer, 31);
    store.change({ hidden: (isOn ? store.now.hidden & ~bit : store.now.hidden | bit) >>> 0 });
  };
  const lines = [...contents.layers].map(([layer, plates]) => ({ layer, ...shapes.line(contents.layerColours.get(layer) ?? UNKNOWN, `Layer ${layer}`, many(plates), { change: hide(layer) }) }));
  const list = el("details", { class: "scene-layers" }, el("summary", {}, `Layers of armour (${lines.length})`), lines.map(({ row }) => row));
  store.listen((now, before) => {
    const seen = new Set(contents.models.flatMap((model) => [...(shapes.layersSeen(contents, now, model) ?? [])]));
    for (const { layer, input } of lines) input.checked = seen.has(layer);
    // Only the list that has the colours shows them.
    if (now.by === "layer" && before.by !== "layer") list.open = true;
  });
  return list;
};

// The range of thicknesses, and the scale: a line for each band shows its plates only, or all again.
/** @type {(contents: Contents, store: Store) => HTMLElement} */
const rangeOf = (contents, store) => {
  /** @type {HTMLInputElement[]} */
  const limits = [];
  const read = () => limits.map(({ value }) => (value === "" ? null : Number(value)));
  const clear = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !shapes.hasRange(store.now)) return;
    event.preventDefault();
    store.change({ range: [null, null] });
  };
  for (const end of ["from", "to"]) limits.push(el("input", { type: "number", min: "0", step: "any", placeholder: end, "aria-label": `Thickness ${end}, in millimetres`,
    oninput: () => store.change({ range: read() }), onkeydown: clear }));
  const scale = el("div", { class: "scene-list" });
  const range = el("div", {}, el("div", { class: "scene-all scene-range" }, "Thickness ", limits[0], " to ", limits[1], " mm"), scale);
  store.listen((now, before) => {
    // A number that is being typed stays as it is.
    if (now.range !== before.range) read().forEach((end, i) => end !== now.range[i] && (limits[i].value = String(now.range[i] ?? "")));
    if (now.use === before.use) return;
    const bands = bandsOf(contents, now.use);
    range.hidden = !bands.length;
    scale.replaceChildren(...bands.map(({ from, to, text, colour, count }) => {
      // The lower bound of a band belongs to the band below.
      const ends = [from > 0 ? from + 0.001 : from, to === Infinity ? null : to];
      const { row } = shapes.line(colour, text, many(count), { press: () => store.change({ range: ends.join() === store.now.range.join() ? [null, null] : ends }) });
      row.title = "Show these plates only, or all again";
      return row;
    }));
  });
  return range;
};

// The plates: a line leads to the plate. They are measured when the list is first opened.
shapes.plateList = (contents, store, page, choose) => {
  const { warnings } = page.facts;
  const note = ["The game's parameters state how thick plates are, not this file: ", el("code", {}, "assetq view FILE --with GameParams.data"), " shows it."];
  /** @type {(Plate & { area: number })[]} */
  let plates = [];
  const list = el("div", { class: "scene-list" });
  const filter = el("input", { type: "search", placeholder: "Filter by material", "aria-label": "Filter plates", oninput: () => fill(store.now) });
  const orders = [["area", "Largest first"], ["material", "By material"], ["layer", "By layer"]];
  const order = shapes.select("Order of plates", contents.hasThickness ? [["thickness", "Thickest first"], ...orders] : orders, () => fill(store.now));
  const fill = (/** @type {SceneState} */ now) => {
    const thick = (/** @type {Plate} */ plate) => contents.thick(plate, now.use);
    /** @type {Record<string, (a: Plate & { area: number }, b: Plate & { area: number }) => number>} */
    const by = {
      area: (a, b) => b.area - a.area,
      material: (a, b) => a.model.index - b.model.index || a.layer - b.layer,
      layer: (a, b) => a.layer - b.layer || a.model.index - b.model.index,
      thickness: (a, b) => (thick(b) ?? -1) - (thick(a) ?? -1) || b.area - a.area,
    };
    const wanted = filter.value.toLowerCase();
    const found = plates.filter((plate) => plate.model.material.name.toLowerCase().includes(wanted) && shapes.isInRange(now, thick(plate))).sort(by[order.value]);
    const bands = bandsOf(contents, now.use);
    list.replaceChildren(el("p", { class: "scene-note" }, `${many(found.length)} plates`), ...found.slice(0, LISTED).map((plate) => {
      const text = `${thick(plate) === null ? "" : `${number(thick(plate))} mm · `}layer ${plate.layer} · ${contents.area(plate.area)}`;
      return shapes.line(shade(contents, now, bands, plate), plate.model.material.name, text, { press: () => choose(plate.id) }).row;
    }));
    if (found.length > LISTED) list.append(el("p", {}, `… and ${many(found.length - LISTED)} more: filter by material`));
  };
  const load = async () => {
    await Promise.all(contents.models.filter(({ plates }) => plates.length).map((model) => contents.load(model)));
    if (!plates.length) plates = contents.plates.map((plate) => ({ ...plate, area: contents.measure(plate).area }));
    fill(store.now);
  };
  const details = el("details", { ontoggle: ({ currentTarget }) => currentTarget.open && load() }, el("summary", {}, contents.hasThickness ? "Plates, the thickest first" : "Plates, the largest first"),
    el("div", { class: "scene-all" }, filter, order), rangeOf(contents, store), contents.hasThickness ? null : el("p", { class: "scene-note" }, warnings ? warnings.join(" ") : note), list);
  store.listen((now, before) => plates.length && (now.by !== before.by || now.use !== before.use || now.range !== before.range) && fill(now));
  return details;
};
