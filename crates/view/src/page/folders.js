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
  /** @type {Map<Folder, { level: number, element: HTMLElement, row: HTMLElement, twist: HTMLElement, group?: HTMLElement }>} */
  items = new Map();
  /** @type {Map<Element, Folder>} */
  folders = new Map();
  /** @type {Map<string, number>} */
  rows = new Map();
  /** @type {Map<string, HTMLImageElement>} */
  images = new Map();
  /** @type {Folder | null} */
  selected = null;
  root = new Folder("", null);

  /** @param {HTMLElement} element @param {PartOfKind<"folders">} part @param {Page} page */
  constructor(element, part, page) {
    this.page = page;
    this.table = tableOf(part.meta.of, page);
    this.tree = el("div", { class: "nodes folders", role: "tree", tabindex: "0", "aria-label": "folders" });
    this.tree.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      const item = target.closest("[role=treeitem]");
      const folder = item && this.folders.get(item);
      if (!folder || target.closest("a, button")) return;
      this.select(folder);
      this.turn(folder);
    });
    this.tree.addEventListener("keydown", (event) => this.key(event));
    this.tally = el("span", { class: "tally", role: "status" }, "…");
    const { shown = [], command = "" } = page.facts.previews ?? {};
    this.command = command;
    this.previews = shown.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    // A picture is decoded when it comes into view.
    this.seen = new IntersectionObserver((all) => all.forEach(({ target, isIntersecting }) => isIntersecting && this.decode(/** @type {HTMLImageElement} */ (target))));
    this.gallery = el("div", { class: "gallery", tabindex: "0", role: "region", "aria-label": "textures in this folder", hidden: this.previews.length === 0 });
    element.append(el("div", { class: "bar" }, this.tally), el("div", { class: "both" }, this.tree, this.gallery));
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
    this.tree.append(...this.children(this.root, 1));
    // A chain of folders with nothing else is opened at once.
    for (let one = this.root; one.folders.size === 1 && !one.files.length; ) {
      [one] = one.folders.values();
      this.turn(one);
    }
    const [first] = this.folders.values();
    if (first) this.select(first);
  }

  /** @type {(folder: Folder, level: number, from?: number) => HTMLElement[]} */
  children(folder, level, from = 0) {
    const folders = [...folder.folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const all = [...folders, ...folder.files.sort((a, b) => (a.name < b.name ? -1 : 1))];
    const items = all.slice(from, from + PORTION).map((one) => (one instanceof Folder ? this.folder(one, level) : this.file(one)));
    const next = from + items.length;
    if (next < all.length) {
      const more = el("button", { class: "more", onclick: ({ currentTarget }) => currentTarget.replaceWith(...this.children(folder, level, next)) }, `… ${many(all.length - next)} more`);
      items.push(more);
    }
    return items;
  }

  /** @type {(folder: Folder, level: number) => HTMLElement} */
  folder(folder, level) {
    const link = el("a", { class: "small", tabindex: "-1", href: this.page.link(this.table.part.id, { q: `path:"${folder.path}"` }), title: "the files below, as rows" }, "rows");
    const twist = el("span", { class: "twist" }, "▸");
    const row = el("div", { class: "node" }, twist, el("span", { class: "name" }, `${folder.name}/`),
      link, el("span", { class: "count" }, `${many(folder.count)} ${folder.count === 1 ? "file" : "files"}`), el("span", { class: "size" }, bytes(folder.size)));
    const element = el("div", { class: "item", role: "treeitem", "aria-level": level, "aria-expanded": "false", id: `f${this.items.size}` }, row);
    this.items.set(folder, { level, element, row, twist });
    this.folders.set(element, folder);
    return element;
  }

  file(/** @type {Folder["files"][0]} */ { name, row, size }) {
    return el("div", { class: "node file" }, el("span", { class: "twist" }), el("a", { tabindex: "-1", href: this.page.link(this.table.part.id, { row }) }, name), el("span", { class: "size" }, bytes(size)));
  }

  // Opens or closes a folder.
  turn(/** @type {Folder} */ folder, open = !this.isOpen(folder)) {
    const item = this.items.get(folder);
    if (!item) return;
    item.group ??= item.element.appendChild(el("div", { class: "group", role: "group" }, this.children(folder, item.level + 1)));
    item.group.hidden = !open;
    item.element.setAttribute("aria-expanded", String(open));
    item.twist.textContent = open ? "▾" : "▸";
  }

  isOpen(/** @type {Folder} */ folder) {
    const group = this.items.get(folder)?.group;
    return !!group && !group.hidden;
  }

  select(/** @type {Folder} */ folder) {
    if (this.selected) this.items.get(this.selected)?.element.removeAttribute("aria-selected");
    this.selected = folder;
    const item = this.items.get(folder);
    if (!item) return;
    item.element.setAttribute("aria-selected", "true");
    this.tree.setAttribute("aria-activedescendant", item.element.id);
    item.row.scrollIntoView({ block: "nearest" });
    this.fillGallery(folder);
    this.page.hold();
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

  key(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.tree || !this.selected) return;
    const seen = [.../** @type {NodeListOf<HTMLElement>} */ (this.tree.querySelectorAll("[role=treeitem]"))].filter((item) => item.offsetParent !== null).flatMap((item) => this.folders.get(item) ?? []);
    const { selected } = this;
    const isOpen = this.isOpen(selected);
    const move = (/** @type {number} */ by) => this.select(seen[Math.min(Math.max(0, seen.indexOf(selected) + by), seen.length - 1)]);
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "ArrowRight") isOpen ? move(1) : this.turn(selected, true);
    else if (event.key === "ArrowLeft") isOpen ? this.turn(selected, false) : selected.above && this.items.has(selected.above) && this.select(selected.above);
    else if (event.key === "Enter" || event.key === " ") this.turn(selected);
    else return;
    event.preventDefault();
  }

  /** @type {() => AddressState} */
  state() { return this.selected ? { path: this.selected.path } : {}; }

  // Opens the folder of the address.
  show(/** @type {URLSearchParams} */ params) {
    const path = params.get("path");
    if (path === null) return;
    let folder = this.root;
    for (const name of path.split("/").filter(Boolean)) {
      if (folder !== this.root) this.turn(folder, true);
      const next = folder.folders.get(name);
      if (!next) return this.page.say(`There is no folder ${path}`);
      folder = next;
    }
    if (folder !== this.root) this.select(folder);
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
