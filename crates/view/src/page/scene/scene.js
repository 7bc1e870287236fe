// Meshes, armour and collision hulls. What is shown follows from one state: each change of it is drawn, ticked in the lists, and put
// into the address.
const { el } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const { Look } = shapes;
const VIEWS = /** @type {[string, number, number][]} */ ([["Quarter", -0.9, 0.35], ["Side", -Math.PI / 2, 0], ["Front", 0, 0], ["Top", -Math.PI / 2, 1.57]]);
const LISTED = 300;
// The values that sliders and pointers change many times a second.
const QUICK = ["eye", "cut", "turns", "apart", "range"];

/** @extends {Look<number, SceneMeta>} */
class Scene extends Look {
  // null in a browser without WebGL 2, where nothing is built.
  /** @type {Renderer} */
  renderer;
  camera = new shapes.Camera();
  // Decodes what is shown.
  /** @type {Promise<void>} */
  decoded = Promise.resolve();

  /** @param {HTMLElement} element @param {PartOfKind<"scene">} part @param {Page} page @param {Contents} contents */
  constructor(element, part, page, contents) {
    super(element, part, page);
    this.contents = contents;
    this.store = new shapes.Store(contents);
    this.signs = contents.meta.beside ? shapes.signs(contents) : [];
    // The box around what is shown, which is framed.
    this.frame = contents.framed(contents.models.filter((model) => shapes.isWanted(this.store.now, model)));
    this.grid = shapes.grid(this.frame, this.unit);
    this.canvas = el("canvas", { class: "scene-canvas", tabindex: "0", "aria-label": `${this.title}: drag or arrow keys turn, Shift and arrow keys move, + and - zoom` });
    this.over = el("canvas", { class: "scene-over", "aria-hidden": "true" });
    this.status = el("div", { class: "scene-status" });
    this.legend = el("div", { class: "scene-legend", hidden: true });
    this.renderer = /** @type {Renderer} */ (shapes.Renderer.on(this.canvas, () => this.redraw()));
    const project = (/** @type {Point} */ point) => this.renderer.project(this.camera, point);
    this.ruler = new shapes.Ruler(this.canvas, project, (value) => this.length(value), page.say);
    if (this.renderer) this.build();
    else this.refuse(element, "The tables of the file work, and “assetq export FILE --to FILE.svg” draws,");
  }

  get shown() { return this.contents.models.filter(({ isShown }) => isShown); }

  // Changes that lists make leave the eye where it is.
  /** @param {Partial<SceneState>} patch */
  keep(patch) { this.store.change({ ...patch, eye: this.camera.eye }); }

