// The common parts of views of meshes and maps: a canvas with a tip at the pointer, a card for the chosen part, and lists.
const shapes = (assetq.shapes ??= {});

shapes.Look = class {
  element; page; part; meta; renderer;

  // Whether the view shows all, as `fit` left it. It then does so in a canvas of any size.
  isFitted = false;

  constructor(element, part, page) {
    Object.assign(this, { element, page, part, meta: part.meta, title: part.meta.name });
    this.tip = page.el("div", { class: "scene-tip", hidden: true });
    this.card = page.el("div", { class: "scene-chosen", "aria-live": "polite" });
  }

  // Lengths in metres, if the file's unit is known.
  get unit() { return this.meta.metres ?? 1; }
  get unitName() { return this.meta.metres ? "m" : "units"; }
  length(value) { return `${shapes.number(value * this.unit)} ${this.unitName}`; }

  // The functions of each view: drawing, fitting, finding the part at a point, and the facts about a part.
  draw(moves) {}
  refit() {}
  at(x, y, isPressed) { return null; }
  facts(id) { return []; }
  async more(id, facts) { return null; }
  choose(id, moves) {}
  entries() { return []; }

  // Puts a bar above `canvases`, and lists beside them, which a button of the bar folds.
  lay(bar, canvases, lists) {
    const { el } = this.page;
    const side = el("div", { class: "scene-side", tabindex: "0", role: "region", "aria-label": "lists" }, this.card, ...lists);
    const fold = el("button", { class: "scene-fold", "aria-expanded": "true", title: "Lists at the side (L)", onclick: () => this.foldSide() }, "Lists");
    this.foldSide = (isOpen = side.hidden) => {
      side.hidden = !isOpen;
      fold.setAttribute("aria-expanded", String(isOpen));
    };
    bar.append(fold);
    this.view = el("div", { class: "scene-view" }, ...canvases, this.tip);
    this.element.classList.add("scene");
    const paper = el("div", { class: "scene-paper" });
    this.element.append(bar, el("div", { class: "scene-body" }, this.view, side), paper);
    // On paper the canvas keeps its form, and the legend follows it, as the lists are left out.
    addEventListener("beforeprint", () => {
      this.view.style.setProperty("--aspect", String(this.view.clientWidth / Math.max(this.view.clientHeight, 1) || 1));
      paper.replaceChildren(...this.legendLines(this.entries()));
    });
  }

  // A legend: pairs of a text and a colour.
  legendLines(entries) {
    return entries.map(([text, colour]) => {
      const swatch = this.page.el("i", { class: "scene-swatch" });
      swatch.style.background = shapes.css(colour);
      return this.page.el("div", {}, swatch, text);
    });
  }

  // A heading that folds what follows, with a box to check before it.
  folder(check, title, isOpen, ...children) {
    const { el } = this.page;
    const body = el("div", { class: "folder-body", hidden: !isOpen }, ...children);
    const button = el("button", { class: "folder-title", "aria-expanded": String(isOpen), onclick: () => {
      body.hidden = !body.hidden;
      button.setAttribute("aria-expanded", String(!body.hidden));
    } }, title);
    return el("div", { class: "folder" }, el("div", { class: "folder-head" }, check, button), body);
  }

  // Adds controls to a canvas: `move` turns the view; `acts` are the actions of keys.
  steer(canvas, move, acts) {
    shapes.steer(canvas, {
      move: (by) => ((this.tip.hidden = true), (this.isFitted = false), move(by), this.redraw(true)),
      point: (x, y) => this.point(canvas, x, y),
      press: (x, y) => this.press(x, y),
    });
    acts.l = () => this.foldSide();
    canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || !acts[e.key]) return;
      e.preventDefault();
      acts[e.key]();
    });
    new ResizeObserver(() => (this.isFitted ? this.refit() : this.redraw())).observe(canvas);
  }

  press(x, y) { return this.choose(this.at(x, y, true)); }

  // Says what lies under the pointer, once a frame at most.
  point(canvas, x, y) {
    this.pointer = [x, y];
    if (this.looks) return;
    this.looks = true;
    requestAnimationFrame(() => {
      this.looks = false;
      const under = this.pointer[0] < 0 ? null : this.at(...this.pointer);
      this.tip.hidden = under === null;
      if (under !== this.under) {
        this.under = under;
        this.redraw();
        this.fillTip(under, canvas);
      }
      this.placeTip(canvas);
    });
  }

  async fillTip(under, canvas) {
    if (under === null) return;
    const fill = (facts) => this.tip.replaceChildren(...this.lines(facts.slice(0, 16)));
    const facts = this.facts(under);
    fill(facts);
    const more = await this.more(under, facts);
    if (!more || under !== this.under) return;
    fill(more);
    this.placeTip(canvas);
  }

  placeTip(canvas) {
    const box = canvas.getBoundingClientRect();
    const place = (at, size, room) => `${Math.max(0, Math.min(at + 14, room - size - 4))}px`;
    this.tip.style.left = place(this.pointer[0] - box.left, this.tip.offsetWidth, box.width);
    this.tip.style.top = place(this.pointer[1] - box.top, this.tip.offsetHeight, box.height);
  }

  // Says that nothing can be drawn, and what works without.
  refuse(element, what) {
    element.append(this.page.el("p", { class: "scene-none" }, `This browser shows no WebGL 2, which this needs. ${what} without.`));
  }

  lines(facts) {
    const { el } = this.page;
    return facts.map(([name, text]) => el("div", {}, el("b", {}, `${name} `), String(text)));
  }

  // Shows what was chosen, with a link to its row.
  fillCard(facts, table, row) {
    const { el } = this.page;
    this.foldSide(true);
    const close = el("button", { title: "Choose nothing (Esc)", "aria-label": "Choose nothing", onclick: () => this.choose(null) }, "×");
    this.card.replaceChildren(el("div", { class: "scene-title" }, el("b", {}, "Chosen"), close), ...this.lines(facts));
    const href = table && this.page.rowLink?.(table, row);
    if (href) this.card.append(el("a", { href }, `Row ${row} of ${table}`));
    const others = table ? this.page.shapeLinks(table, row).filter(([title]) => title !== this.part.title) : [];
    this.card.append(...others.map(([title, href]) => el("a", { class: "scene-other", href }, `Shown in ${title}`)));
  }

  check(text, title, change, checked = false) {
    const input = this.page.el("input", { type: "checkbox", checked, onchange: () => change(input.checked) });
    return { input, label: this.page.el("label", { class: "scene-check", title }, input, text) };
  }

  select(title, options, change) {
    const { el } = this.page;
    const select = el("select", { "aria-label": title, title, onchange: () => change(select.value) });
    select.append(...options.map(([value, text]) => el("option", { value }, text)));
    return select;
  }

  // A line of a list: a colour, a name and a note; with a checkbox, or a button if `press` is given.
  line(colour, name, note, { change, checked, press }) {
    const { el } = this.page;
    const swatch = el("i", { class: "scene-swatch" });
    swatch.style.background = shapes.css(colour);
    const rest = [swatch, el("span", { class: "scene-name", title: this.page.clean(name) }, name), el("span", { class: "scene-count" }, note)];
    if (press) return { row: el("button", { class: "scene-line", onclick: press }, ...rest) };
    const input = el("input", { type: "checkbox", checked, onchange: () => change(input.checked) });
    return { input, row: el("label", { class: "scene-line" }, input, ...rest) };
  }

  // Draws once the browser wants a frame. One that follows another at once, as it is turned, may be a draft; when
  // nothing follows, it is drawn whole.
  redraw(moves = false) {
    this.moves = moves || (this.waits && this.moves);
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      const { renderer } = this;
      this.draw(this.moves);
      clearTimeout(this.rest);
      // If drawing is slow, lines and shades are drawn in the still frame only.
      if (this.moves && renderer) this.rest = setTimeout(() => this.redraw(), 200);
      if (this.moves) this.holdSoon();
      this.moves = false;
      // For measurements: how many frames were drawn, and how roughly.
      Object.assign(this.element.dataset, { frames: Number(this.element.dataset.frames ?? 0) + 1, draft: renderer?.draft ?? 0 });
    });
  }

  holdSoon() {
    clearTimeout(this.holding);
    this.holding = setTimeout(() => this.page.hold(), 300);
  }
};
