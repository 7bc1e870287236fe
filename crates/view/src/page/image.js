// Textures: one level at a time on a canvas, in colours or by channel, at any size, with the texel under the pointer.
const { el, many } = assetq;
/** @type {Record<string, string>} */
const CHANNELS = { rgb: "Colour", rgba: "Colour with opacity", r: "Red", g: "Green", b: "Blue", a: "Opacity" };
const LETTERS = ["R", "G", "B", "A"];
const [LEAST, MOST] = [1 / 64, 64]; // pixels of the screen for a texel

// The texels of a PNG of 8 bits without interlacing: red, green, blue and opacity. A canvas would lose the colours of clear texels.
const decode = async (/** @type {Uint8Array<ArrayBuffer>} */ png) => {
  const from = new DataView(png.buffer, png.byteOffset, png.byteLength);
  let [width, height, kind] = [0, 0, 0];
  const data = [];
  for (let at = 8; at + 12 <= png.length; at += from.getUint32(at) + 12) {
    const name = String.fromCharCode(...png.subarray(at + 4, at + 8));
    if (name === "IHDR") [width, height, kind] = [from.getUint32(at + 8), from.getUint32(at + 12), png[at + 17]];
    if (name === "IDAT") data.push(png.subarray(at + 8, at + 8 + from.getUint32(at)));
  }
  const stream = new Blob(data).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const wide = kind === 0 ? 1 : kind === 2 ? 3 : 4, line = width * wide;
  const image = new ImageData(width, height);
  const out = image.data.fill(255);
  for (let y = 0; y < height; y++) {
    const base = y * (line + 1) + 1, filter = bytes[base - 1];
    for (let x = 0; x < line && filter; x++) {
      const left = x < wide ? 0 : bytes[base + x - wide], up = y ? bytes[base + x - line - 1] : 0, corner = x < wide || !y ? 0 : bytes[base + x - wide - line - 1];
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      bytes[base + x] += filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : a <= b && a <= c ? left : b <= c ? up : corner;
    }
    for (let x = 0; x < width; x++) {
      for (let k = 0; k < (wide === 1 ? 3 : wide); k++) out[(y * width + x) * 4 + k] = bytes[base + x * wide + (wide === 1 ? 0 : k)];
    }
  }
  return image;
};

class Picture {
  // The texels of the level that is shown.
  image = new ImageData(1, 1);
  // Pixels of the page for a texel, and whether all of the level is fitted into the page.
  zoom = 1;
  isFitted = true;

