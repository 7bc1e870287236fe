// Textures: one level at a time on a canvas, with or without its opacity.
const { el, many } = assetq;

class Picture {
  format; layers; levels;

  constructor(element, part, page) {
    Object.assign(this, part.meta);
    this.page = page;
    const name = ({ layer, mip, width, height }) =>
      `${this.layers > 1 ? `layer ${layer}, ` : ""}level ${mip}: ${many(width)} × ${many(height)}`;
    this.level = el("select", { "aria-label": "level", onchange: () => this.draw() },
      this.levels.map((level, number) => el("option", { value: number }, name(level))));
    this.opaque = el("input", { type: "checkbox", checked: true, onchange: () => this.draw() });
    this.canvas = el("canvas", { class: "image-canvas", role: "img", "aria-label": part.title });
    element.append(
      el("div", { class: "bar" }, this.level, el("label", {}, this.opaque, " without opacity"), el("span", { class: "tally" }, this.format)),
      el("div", { class: "image-body", tabindex: "0", role: "region", "aria-label": "texels" }, this.canvas));
  }

  async draw() {
    const { block } = this.levels[this.level.value];
    const bytes = await this.page.block(block);
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }), { premultiplyAlpha: "none" });
    Object.assign(this.canvas, { width: image.width, height: image.height });
    const pen = this.canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    if (!this.opaque.checked) return;
    const pixels = pen.getImageData(0, 0, image.width, image.height);
    for (let at = 3; at < pixels.data.length; at += 4) pixels.data[at] = 255;
    pen.putImageData(pixels, 0, 0);
  }
}

assetq.kinds.image = {
  // From a row of the table of textures to its picture.
  links(part, table, row, page) {
    return table === "textures" && part.meta.row === row ? [[part.title, page.link(part.id)]] : [];
  },
  async open(element, part, page) {
    await new Picture(element, part, page).draw();
  },
};
