// Graphs: a tree whose branches are laid out when they are unfolded, as columns of nodes in the order of the graph.
const { el, many } = assetq;
const MAP = 1, LIST = 2, TEXT = 3;
const PORTION = 200; // children that are laid out at once

class Tree {
  block; entry; fault; keys; kinds; leftOut; nodes; sizes; texts; types;

  constructor(element, part, page) {
    Object.assign(this, part.meta);
    this.page = page;
    this.part = part;
    this.items = new Map(); // the elements of nodes that are laid out
    this.found = null;
    this.input = el("input", { type: "search", placeholder: "search names and values", "aria-label": "search", spellcheck: "false" });
    this.input.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.search(), 200);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    });
    this.tally = el("span", { class: "tally" });
    this.path = el("code", { class: "path" });
    const bar = el("div", { class: "bar" }, this.input, this.tally,
      el("button", { title: "the one before (Shift+Enter)", onclick: () => this.step(-1) }, "↑"),
      el("button", { title: "the next one (Enter)", onclick: () => this.step(1) }, "↓"));
    this.where = el("div", { class: "bar where", hidden: true }, this.path, el("span", { class: "space" }),
      el("button", { class: "copy-path", title: "the path of the value: assetq cat takes it", onclick: () => this.selected >= 0 && page.copy(this.graph.fullPath(this.selected)) }, "Copy path"),
      el("button", { title: "the value as JSON", onclick: () => this.selected >= 0 && page.copy(this.graph.json(this.selected)) }, "Copy value"));
    element.append(bar, this.where);
    if (this.leftOut > 0) {
      element.append(el("p", { class: "note" }, `This page has the first ${many(this.nodes)} values of ${many(this.nodes + this.leftOut)}. `, el("code", {}, `assetq cat FILE '${this.entry}' -f json`), " has all of them."));
    }
    if (this.fault) element.append(el("p", { class: "note fault" }, `damaged: ${this.fault}`));
    this.tree = el("div", { class: "nodes", role: "tree", tabindex: "0", "aria-label": part.title });
    this.tree.addEventListener("keydown", (event) => this.key(event));
    this.tree.addEventListener("click", (event) => this.clicked(event));
    this.results = el("div", { class: "results", hidden: true, tabindex: "0", role: "region", "aria-label": "what was found" });
    element.append(el("div", { class: "both" }, this.tree, this.results));
    this.query = "";
    this.selected = -1;
  }

  async load() {
    this.graph = await assetq.graph(this.page, this);
    const { kinds, sizes, keys, types, texts } = this.graph;
    Object.assign(this, { kinds, sizes, keys, types, texts });
    if (this.nodes > 0) {
      this.tree.append(this.item(0, 0, -1));
      this.unfold(0);
    } else this.tree.append(el("p", {}, "nothing"));
  }

  isBranch(node) { return this.graph.isBranch(node); }

  count(node) {
    let count = 0;
    for (const _ of this.graph.children(node)) if (++count > 9999) break;
    return count;
  }

  // A summary of a branch, by a few of its leaves.
  brief(node) {
    if (this.sizes[node] === 1) return this.kinds[node] === MAP ? "{}" : "[]";
    const some = [];
    let length = 0;
    for (const child of this.graph.children(node)) {
      if (some.length === 6 || length > 60) { some.push("…"); break; }
      const key = this.kinds[node] === MAP ? `${this.keys.text(child)}: ` : "";
      const text = this.isBranch(child) ? (this.kinds[child] === MAP ? "{…}" : "[…]") : this.shown(child);
      some.push(key + text);
      length += key.length + text.length;
    }
    const text = some.join(", ");
    return this.kinds[node] === MAP ? `{ ${text} }` : `[ ${text} ]`;
  }

  // The key of an entry of a dictionary, as a short text.
  entryKey(node) {
    const key = node + 1;
    return this.isBranch(key) ? this.brief(key) : this.shown(key);
  }

  shown(node) {
    const text = this.texts.text(node);
    if (text === null) return "null";
    return this.kinds[node] === TEXT ? `"${text.length > 300 ? text.slice(0, 300) + "…" : text}"` : text;
  }

  item(node, depth, place) {
    const branch = this.isBranch(node);
    const key = this.keys.text(node);
    const type = this.types.text(node);
    const name = node === 0 ? this.entry : key ?? `[${place}]`;
    const row = el("div", { class: "node", "data-node": String(node) },
      el("span", { class: "twist" }, branch && this.sizes[node] > 1 ? "▸" : ""),
      el("span", { class: key === null ? "place" : "name" }, name),
      this.graph.isEntry(node) ? el("span", { class: "name" }, this.entryKey(node)) : null,
      el("span", { class: branch ? "brief" : this.kinds[node] === TEXT ? "text" : "plain" }, branch ? this.brief(node) : this.shown(node)),
      branch && this.kinds[node] === LIST ? el("span", { class: "count" }, `${this.many(node)}`) : null,
      type ? el("span", { class: "type", title: type }, type.replace(/[\w`]+[.:+]|`\d+/g, "")) : null);
    const item = el("div", { class: "item", role: "treeitem", id: `n${node}-${this.block}`, "aria-level": String(depth + 1), "aria-expanded": branch && this.sizes[node] > 1 ? "false" : null }, row);
    item.depth = depth;
    item.node = node;
    this.items.set(node, item);
    return item;
  }

  many(node) {
    const count = this.count(node);
    return count > 9999 ? "10,000+" : many(count);
  }

  // Lays out the children of a node: a portion, and a button for the next one; `until` must be among them.
  unfold(node, until = -1) {
    const item = this.items.get(node);
    if (!item || !this.isBranch(node) || this.sizes[node] === 1) return;
    if (!item.group) {
      item.group = el("div", { class: "group", role: "group" });
      item.group.next = { child: node + 1, place: 0 };
      item.append(item.group);
    }
    item.group.hidden = false;
    item.setAttribute("aria-expanded", "true");
    item.firstChild.firstChild.textContent = "▾";
    if (item.group.childElementCount === 0 || until >= item.group.next.child) this.more(item, until);
  }

  more(item, until = -1) {
    const { group, node, depth } = item;
    group.querySelector(":scope > button")?.remove();
    let { child, place } = group.next;
    let laid = 0;
    const end = node + this.sizes[node];
    const all = document.createDocumentFragment();
    // For a child far down, the children before it are loaded on demand.
    if (until >= 0) {
      let before = child, at = place;
      while (before + this.sizes[before] <= until && at - place < 1e7) { before += this.sizes[before]; at++; }
      if (at - place > 5 * PORTION) {
        all.append(el("p", { class: "skipped" }, `… ${many(at - place)} more`));
        [child, place] = [before, at];
      }
    }
    while (child < end && (laid < PORTION || child <= until)) {
      all.append(this.item(child, depth + 1, place++));
      child += this.sizes[child];
      laid++;
    }
    group.append(all);
    group.next = { child, place };
    if (child < end) group.append(el("button", { class: "more", onclick: () => this.more(item) }, `… more, from ${many(place)} on`));
  }

  fold(node) {
    const item = this.items.get(node);
    if (!item?.group) return;
    item.group.hidden = true;
    item.setAttribute("aria-expanded", "false");
    item.firstChild.firstChild.textContent = "▸";
  }

  clicked(event) {
    const row = event.target.closest(".node");
    if (!row) return;
    const node = Number(row.dataset.node);
    const item = this.items.get(node);
    if (!event.target.closest(".text, .plain")) {
      if (item.getAttribute("aria-expanded") === "true") this.fold(node);
      else this.unfold(node);
    }
    this.select(node);
  }

  select(node, scroll = false) {
    this.items.get(this.selected)?.removeAttribute("aria-selected");
    this.selected = node;
    this.where.hidden = false;
    const item = this.items.get(node);
    item?.setAttribute("aria-selected", "true");
    if (item) this.tree.setAttribute("aria-activedescendant", item.id);
    if (scroll) item?.firstChild.scrollIntoView({ block: "center" });
    else item?.firstChild.scrollIntoView({ block: "nearest" });
    const path = this.graph.fullPath(node);
    this.path.textContent = assetq.clean(path);
    this.page.hold();
  }

  state() {
    const state = {};
    if (this.query) state.q = this.query;
    if (this.selected >= 0) state.node = this.selected;
    return state;
  }

  async search() {
    const word = this.input.value.trim().toLowerCase();
    const asked = (this.asked = (this.asked ?? 0) + 1);
    this.found = null;
    this.query = this.input.value.trim();
    this.results.hidden = true;
    if (!word) {
      this.tally.textContent = "";
      return;
    }
    this.tally.textContent = "…";
    const found = [];
    const seen = [this.keys, this.texts].map((cells) => [cells, new Int8Array((cells.of?.count ?? 0) + 1)]);
    for (let node = 0; node < this.nodes; node++) {
      for (const [cells, fits] of seen) {
        const place = cells.places?.[node] ?? 0;
        if (place === 0) continue;
        if (fits[place] === 0) fits[place] = cells.of.get(place - 1).toLowerCase().includes(word) ? 1 : -1;
        if (fits[place] === 1) { found.push(node); break; }
      }
      if (node % 500_000 === 499_999) {
        await new Promise((next) => setTimeout(next));
        if (asked !== this.asked) return;
      }
    }
    this.found = found;
    this.at = -1;
    if (found.length === 0) this.tally.textContent = "nothing matches";
    else this.step(1);
    this.list(0);
  }

  // The results, as a list of paths and values: a portion, and a button for the next one.
  list(first) {
    const found = this.found.slice(first, first + PORTION);
    if (first === 0) this.results.replaceChildren();
    this.results.querySelector(".more")?.remove();
    this.results.hidden = this.found.length === 0;
    this.results.append(...found.map((node, k) => el("button", { class: "result", onclick: () => {
      this.at = first + k;
      this.tally.textContent = `${many(this.at + 1)} of ${many(this.found.length)}`;
      this.reveal(node);
    } }, el("span", { class: "name" }, this.graph.path(node) || this.entry), el("span", { class: "soft" }, this.isBranch(node) ? this.brief(node) : this.shown(node)))));
    const next = first + found.length;
    if (next < this.found.length) this.results.append(el("button", { class: "more", onclick: () => this.list(next) }, `… ${many(this.found.length - next)} more`));
  }

  step(by) {
    if (!this.found || this.found.length === 0) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.tally.textContent = `${many(this.at + 1)} of ${many(this.found.length)}`;
    this.reveal(this.found[this.at]);
  }

  reveal(node) {
    const way = this.graph.way(node);
    for (let n = 0; n + 1 < way.length; n++) this.unfold(way[n], way[n + 1]);
    this.select(node, true);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.tree) return;
    const item = this.items.get(this.selected) ?? this.items.get(0);
    if (!item) return;
    const seen = () => [...this.tree.querySelectorAll(".node")].filter((row) => row.offsetParent !== null);
    const move = (by) => {
      const rows = seen();
      const at = rows.indexOf(item.firstChild);
      const to = rows[Math.min(Math.max(0, at + by), rows.length - 1)];
      if (to) this.select(Number(to.dataset.node));
    };
    const open = item.getAttribute("aria-expanded") === "true";
    switch (event.key) {
      case "ArrowDown": move(1); break;
      case "ArrowUp": move(-1); break;
      case "PageDown": move(20); break;
      case "PageUp": move(-20); break;
      case "Home": this.select(0); break;
      case "ArrowRight": if (open) move(1); else this.unfold(item.node); break;
      case "ArrowLeft":
        if (open) this.fold(item.node);
        else if (item.parentElement?.closest(".item")) this.select(item.parentElement.closest(".item").node);
        break;
      case "Enter": case " ": if (open) this.fold(item.node); else this.unfold(item.node); break;
      default: return;
    }
    event.preventDefault();
  }

  async show(params) {
    const query = params.get("q") ?? "";
    if (query !== this.query) {
      this.input.value = query;
      await this.search();
    }
    const node = parseInt(params.get("node"), 10);
    if (node >= this.nodes) this.page.say(`${this.entry} has no value ${node}`);
    else if (node > 0 && node !== this.selected) this.reveal(node);
  }
}

assetq.kinds.tree = {
  async open(element, part, page) {
    const tree = new Tree(element, part, page);
    await tree.load();
    return tree;
  },
};
