// How a scene stands in space: the grid and the scale, parts that are moved apart or alone, and cuts.
const shapes = (assetq.shapes ??= {});

shapes.Placing = (Base) => class extends Base {
  // Everything outside of parts: the grid, and how far parts are moved apart.
  spaceList() {
    const { el } = this.page;
    this.gridBox = this.check("Grid", "A grid below, with the scale and the axes (G)", (on) => ((this.hasGrid = on), this.paintGrid()), true);
    this.hasGrid = true;
    this.all = el("button", { hidden: true, title: "Show what was shown before (I)", onclick: () => this.isolate(null) }, "Show all again");
    const isMovable = this.models.length > 1 && !this.meta.places;
    const slider = el("input", { type: "range", min: "0", max: "100", value: "0", "aria-label": "Move parts apart", oninput: () => this.explode(slider.value / 100) });
    this.apart = slider;
    return el("div", { class: "scene-space" }, this.gridBox.label, isMovable && el("label", { class: "scene-check", title: "Move parts away from the middle" }, "Explode ", slider), this.all);
  }

  // Shows only the parts that a number or several belong to, or all again.
  async isolate(id) {
    const ids = Array.isArray(id) ? id : id === null ? [] : this.together(id);
    this.endIsolation();
    if (ids.length) {
      this.only = new Set(ids.map((one) => this.find(one).model.index));
      [this.all.hidden, this.chosen] = [false, null];
    }
    this.card.replaceChildren();
    await this.update();
    await this.fit();
    this.page.hold();
  }

  // Lets the parts be shown that were shown before some of them were isolated.
  endIsolation() {
    this.only = null;
    this.all.hidden = true;
  }

  // Moves each part away from the middle, by a share of its distance to it.
  explode(share) {
    this.spread = share;
    const { min, max } = this.middleBox ??= this.boxOf(this.models);
    const middle = min.map((v, i) => (v + max[i]) / 2);
    for (const model of this.models) {
      const { part } = model;
      model.shift = share ? middle.map((v, i) => ((part.min[i] + part.max[i]) / 2 - v) * share * 1.5) : undefined;
    }
    this.rebound();
  }

  // Draws again after parts have moved.
  async rebound() {
    this.renderer.bounds = this.around(await this.bounds(this.models));
    this.redraw();
  }

  // The box around parts where the file has them.
  boxOf(models) {
    const { min, max } = shapes.nowhere();
    for (const { part } of models) part.min.forEach((v, i) => ((min[i] = Math.min(min[i], v)), (max[i] = Math.max(max[i], part.max[i]))));
    return { min, max };
  }

  // A box that contains the grid, too.
  around({ min, max }) {
    const { grid } = this;
    if (!grid) return { min, max };
    return { min: min.map((v, i) => Math.min(v, grid.part.min[i])), max: max.map((v, i) => Math.max(v, grid.part.max[i])) };
  }

  // Gives the grid a colour between the paper and the text.
  paintGrid() {
    if (this.grid) {
      const { paper } = this.renderer;
      const isLight = paper[0] > 0.5;
      this.grid.colour = [...paper.map((c) => c + (isLight ? -0.13 : 0.13)), 0.5];
      this.grid.isShown = this.hasGrid;
    }
    this.redraw();
  }

  // Draws the scale and the axes over the canvas.
  drawOver() {
    const { over, canvas } = this;
    const scale = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (over.width !== Math.round(width * scale) || over.height !== Math.round(height * scale)) Object.assign(over, { width: Math.round(width * scale), height: Math.round(height * scale) });
    const pen = over.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.drawMarks(pen);
  }

  drawMarks(pen) {
    const style = getComputedStyle(document.documentElement);
    const [ink, paper] = ["--fg", "--card"].map((name) => style.getPropertyValue(name).trim());
    this.drawNames(pen, ink, paper);
    if (!this.hasGrid) return;
    shapes.drawScale(pen, this.camera, [this.canvas.clientWidth, this.canvas.clientHeight],
      { unit: this.unit, unitName: this.unitName, axes: this.meta.axes, ink, paper });
  }

  // Begins to cut: the half toward the eye goes, so that the inside is seen.
  startCut() {
    const axis = this.axis.value;
    this.cutting.hidden = axis === "";
    if (axis !== "") this.side = this.camera.axes().eye[axis] < 0 ? -1 : 1;
    this.cut();
  }

  cut() {
    const axis = this.axis.value;
    const plane = [0, 0, 0, 1];
    if (axis !== "" && this.cutBox) {
      const { min, max } = this.cutBox;
      const at = min[axis] + (max[axis] - min[axis]) * (this.slider.value / 1000);
      plane[axis] = this.side;
      plane[3] = at * this.side;
      // The middle of a symmetric hull is 0 and not a rest of rounding.
      this.place.textContent = this.length(Math.abs(at) < (max[axis] - min[axis]) * 1e-4 ? 0 : at);
      this.slider.setAttribute("aria-valuetext", this.place.textContent);
    }
    this.renderer.section = plane;
    this.redraw();
    this.holdSoon();
  }
};