  build() {
    const { contents, store, canvas, renderer } = this;
    /** @type {(text: string, title: string, onclick: () => void) => HTMLElement} */
    const button = (text, title, onclick) => el("button", { title, onclick }, text);
    const fit = () => this.fit();
    const looks = VIEWS.map(([, ...eye]) => () => store.change({ eye }));
    const bar = el("div", { class: "bar scene-bar" }, button("Fit", "Show all (F)", fit), el("span", { class: "scene-views" }, VIEWS.map(([name], i) => button(name, `${name} view (${i + 1})`, looks[i]))));
    const tools = el("span", { class: "scene-tools", id: `tools-${this.part.id}` });
    const more = el("button", { class: "scene-more", title: "Colours, cuts and more", "aria-expanded": "false", "aria-controls": tools.id, onclick: () => {
      more.setAttribute("aria-expanded", String(tools.classList.toggle("open")));
    } }, "Tools");
    const wire = shapes.check("Wireframe", "Edges only (W)", (wireframe) => store.change({ wireframe }));
    const through = shapes.check("See through", "Everything is transparent (X)", (seeThrough) => store.change({ seeThrough }));
    const colours = shapes.select("Colour of armour", contents.colourings.map((by) => [by, `By ${by}`]), (by) => store.change({ by: contents.colourings.find((one) => one === by) }));
    const uses = shapes.select("Ship and component", contents.owners.map(({ name }, i) => [String(i), assetq.clean(name)]), (use) => store.change({ use: Number(use), by: "thickness" }));
    // The parts follow first: the lists tick what they draw.
    store.listen((now, before) => this.follow(now, before));
    store.listen((now) => [wire.input.checked, through.input.checked, colours.value, uses.value] = [now.wireframe, now.seeThrough, now.by, String(now.use)]);
    const cut = shapes.cutControls(store, this.camera, () => this.frame, (value) => this.length(value));
    const isolate = (/** @type {number[] | null} */ ids) => this.isolate(ids);
    const plates = contents.plates.length ? shapes.plateList(contents, store, this.page, (id) => this.choose(id, true)) : null;
    if (plates) tools.append(colours, contents.owners.length > 1 ? uses : "", button("Plates", "The list of plates, the thickest first (T)", () => this.thickest(plates)));
    tools.append(cut.axis, wire.label, through.label, this.ruler.button, button("Save PNG", "Save the picture, at twice the size", () => this.picture()));
    bar.append(more, tools);
    const notes = [...contents.meta.damage.map((text) => `Damaged: ${text}`), ...contents.meta.notes];
    this.lay(bar, [canvas, this.over, this.ruler.marks, this.legend, cut.bar, this.status], [
      shapes.spaceList(contents, store, isolate), shapes.jointList(contents, store),
      contents.meta.beside ? shapes.differences(contents, store, isolate) : null,
      ...contents.kinds.map((kind) => shapes.partList(contents, store, kind, (patch) => this.keep(patch), (node, moves) => this.choose(node.plates[0].id, moves, node.whole))),
      plates && shapes.layerList(contents, store), plates,
      notes.length ? el("details", {}, el("summary", {}, `Notes (${notes.length})`), notes.slice(0, LISTED).map((text) => el("p", {}, text))) : null,
    ]);
    const escape = () => {
      if (this.ruler.isMeasuring) this.ruler.measure();
      else if (store.now.chosen !== null) this.choose(null);
      else if (store.now.only) this.isolate(null);
      else if (shapes.hasRange(store.now)) store.change({ range: [null, null] });
      else this.ruler.clear();
    };
    const isolated = () => (store.now.only || store.now.chosen === null ? isolate(null) : this.isolateChosen());
    /** @type {Record<string, () => void>} */
    const acts = { f: fit, Home: fit, w: () => wire.input.click(), x: () => through.input.click(), m: () => this.ruler.measure(), g: () => store.change({ grid: !store.now.grid }), i: isolated, t: () => plates && this.thickest(plates), Escape: escape };
    looks.forEach((look, i) => (acts[i + 1] = look));
    this.steer(canvas, (by) => {
      shapes.follow(this.camera, by);
      store.change({ eye: this.camera.eye });
    }, acts);
    renderer.models = [...contents.models, this.grid];
    document.addEventListener("assetq-theme", () => this.paintGrid());
    store.tell({});
  }

  // Draws a state, which before was another one.
  /** @param {SceneState} now @param {Partial<SceneState>} before */
  follow(now, before) {
    const { contents, renderer, element } = this;
    const differs = (/** @type {(keyof SceneState)[]} */ ...names) => names.some((name) => now[name] !== before[name]);
    const hasOthers = differs("parts", "only", "level");
    for (const model of hasOthers ? contents.models : []) model.isShown = shapes.isWanted(now, model);
    if (hasOthers || differs("range", "hidden", "use")) for (const model of contents.models) model.isDrawn = !!shapes.layersSeen(contents, now, model);
    if (differs("apart")) shapes.spread(contents, now.apart);
    if (differs("turns")) for (const rig of contents.rigs) rig.pose = shapes.pose(rig, contents.joints, now.turns);
    if (differs("by", "use", "range")) [renderer.palette, renderer.sieves] = [shapes.palette(contents, now), shapes.hasRange(now)];
    Object.assign(renderer, { hidden: now.hidden, wireframe: now.wireframe, seeThrough: now.seeThrough, chosen: now.chosen ?? shapes.NONE });
    if (differs("chosen", "whole", "parts", "only", "level")) {
      for (const model of contents.models) model.twins = undefined;
      for (const { model, numbers } of contents.selection(now, (one) => one.isShown)) model.twins = numbers;
    }
    if (hasOthers || differs("apart")) this.frame = contents.framed(this.shown);
    if (differs("apart", "turns")) {
      renderer.bounds = contents.bounds(contents.models);
      [this.grid.part.min, this.grid.part.max].forEach((point) => shapes.extend(renderer.bounds, point));
    }
    if (hasOthers || differs("apart", "eye")) this.aim();
    renderer.section = shapes.section(now.cut, this.frame);
    if (differs("grid")) this.paintGrid();
    if (hasOthers || differs("by", "use")) {
      element.dataset.by = now.by;
      this.legend.hidden = shapes.areListed(contents, now);
      this.legend.replaceChildren(...shapes.legendLines(this.legend.hidden ? [] : this.entries()));
    }
    if (differs("chosen", "whole", "use", "only")) this.showCard();
    if (hasOthers) this.decoded = this.decode();
    this.redraw();
    if (Object.keys(now).some((name) => !QUICK.includes(name) && differs(/** @type {keyof SceneState} */ (name)))) this.page.hold();
    else this.holdSoon();
  }