  /** @param {HTMLElement} element @param {PartOfKind<"image">} part @param {Page} page */
  constructor(element, part, page) {
    const { format, layers, levels } = part.meta;
    this.levels = levels;
    this.page = page;
    const name = (/** @type {ImageMeta["levels"][0]} */ { layer, mip, width, height }) =>
      `${layers > 1 ? `layer ${layer}, ` : ""}level ${mip}: ${many(width)} × ${many(height)}`;
    this.level = el("select", { "aria-label": "level", onchange: () => this.draw().then(() => page.hold()) },
      this.levels.map((level, number) => el("option", { value: number }, name(level))));
    this.channel = el("select", { "aria-label": "channels", onchange: () => (this.paint(), page.hold()) },
      Object.entries(CHANNELS).map(([value, text]) => el("option", { value }, text)));
    const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ act) => el("button", { title, onclick: act }, text);
    this.size = el("output", { class: "tally" });
    this.texel = el("output", { class: "map-place image-texel", hidden: true });
    this.canvas = el("canvas", { class: "image-canvas", role: "img", "aria-label": part.title });
    this.body = el("div", { class: "image-body", tabindex: "0", role: "region", "aria-label": "texels: + and - zoom, F fits, 1 shows each texel as a pixel" }, this.canvas);
    element.append(
      el("div", { class: "bar" }, this.level, this.channel, button("Fit", "Show all (F)", () => this.fit()), button("1:1", "A texel is a pixel (1)", () => this.scale(1)),
        button("−", "Smaller (-)", () => this.scale(this.zoom / 2)), button("+", "Larger (+)", () => this.scale(this.zoom * 2)), this.size, el("span", { class: "tally" }, format)),
      el("div", { class: "image-view" }, this.body, this.texel));
    this.steer();
    new ResizeObserver(() => this.isFitted && this.fit()).observe(this.body);
  }

  // The wheel and keys zoom, and a drag moves.
  steer() {
    const { body } = this;
    body.addEventListener("wheel", (event) => {
      if (event.ctrlKey) return;
      event.preventDefault();
      this.scale(this.zoom * (event.deltaY < 0 ? 1.25 : 0.8), [event.clientX, event.clientY]);
    }, { passive: false });
    body.addEventListener("keydown", (event) => {
      /** @type {Record<string, () => void>} */
      const acts = { "+": () => this.scale(this.zoom * 2), "=": () => this.scale(this.zoom * 2), "-": () => this.scale(this.zoom / 2), f: () => this.fit(), 1: () => this.scale(1) };
      const act = acts[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    body.addEventListener("pointerdown", (event) => event.pointerType === "mouse" && body.setPointerCapture(event.pointerId));
    body.addEventListener("pointermove", (event) => {
      if (event.buttons && event.pointerType === "mouse") body.scrollBy(-event.movementX, -event.movementY);
      this.point(event);
    });
    body.addEventListener("pointerleave", () => (this.texel.hidden = true));
  }

  // The texel under the pointer: its place, and its channels as numbers and as a colour.
  point(/** @type {PointerEvent} */ { clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const { width, height, data } = this.image;
    const [x, y] = [Math.floor((clientX - box.left) / this.zoom), Math.floor((clientY - box.top) / this.zoom)];
    this.texel.hidden = x < 0 || y < 0 || x >= width || y >= height;
    if (this.texel.hidden) return;
    const values = [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
    const hex = values.slice(0, 3).map((value) => value.toString(16).padStart(2, "0")).join("");
    this.texel.textContent = `x ${x}  y ${y}   ${values.map((value, i) => `${LETTERS[i]} ${value}`).join("  ")}   #${hex}`;
  }

  // Shows a texel as `zoom` pixels; what is at a point of the page stays there, or in the middle.
  /** @type {(zoom: number, at?: [number, number] | null) => void} */
  scale(zoom, at = null) {
    const { body, canvas } = this;
    const view = body.getBoundingClientRect();
    const [x, y] = at ?? [view.left + view.width / 2, view.top + view.height / 2];
    const before = canvas.getBoundingClientRect();
    const [u, v] = [(x - before.left) / this.zoom, (y - before.top) / this.zoom];
    this.isFitted = false;
    this.resize(Math.max(LEAST, Math.min(MOST, zoom)));
    const now = canvas.getBoundingClientRect();
    body.scrollBy(now.left + u * this.zoom - x, now.top + v * this.zoom - y);
  }

  fit() {
    this.isFitted = true;
    const { clientWidth, clientHeight } = this.body;
    const fits = Math.min((clientWidth - 16) / this.image.width, (clientHeight - 16) / this.image.height);
    // Small levels are enlarged by whole numbers, so that all texels are alike.
    if (fits > 0) this.resize(Math.min(MOST, fits > 1 ? Math.floor(fits) : fits));
  }

  resize(/** @type {number} */ zoom) {
    this.zoom = zoom;
    Object.assign(this.canvas.style, { width: `${this.image.width * zoom}px`, height: `${this.image.height * zoom}px`, imageRendering: zoom >= 1 ? "pixelated" : "auto" });
    this.size.textContent = `${Number((zoom * 100).toPrecision(3))} %`;
  }

  async draw() {
    const { value } = this.level;
    const image = await decode(await this.page.block(this.levels[Number(value)].block));
    if (value !== this.level.value) return;
    this.image = image;
    Object.assign(this.canvas, { width: image.width, height: image.height });
    this.paint();
    this.fit();
  }

  // Draws the channels that are chosen: one by itself is grey.
  paint() {
    const { image: { data, width, height }, channel: { value } } = this;
    const out = new ImageData(data.slice(), width, height);
    const one = ["r", "g", "b", "a"].indexOf(value);
    for (let at = 0; at < data.length && value !== "rgba"; at += 4) {
      if (one >= 0) out.data.fill(data[at + one], at, at + 3);
      out.data[at + 3] = 255;
    }
    this.canvas.getContext("2d")?.putImageData(out, 0, 0);
  }

  // The texture as it is drawn.
  still() {
    const copy = /** @type {HTMLCanvasElement} */ (this.canvas.cloneNode());
    copy.removeAttribute("style");
    copy.getContext("2d")?.drawImage(this.canvas, 0, 0);
    return { canvas: copy, legend: [] };
  }

  state() {
    return { ...(this.level.value !== "0" && { level: this.level.value }), ...(this.channel.value !== "rgb" && { channel: this.channel.value }) };
  }

  async show(/** @type {URLSearchParams} */ params) {
    const [level, channel] = [params.get("level") ?? "0", params.get("channel") ?? "rgb"];
    if (channel in CHANNELS && channel !== this.channel.value) {
      this.channel.value = channel;
      this.paint();
    }
    if (Number(level) in this.levels && level !== this.level.value) {
      this.level.value = level;
      await this.draw();
    }
    if (this.isFitted) this.fit();
  }
}

/** @type {KindOf<"image">} */
assetq.kinds.image = {
  // From a row of the table of textures to its picture.
  links(part, table, row, page) {
    return table === "textures" && part.meta.row === row ? [[part.title, page.link(part.id)]] : [];
  },
  async open(element, part, page) {
    const picture = new Picture(element, part, page);
    await picture.draw();
    return picture;
  },
};
