// Folders: the files of an archive as a tree, with the sizes of all that is below. A part of the table `files`.
const { el, many, tableOf } = assetq;
const PORTION = 500; // entries that are laid out at once
const SIZES = ["size", "unpacked_size", "stored_size"];

// 170.7 MB for a number of bytes.
const bytes = (/** @type {number} */ count) => {
  for (const [unit, name] of /** @type {[number, string][]} */ ([[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])) if (count >= unit) return `${(count / unit).toFixed(1)} ${name}`;
  return `${count} bytes`;
};

class Folder {
  /** @type {Map<string, Folder>} */
  folders = new Map();
  /** @type {{ name: string, row: number, size: number }[]} */
  files = [];
  count = 0;
  size = 0;
  textures = 0;

  /** @param {string} name @param {Folder | null} above */
  constructor(name, above) {
    this.name = name;
    this.above = above;
  }

  /** @returns {string} */
  get path() { return this.above ? `${this.above.path}${this.name}/` : ""; }

  // The folder with this name in it.
  in(/** @type {string} */ name) {
    const folder = this.folders.get(name) ?? new Folder(name, this);
    this.folders.set(name, folder);
    return folder;
  }
}

class Folders {
  /** @type {Map<string, number>} */
  rows = new Map();
  /** @type {Map<string, HTMLImageElement>} */
  images = new Map();
  root = new Folder("", null);

  /** @param {HTMLElement} element @param {PartOfKind<"folders">} part @param {Page} page */
  constructor(element, part, page) {
    this.page = page;
    this.table = tableOf(part.meta.of, page);
    /** @type {Branches<Folder>} */
    this.branches = new assetq.Branches("folders", "folders", {
      fill: (folder, group) => group.append(...this.children(folder)),
      choose: (folder) => {
        this.fillGallery(folder);
        page.hold();
      },
    });
    this.tally = el("span", { class: "tally", role: "status" }, "…");
    const { shown = [], command = "" } = page.facts.previews ?? {};
    this.command = command;
    this.previews = shown.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    // A picture is decoded when it comes into view.
    this.seen = new IntersectionObserver((all) => all.forEach(({ target, isIntersecting }) => isIntersecting && this.decode(/** @type {HTMLImageElement} */ (target))));
    this.gallery = el("div", { class: "gallery", tabindex: "0", role: "region", "aria-label": "textures in this folder", hidden: this.previews.length === 0 });
    element.append(el("div", { class: "bar" }, this.tally), el("div", { class: "both" }, this.branches.tree, this.gallery));
  }

  async load() {
    const { table } = this;
    const n = (/** @type {string} */ wanted) => table.columns.find(({ name }) => name === wanted)?.n;
    const [path, size] = [n("path") ?? 0, SIZES.map(n).find((n) => n !== undefined)];
    await table.wholly(size === undefined ? [path] : [path, size]);
    for (let row = 0; row < table.rows; row++) {
      const text = table.text(path, row);
      if (text === null) continue;
      const names = text.split("/");
      const name = names.pop() ?? "";
      let folder = this.root;
      for (const one of names) folder = folder.in(one);
      const own = size === undefined ? 0 : Number(table.value(size, row) ?? 0);
      folder.files.push({ name, row, size: own });
      this.rows.set(text, row);
      for (let one = /** @type {Folder | null} */ (folder); one; one = one.above) {
        one.count++;
        one.size += own;
        if (text.endsWith(".dds")) one.textures++;
      }
    }
    this.tally.textContent = `${many(this.root.count)} files · ${bytes(this.root.size)}`;
    this.branches.tree.append(...this.children(this.root));
    // A chain of folders with nothing else is opened at once.
    for (let one = this.root; one.folders.size === 1 && !one.files.length; ) {
      [one] = one.folders.values();
      this.branches.turn(one, true);
    }
    const [first] = this.branches.items.keys();
    if (first) this.branches.select(first);
  }

  /** @param {Folder} folder */
  children(folder) {
    const folders = [...folder.folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const all = [...folders, ...folder.files.sort((a, b) => (a.name < b.name ? -1 : 1))];
    return this.branches.portion(all, PORTION, (one) => (one instanceof Folder ? this.folder(one) : this.file(one)));
  }

  folder(/** @type {Folder} */ folder) {
    const link = el("a", { class: "small", tabindex: "-1", href: this.page.link(this.table.part.id, { q: `path:"${folder.path}"` }), title: "the files below, as rows" }, "rows");
    return this.branches.item(folder, folder.above, true, el("span", { class: "name" }, `${folder.name}/`),
      link, el("span", { class: "count" }, `${many(folder.count)} ${folder.count === 1 ? "file" : "files"}`), el("span", { class: "size" }, bytes(folder.size)));
  }

  file(/** @type {Folder["files"][0]} */ { name, row, size }) {
    return el("div", { class: "node file" }, el("span", { class: "twist" }), el("a", { tabindex: "-1", href: this.page.link(this.table.part.id, { row }) }, name), el("span", { class: "size" }, bytes(size)));
  }

  // Small pictures of the textures below a folder, and how many the page lacks.
  fillGallery(/** @type {Folder} */ folder) {
    const found = this.previews.filter((one) => one.path.startsWith(folder.path));
    const figures = found.map((one) => {
      const image = this.images.get(one.block) ?? el("img", { alt: "", "data-block": one.block });
      this.images.set(one.block, image);
      if (!image.src) this.seen.observe(image);
      const name = one.path.slice(one.path.lastIndexOf("/") + 1);
      return el("a", { class: "preview", title: assetq.clean(one.path), href: this.page.link(this.table.part.id, { row: this.rows.get(one.path) ?? 0 }) }, image, el("span", {}, name));
    });
    const said = found.length === folder.textures ? null
      : el("p", { class: "soft" }, `${many(found.length)} of the ${many(folder.textures)} textures below have a picture in this page. Any of them: `, el("code", {}, this.command));
    this.gallery.replaceChildren(...(said ? [said] : []), ...figures);
    if (!folder.textures) this.gallery.append(el("p", { class: "soft" }, "There is no texture in this folder."));
  }

  async decode(/** @type {HTMLImageElement} */ image) {
    this.seen.unobserve(image);
    image.src = URL.createObjectURL(new Blob([await this.page.block(image.dataset.block ?? "")], { type: "image/png" }));
  }

  /** @type {() => AddressState} */
  state() { return this.branches.at ? { path: this.branches.at.value.path } : {}; }

  // Opens the folder of the address.
  show(/** @type {URLSearchParams} */ params) {
    const path = params.get("path");
    if (path === null) return;
    let folder = this.root;
    for (const name of path.split("/").filter(Boolean)) {
      this.branches.turn(folder, true);
      const next = folder.folders.get(name);
      if (!next) return this.page.say(`There is no folder ${path}`);
      folder = next;
    }
    if (folder !== this.root) this.branches.select(folder);
  }
}

/** @type {KindOf<"folders">} */
assetq.kinds.folders = {
  async open(element, part, page) {
    const folders = new Folders(element, part, page);
    await folders.load();
    return folders;
  },
};