  // Puts the camera where the state has the eye. Two numbers are a direction, from which all is shown.
  aim() {
    const { camera, frame: { min, max, points }, store: { now: { eye } } } = this;
    camera.look(eye[0], eye[1]);
    if (eye.length > 2) [camera.eye, camera.radius] = [eye, shapes.radius({ min, max })];
    else camera.fit(min, max, shapes.aspect(this.canvas), points);
  }

  // Shows all, from where the eye looks.
  fit() { this.store.change({ eye: this.camera.eye.slice(0, 2) }); }

  // Shows what is shown in a canvas of another size.
  refit() {
    this.aim();
    this.redraw();
  }

  // Decodes what is shown and was not shown before.
  async decode() {
    const missing = this.shown.filter(({ solid }) => !solid);
    if (!missing.length) return;
    this.status.textContent = "Decoding …";
    try {
      await Promise.all(missing.map((model) => this.contents.load(model)));
      this.status.textContent = "";
    } catch (error) {
      this.status.textContent = `The page is damaged: ${error instanceof Error ? error.message : error}`;
    }
    this.element.dataset.ready = "1";
    this.redraw();
  }

  /** @param {HTMLDetailsElement} plates */
  thickest(plates) {
    this.foldSide(true);
    plates.open = true;
    plates.scrollIntoView({ block: "start" });
    /** @type {HTMLElement} */ (plates.querySelector("input, select")).focus({ preventScroll: true });
    if (!this.contents.hasThickness) this.page.say("This page has no thickness of plates: the largest plates come first.");
  }

  // Shows only the parts that some numbers belong to, or all again.
  /** @param {number[] | null} ids */
  isolate(ids) {
    const all = ids?.flatMap((id) => this.contents.together(id, (model) => model.isShown)) ?? null;
    this.store.change({ only: all && new Set(all.map((id) => this.contents.find(id).model.index)), chosen: null, eye: this.camera.eye.slice(0, 2) });
  }

  isolateChosen() { this.isolate(this.contents.selection(this.store.now, (model) => model.isShown).map(({ numbers }) => numbers[0])); }

  // Chooses what has a number, of a plate also its whole part or zone; the eye goes there if `moves`.
  /** @param {number | null} id @param {boolean} moves @param {SceneState["whole"]} whole */
  async choose(id, moves = false, whole = null) {
    const { contents, store, camera } = this;
    if (id === null || !moves) return store.change({ chosen: id, whole });
    this.keep(shapes.revealAll(contents, { ...store.now, chosen: id, whole }));
    const { now } = store;
    const isOfLevel = (/** @type {Model} */ model) => shapes.isOfLevel(now, model);
    await this.load(now, isOfLevel);
    if (!this.isChosen(now)) return;
    const { box: { min, max } } = shapes.boxOf(contents, now, isOfLevel);
    camera.target = min.map((v, i) => (v + max[i]) / 2);
    camera.distance = Math.min(camera.distance, Math.max(Math.hypot(...shapes.add(max, min, -1)) * 4, camera.radius / 4));
    store.change({ eye: camera.eye });
  }

  // Whether what was chosen is chosen still.
  /** @param {SceneState} then */
  isChosen(then) { return (/** @type {const} */ (["chosen", "whole", "use"])).every((name) => this.store.now[name] === then[name]); }

  // Decodes the parts that are chosen.
  /** @param {SceneState} now @param {(model: Model) => boolean} isWanted */
  load(now, isWanted) { return Promise.all(this.contents.selection(now, isWanted).map(({ model }) => this.contents.load(model))); }

