// Folders: the files of an archive as a tree, with the sizes of all that is below. A part of the table `files`.
const { el, many, tableOf } = assetq;
const PORTION = 500; // entries that are laid out at once
const SIZES = ["size", "unpacked_size", "stored_size"];

// 170.7 MB for a number of bytes.
const bytes = (count) => {
  for (const [unit, name] of /** @type {[number, string][]} */ ([[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])) if (count >= unit) return `${(count / unit).toFixed(1)} ${name}`;
  return `${count} bytes`;
};

class Folder {
  above; count; files; folders; name; size; textures;

  constructor(name, above) {
    Object.assign(this, { name, above, folders: new Map(), files: [], count: 0, size: 0, textures: 0 });
  }

  get path() { return this.above ? `${this.above.path}${this.name}/` : ""; }

  // The folder with this name in it.
  in(name) {
    if (!this.folders.has(name)) this.folders.set(name, new Folder(name, this));
    return this.folders.get(name);
  }
}

class Folders {
  items; page; rows; table;

  constructor(element, part, page) {
    Object.assign(this, { page, table: tableOf(part.meta.of, page), items: new Map(), rows: new Map(), selected: null });
    this.tree = el("div", { class: "nodes folders", role: "tree", tabindex: "0", "aria-label": "folders" });
    this.tree.addEventListener("click", (event) => {
      const item = event.target.closest("[role=treeitem]");
      if (!item || event.target.closest("a, button")) return;
      this.select(item.folder);
      this.turn(item.folder);
    });
    this.tree.addEventListener("keydown", (event) => this.key(event));
    this.tally = el("span", { class: "tally", role: "status" }, "…");
    const { shown = [], command = "" } = page.facts.previews ?? {};
    this.command = command;
    this.previews = shown.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    // A picture is decoded when it comes into view.
    this.seen = new IntersectionObserver((all) => all.forEach(({ target, isIntersecting }) => isIntersecting && this.decode(target)));
    this.gallery = el("div", { class: "gallery", tabindex: "0", role: "region", "aria-label": "textures in this folder", hidden: this.previews.length === 0 });
    element.append(el("div", { class: "bar" }, this.tally), el("div", { class: "both" }, this.tree, this.gallery));
  }

  async load() {
    const { table } = this;
    const n = (names) => table.columns.find(({ name }) => names.includes(name))?.n;
    const [path, size] = [n(["path"]), SIZES.map((name) => n([name])).find((n) => n !== undefined)];
    await table.wholly([path, size].filter((n) => n !== undefined));
    this.root = new Folder("", null);
    for (let row = 0; row < table.rows; row++) {
      const text = table.text(path, row);
      if (text === null) continue;
      const names = text.split("/");
      const name = names.pop();
      let folder = this.root;
      for (const one of names) folder = folder.in(one);
      const own = size === undefined ? 0 : Number(table.value(size, row) ?? 0);
      folder.files.push({ name, row, size: own });
      this.rows.set(text, row);
      for (let one = folder; one; one = one.above) {
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
    this.select(this.tree.querySelector("[role=treeitem]")?.folder ?? null);
  }

  children(folder, level, from = 0) {
    const folders = [...folder.folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const all = [...folders, ...folder.files.sort((a, b) => (a.name < b.name ? -1 : 1))];
    const items = all.slice(from, from + PORTION).map((one) => (one instanceof Folder ? this.folder(one, level) : this.file(one)));
    const next = from + items.length;
    if (next < all.length) {
      const more = el("button", { class: "more", onclick: () => more.replaceWith(...this.children(folder, level, next)) }, `… ${many(all.length - next)} more`);
      items.push(more);
    }
    return items;
  }

  folder(folder, level) {
    const link = el("a", { class: "small", tabindex: "-1", href: this.page.link(this.table.part.id, { q: `path:"${folder.path}"` }), title: "the files below, as rows" }, "rows");
    const row = el("div", { class: "node" }, el("span", { class: "twist" }, "▸"), el("span", { class: "name" }, `${folder.name}/`),
      link, el("span", { class: "count" }, `${many(folder.count)} ${folder.count === 1 ? "file" : "files"}`), el("span", { class: "size" }, bytes(folder.size)));
    const item = el("div", { class: "item", role: "treeitem", "aria-level": String(level), "aria-expanded": "false", id: `f${this.items.size}` }, row);
    Object.assign(item, { folder, level });
    this.items.set(folder, item);
    return item;
  }

  file({ name, row, size }) {
    return el("div", { class: "node file" }, el("span", { class: "twist" }), el("a", { tabindex: "-1", href: this.page.link(this.table.part.id, { row }) }, name), el("span", { class: "size" }, bytes(size)));
  }

  // Opens or closes a folder.
  turn(folder, open = this.items.get(folder).getAttribute("aria-expanded") !== "true") {
    const item = this.items.get(folder);
    item.group ??= item.appendChild(el("div", { class: "group", role: "group" }, this.children(folder, item.level + 1)));
    item.group.hidden = !open;
    item.setAttribute("aria-expanded", String(open));
    item.firstChild.firstChild.textContent = open ? "▾" : "▸";
  }

  select(folder) {
    this.items.get(this.selected)?.removeAttribute("aria-selected");
    this.selected = folder;
    const item = this.items.get(folder);
    if (!item) return;
    item.setAttribute("aria-selected", "true");
    this.tree.setAttribute("aria-activedescendant", item.id);
    item.firstChild.scrollIntoView({ block: "nearest" });
    this.fillGallery(folder);
    this.page.hold();
  }

  // Small pictures of the textures below a folder, and how many the page lacks.
  fillGallery(folder) {
    const found = this.previews.filter((one) => one.path.startsWith(folder.path));
    const figures = found.map((one) => {
      one.image ??= Object.assign(el("img", { alt: "" }), { block: one.block });
      this.seen.observe(one.image);
      const name = one.path.slice(one.path.lastIndexOf("/") + 1);
      return el("a", { class: "preview", title: assetq.clean(one.path), href: this.page.link(this.table.part.id, { row: this.rows.get(one.path) ?? 0 }) }, one.image, el("span", {}, name));
    });
    const said = found.length === folder.textures ? null
      : el("p", { class: "soft" }, `${many(found.length)} of the ${many(folder.textures)} textures below have a picture in this page. Any of them: `, el("code", {}, this.command));
    this.gallery.replaceChildren(...[said, ...figures].filter(Boolean));
    if (!folder.textures) this.gallery.append(el("p", { class: "soft" }, "There is no texture in this folder."));
  }

  async decode(image) {
    this.seen.unobserve(image);
    if (image.isDecoded) return;
    image.isDecoded = true;
    image.src = URL.createObjectURL(new Blob([await this.page.block(image.block)], { type: "image/png" }));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.tree || !this.selected) return;
    const seen = [...this.tree.querySelectorAll("[role=treeitem]")].filter((item) => item.offsetParent !== null);
    const item = this.items.get(this.selected);
    const isOpen = item.getAttribute("aria-expanded") === "true";
    const move = (by) => this.select(seen[Math.min(Math.max(0, seen.indexOf(item) + by), seen.length - 1)].folder);
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "ArrowRight") isOpen ? move(1) : this.turn(this.selected, true);
    else if (event.key === "ArrowLeft") isOpen ? this.turn(this.selected, false) : this.items.has(this.selected.above) && this.select(this.selected.above);
    else if (event.key === "Enter" || event.key === " ") this.turn(this.selected);
    else return;
    event.preventDefault();
  }

  state() { return this.selected ? { path: this.selected.path } : {}; }

  // Opens the folder of the address.
  show(params) {
    const path = params.get("path");
    if (path === null) return;
    let folder = this.root;
    for (const name of path.split("/").filter(Boolean)) {
      if (folder !== this.root) this.turn(folder, true);
      if (!folder.folders.has(name)) return this.page.say(`There is no folder ${path}`);
      folder = folder.folders.get(name);
    }
    if (folder !== this.root) this.select(folder);
  }
}

assetq.kinds.folders = {
  async open(element, part, page) {
    const folders = new Folders(element, part, page);
    await folders.load();
    return folders;
  },
};
