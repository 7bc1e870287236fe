// The common parts of views of meshes and maps: a canvas with a tip at the pointer, a card for the chosen part, and lists.
const { el } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;

// A legend: pairs of a text and a colour.
shapes.legendLines = (entries) => entries.map(([text, colour]) => el("div", {}, swatch(colour), text));

/** @param {number[]} colour */
const swatch = (colour) => {
  const swatch = el("i", { class: "scene-swatch" });
  swatch.style.background = shapes.css(colour);
  return swatch;
};

// A heading that folds what follows, with a box to check before it.
shapes.folder = (check, title, isOpen, ...children) => {
  const body = el("div", { class: "folder-body", hidden: !isOpen }, ...children);
  const button = el("button", { class: "folder-title", "aria-expanded": String(isOpen), onclick: () => {
    body.hidden = !body.hidden;
    button.setAttribute("aria-expanded", String(!body.hidden));
  } }, title);
  return el("div", { class: "folder" }, el("div", { class: "folder-head" }, check, button), body);
};

shapes.check = (text, title, change, checked = false) => {
  const input = el("input", { type: "checkbox", checked, onchange: ({ currentTarget }) => change(currentTarget.checked) });
  return { input, label: el("label", { class: "scene-check", title }, input, text) };
};

shapes.select = (title, options, change) => {
  const select = el("select", { "aria-label": title, title, onchange: ({ currentTarget }) => change(currentTarget.value) });
  select.append(...options.map(([value, text]) => el("option", { value }, text)));
  return select;
};

// A line of a list: a colour, a name and a note; with a checkbox, or a button if `press` is given.
shapes.line = (colour, name, note, { change, checked, press }) => {
  const rest = [swatch(colour), el("span", { class: "scene-name", title: assetq.clean(name) }, name), el("span", { class: "scene-count" }, note)];
  const input = el("input", { type: "checkbox", checked, onchange: ({ currentTarget }) => change?.(currentTarget.checked) });
  return { input, row: press ? el("button", { class: "scene-line", onclick: press }, ...rest) : el("label", { class: "scene-line" }, input, ...rest) };
};

// The common parts of views; what is under the pointer, and what is chosen, are of a type of the view.
/** @template Id @template {SceneMeta | ChartMeta} Meta */
class Look {
  /** @type {Renderer | null | undefined} */
  renderer;
  /** @type {Id | null} */
  under = null;
  pointer = [-1, -1];
  isLooking = false;
  isWaiting = false;
  isMoving = false;
  isResting = false;
  frames = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  rest;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  holding;

  /** @param {HTMLElement} element @param {PartOf<any, Meta>} part @param {Page} page */
  constructor(element, part, page) {
    this.element = element;
    this.page = page;
    this.part = part;
    this.meta = part.meta;
    this.title = part.meta.name;
    this.tip = el("div", { class: "scene-tip", hidden: true });
    this.card = el("div", { class: "scene-chosen", "aria-live": "polite" });
    this.view = el("div", { class: "scene-view" });
    this.side = el("div", { class: "scene-side", tabindex: "0", role: "region", "aria-label": "lists" }, this.card);
    this.fold = el("button", { class: "scene-fold", "aria-expanded": "true", title: "Lists at the side (L)", onclick: () => this.foldSide() }, "Lists");
  }

  // Lengths in metres, if the file's unit is known.
  get unit() { return this.meta.metres ?? 1; }
  get unitName() { return this.meta.metres ? "m" : "units"; }
  /** @param {number} value */
  length(value) { return `${shapes.number(value * this.unit)} ${this.unitName}`; }

  // The functions of each view: drawing, also in a canvas of another size, finding the part at a point, and the facts about a part.
  /** @param {boolean} [moves] */
  draw(moves) {}
  refit() { this.redraw(); }
  /** @type {(x: number, y: number, isPressed?: boolean) => Id | null} */
  at() { return null; }
  /** @type {(id: Id) => Fact[]} */
  facts() { return []; }
  /** @type {(id: Id, facts: Fact[]) => Promise<Fact[] | null>} */
  async more() { return null; }
  /** @type {(id: Id | null, moves?: boolean) => any} */
  choose() {}
  /** @type {() => LegendEntry[]} */
  entries() { return []; }

  foldSide(isOpen = this.side.hidden) {
    this.side.hidden = !isOpen;
    this.fold.setAttribute("aria-expanded", String(isOpen));
  }

  // Puts a bar above `canvases`, and lists beside them, which a button of the bar folds.
  /** @param {HTMLElement} bar @param {HTMLElement[]} canvases @param {(HTMLElement | null)[]} lists */
  lay(bar, canvases, lists) {
    bar.append(this.fold);
    this.view.append(...canvases, this.tip);
    this.side.append(...lists.filter((list) => list !== null));
    this.element.classList.add("scene");
    const paper = el("div", { class: "scene-paper" });
    this.element.append(bar, el("div", { class: "scene-body" }, this.view, this.side), paper);
    // On paper the canvas keeps the form in which it was drawn, and the legend follows it, as the lists are left out.
    addEventListener("beforeprint", () => {
      const canvas = this.view.querySelector("canvas:not([hidden])");
      if (canvas instanceof HTMLCanvasElement) this.view.style.setProperty("--aspect", String(canvas.width / Math.max(canvas.height, 1)));
      paper.replaceChildren(...shapes.legendLines(this.entries()));
    });
  }