  async showCard() {
    const { contents, store: { now } } = this;
    const { chosen, use, only } = now;
    this.card.replaceChildren();
    if (chosen === null) return;
    const isShown = (/** @type {Model} */ model) => model.isShown;
    await this.load(now, isShown);
    if (!this.isChosen(now)) return;
    const { own, area } = shapes.boxOf(contents, now, isShown);
    const extent = ["size", own.max.map((v, i) => shapes.number((v - own.min[i]) * this.unit)).join(" × ") + ` ${this.unitName}`];
    const node = now.whole && contents.nodeOf(now);
    const { table, row } = node ? { table: null, row: 0 } : shapes.rowOf(contents, use, chosen);
    const facts = node ? shapes.factsOfNode(contents, use, node) : this.facts(chosen);
    this.fillCard([...facts, ...(area === null ? [] : [/** @type {Fact} */ (["area", contents.area(area)])]), /** @type {Fact} */ (extent)], table, row);
    if (contents.models.length > 1 && !only) this.card.append(el("button", { title: "Hide all other parts (I)", onclick: () => this.isolateChosen() }, "Only this"));
  }

  /** @type {(x: number, y: number) => any} */
  press(x, y) {
    if (this.ruler.isMeasuring) return this.ruler.add(this.renderer.locate(this.camera, x, y));
    return this.choose(this.at(x, y, true));
  }

  /** @type {(x: number, y: number, isPressed?: boolean) => number | null} */
  at(x, y, isPressed) { return this.renderer.pick(this.camera, x, y, isPressed); }
  /** @param {number} id */
  facts(id) { return shapes.factsOf(this.contents, this.store.now.use, id); }
  entries() { return shapes.entries(this.contents, this.store.now); }

  // Gives the grid a colour between the paper and the text.
  paintGrid() {
    const { paper } = this.renderer;
    this.grid.colour = [...paper.map((/** @type {number} */ c) => c + (paper[0] > 0.5 ? -0.13 : 0.13)), 0.5];
    this.grid.isShown = this.store.now.grid;
    this.redraw();
  }

  /** @param {boolean} [moves] */
  draw(moves) {
    const { canvas, renderer, camera } = this;
    if (!canvas.clientWidth) return;
    renderer.under = this.under ?? shapes.NONE;
    renderer.draw(camera, moves);
    this.ruler.draw();
    shapes.drawOver(this.over, [canvas.clientWidth, canvas.clientHeight], (pen) => this.drawMarks(pen));
  }

  // Draws the names of models, the scale and the axes.
  /** @param {Pen} pen */
  drawMarks(pen) {
    const style = getComputedStyle(document.documentElement);
    const [ink, paper] = ["--fg", "--card"].map((name) => style.getPropertyValue(name).trim());
    shapes.drawNames(pen, this.signs, (point) => this.renderer.project(this.camera, point), ink, paper);
    if (!this.store.now.grid) return;
    shapes.drawScale(pen, this.camera, [this.canvas.clientWidth, this.canvas.clientHeight], { unit: this.unit, unitName: this.unitName, axes: this.contents.meta.axes, ink, paper });
  }

  // The parameters of the address.
  state() { return this.renderer ? this.store.write() : {}; }

  // Shows the state that an address holds. A link to a part that states no eye leads the eye there.
  /** @param {URLSearchParams} params */
  async show(params) {
    if (!this.renderer) return;
    const now = this.store.read(params, this.page.say);
    this.store.change(now);
    if (now.chosen !== null && !params.has("eye")) await this.choose(now.chosen, true, now.whole);
  }

  // A picture of what is shown at first, with its legend; null if nothing can be drawn.
  async still() {
    if (!this.renderer) return null;
    await this.decoded;
    this.renderer.finest(1, () => this.draw(false));
    const { canvas } = shapes.copy(this.canvas, (pen) => this.drawMarks(pen));
    return { canvas, legend: shapes.legendLines(this.legend.hidden ? [] : this.entries().slice(0, 16)) };
  }

  // Saves a picture with the legend and the scale, of twice as many pixels as the screen has.
  picture() {
    this.renderer.finest(2, () => this.draw(false));
    shapes.picture(this.canvas, this.title, this.entries().slice(0, 60), this.page, (pen) => this.drawMarks(pen), this.renderer.fine);
    this.redraw();
  }
}

assetq.kinds.scene = /** @type {KindOf<"scene">} */ ({
  open: async (element, part, page) => new Scene(element, part, page, await shapes.Contents.load(part.meta, page)),
  links(part, table, row, page) {
    /** @type {Record<string, string | undefined>} */
    const names = { armor_plates: "plate", boxes: "zone", instances: "instance" };
    const name = names[table];
    /** @type {Record<string, (one: Solid) => any>} */
    const has = { plate: (one) => one.plates, zone: (one) => one.kind === "zone", instance: (one) => part.meta.rows && one.places };
    return name && part.meta.parts.some(has[name]) ? [[part.title, page.link(part.id, { [name]: row })]] : [];
  },
});