  // Adds controls to a canvas: `move` turns the view; `acts` are the actions of keys.
  /** @param {HTMLCanvasElement} canvas @param {(by: Move) => void} move @param {Record<string, () => void>} acts */
  steer(canvas, move, acts) {
    shapes.steer(canvas, {
      move: (by) => ((this.tip.hidden = true), move(by), this.redraw(true)),
      point: (x, y) => this.point(canvas, x, y),
      press: (x, y) => this.press(x, y),
    });
    acts.l = () => this.foldSide();
    canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || !acts[e.key]) return;
      e.preventDefault();
      acts[e.key]();
    });
    new ResizeObserver(() => this.refit()).observe(canvas);
  }

  /** @type {(x: number, y: number) => any} */
  press(x, y) { return this.choose(this.at(x, y, true)); }

  // Says what lies under the pointer, once a frame at most.
  /** @param {HTMLCanvasElement} canvas @param {number} x @param {number} y */
  point(canvas, x, y) {
    this.pointer = [x, y];
    if (this.isLooking) return;
    this.isLooking = true;
    requestAnimationFrame(() => {
      this.isLooking = false;
      const under = this.pointer[0] < 0 ? null : this.at(this.pointer[0], this.pointer[1]);
      this.tip.hidden = under === null;
      if (under !== this.under) {
        this.under = under;
        this.redraw();
        this.fillTip(under, canvas);
      }
      this.placeTip(canvas);
    });
  }

  /** @param {Id | null} under @param {HTMLCanvasElement} canvas */
  async fillTip(under, canvas) {
    if (under === null) return;
    const fill = (/** @type {Fact[]} */ facts) => this.tip.replaceChildren(...this.lines(facts.slice(0, 16)));
    const facts = this.facts(under);
    fill(facts);
    const more = await this.more(under, facts);
    if (!more || under !== this.under) return;
    fill(more);
    this.placeTip(canvas);
  }

  /** @param {HTMLCanvasElement} canvas */
  placeTip(canvas) {
    const box = canvas.getBoundingClientRect();
    /** @type {(at: number, size: number, room: number) => string} */
    const place = (at, size, room) => `${Math.max(0, Math.min(at + 14, room - size - 4))}px`;
    this.tip.style.left = place(this.pointer[0] - box.left, this.tip.offsetWidth, box.width);
    this.tip.style.top = place(this.pointer[1] - box.top, this.tip.offsetHeight, box.height);
  }

  // Says that nothing can be drawn, and what works without.
  /** @param {HTMLElement} element @param {string} what */
  refuse(element, what) {
    element.append(el("p", { class: "scene-none" }, `This browser shows no WebGL 2, which this needs. ${what} without.`));
  }

  /** @param {Fact[]} facts */
  lines(facts) { return facts.map(([name, text]) => el("div", {}, el("b", {}, `${name} `), String(text))); }

  // Shows what was chosen, with a link to its row.
  /** @param {Fact[]} facts @param {string | null} table @param {number} row */
  fillCard(facts, table, row) {
    this.foldSide(true);
    const close = el("button", { title: "Choose nothing (Esc)", "aria-label": "Choose nothing", onclick: () => this.choose(null) }, "×");
    this.card.replaceChildren(el("div", { class: "scene-title" }, el("b", {}, "Chosen"), close), ...this.lines(facts));
    const href = table && this.page.rowLink?.(table, row);
    if (href) this.card.append(el("a", { href }, `Row ${row} of ${table}`));
    /** @type {[string, string][]} */
    const others = table ? this.page.shapeLinks(table, row) : [];
    this.card.append(...others.filter(([title]) => title !== this.part.title).map(([title, href]) => el("a", { class: "scene-other", href }, `Shown in ${title}`)));
  }

  // Draws once the browser wants a frame. One that follows another at once, as it is turned, may be a draft; when
  // nothing follows, it is drawn whole, and as a fine still.
  redraw(moves = false, rests = false) {
    this.isMoving = moves || (this.isWaiting && this.isMoving);
    this.isResting = rests;
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      const { renderer } = this;
      if (renderer) renderer.rests = this.isResting;
      this.draw(this.isMoving);
      clearTimeout(this.rest);
      // If drawing is slow, lines and shades are drawn in the still frame only.
      if (renderer && (this.isMoving || (renderer.software && !this.isResting))) this.rest = setTimeout(() => this.redraw(false, true), renderer.software ? 400 : 200);
      if (this.isMoving) this.holdSoon();
      this.isMoving = false;
      // For measurements: how many frames were drawn, and how roughly.
      this.frames++;
      Object.assign(this.element.dataset, { frames: this.frames, draft: this.renderer?.draft ?? 0 });
    });
  }

  holdSoon() {
    clearTimeout(this.holding);
    this.holding = setTimeout(() => this.page.hold(), 300);
  }
}
/** @typedef {typeof Look} LookClass */
/** @template Id @template {SceneMeta | ChartMeta} Meta @typedef {Look<Id, Meta>} LookOf */
shapes.Look = Look;
