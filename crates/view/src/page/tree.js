// Graphs: a tree whose branches are laid out when they are unfolded, as columns of nodes in the order of the graph.
const { el, many } = assetq;
const MAP = 1, LIST = 2, TEXT = 3;
const PORTION = 200; // children that are laid out at once

// A node that is laid out: its element, its row and, once unfolded, its children. `next` is the first child that is not laid out.
/** @typedef {{ node: number, depth: number, above: Item | null, element: HTMLElement, row: HTMLElement, twist: HTMLElement, group?: HTMLElement, next: { child: number, place: number } }} Item */

class Tree {
  /** @type {Map<number, Item>} */
  items = new Map(); // of nodes that are laid out
  /** @type {number[] | null} */
  found = null;
  at = -1;
  asked = 0;
  query = "";
  selected = -1;
  /** @type {number | undefined} */
  pause;

  /** @param {HTMLElement} element @param {PartOfKind<"tree">} part @param {Page} page @param {Graph} graph */
  constructor(element, part, page, graph) {
    const { entry, fault, leftOut, nodes } = part.meta;
    this.page = page;
    this.graph = graph;
    this.block = part.meta.block;
    this.entry = entry;
    this.nodes = nodes;
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
    if (leftOut > 0) {
      element.append(el("p", { class: "note" }, `This page has the first ${many(nodes)} values of ${many(nodes + leftOut)}. `, el("code", {}, `assetq cat FILE '${entry}' -f json`), " has all of them."));
    }
    if (fault) element.append(el("p", { class: "note fault" }, `damaged: ${fault}`));
    this.tree = el("div", { class: "nodes", role: "tree", tabindex: "0", "aria-label": part.title });
    this.tree.addEventListener("keydown", (event) => this.key(event));
    this.tree.addEventListener("click", (event) => this.clicked(event));
    this.results = el("div", { class: "results", hidden: true, tabindex: "0", role: "region", "aria-label": "what was found" });
    element.append(el("div", { class: "both" }, this.tree, this.results));
    if (nodes > 0) {
      this.tree.append(this.item(0, null, -1));
      this.unfold(0);
    } else this.tree.append(el("p", {}, "nothing"));
  }

  isBranch(/** @type {number} */ node) { return this.graph.isBranch(node); }
  isFull(/** @type {number} */ node) { return this.isBranch(node) && this.graph.sizes[node] > 1; }
  isMap(/** @type {number} */ node) { return this.graph.kinds[node] === MAP; }

  count(/** @type {number} */ node) {
    let count = 0;
    for (const _ of this.graph.children(node)) if (++count > 9999) break;
    return count;
  }

  // A summary of a branch, by a few of its leaves.
  brief(/** @type {number} */ node) {
    if (!this.isFull(node)) return this.isMap(node) ? "{}" : "[]";
    const some = [];
    let length = 0;
    for (const child of this.graph.children(node)) {
      if (some.length === 6 || length > 60) { some.push("…"); break; }
      const key = this.isMap(node) ? `${this.graph.keys.text(child)}: ` : "";
      const text = this.isBranch(child) ? (this.isMap(child) ? "{…}" : "[…]") : this.shown(child);
      some.push(key + text);
      length += key.length + text.length;
    }
    const text = some.join(", ");
    return this.isMap(node) ? `{ ${text} }` : `[ ${text} ]`;
  }

  // The key of an entry of a dictionary, as a short text.
  entryKey(/** @type {number} */ node) {
    const key = node + 1;
    return this.isBranch(key) ? this.brief(key) : this.shown(key);
  }

  shown(/** @type {number} */ node) {
    const text = this.graph.texts.text(node);
    if (text === null) return "null";
    return this.graph.kinds[node] === TEXT ? `"${text.length > 300 ? text.slice(0, 300) + "…" : text}"` : text;
  }

  /** @type {(node: number, above: Item | null, place: number) => HTMLElement} */
  item(node, above, place) {
    const { graph } = this;
    const branch = this.isBranch(node);
    const key = graph.keys.text(node);
    const type = graph.types.text(node);
    const name = node === 0 ? this.entry : key ?? `[${place}]`;
    const twist = el("span", { class: "twist" }, this.isFull(node) ? "▸" : "");
    const row = el("div", { class: "node", "data-node": String(node) },
      twist,
      el("span", { class: key === null ? "place" : "name" }, name),
      graph.isEntry(node) ? el("span", { class: "name" }, this.entryKey(node)) : null,
      el("span", { class: branch ? "brief" : graph.kinds[node] === TEXT ? "text" : "plain" }, branch ? this.brief(node) : this.shown(node)),
      graph.kinds[node] === LIST ? el("span", { class: "count" }, `${this.many(node)}`) : null,
      type ? el("span", { class: "type", title: type }, type.replace(/[\w`]+[.:+]|`\d+/g, "")) : null);
    const depth = above ? above.depth + 1 : 0;
    const element = el("div", { class: "item", role: "treeitem", id: `n${node}-${this.block}`, "aria-level": depth + 1, "aria-expanded": this.isFull(node) ? "false" : null }, row);
    this.items.set(node, { node, depth, above, element, row, twist, next: { child: node + 1, place: 0 } });
    return element;
  }

  many(/** @type {number} */ node) {
    const count = this.count(node);
    return count > 9999 ? "10,000+" : many(count);
  }

  // Lays out the children of a node: a portion, and a button for the next one; `until` must be among them.
  unfold(/** @type {number} */ node, until = -1) {
    const item = this.items.get(node);
    if (!item || !this.isFull(node)) return;
    const group = (item.group ??= item.element.appendChild(el("div", { class: "group", role: "group" })));
    this.turn(item, group, true);
    if (group.childElementCount === 0 || until >= item.next.child) this.more(item, group, until);
  }

  /** @type {(item: Item, group: HTMLElement, isOpen: boolean) => void} */
  turn(item, group, isOpen) {
    group.hidden = !isOpen;
    item.element.setAttribute("aria-expanded", String(isOpen));
    item.twist.textContent = isOpen ? "▾" : "▸";
  }

  /** @type {(item: Item, group: HTMLElement, until?: number) => void} */
  more(item, group, until = -1) {
    const { node } = item;
    const { sizes } = this.graph;
    group.querySelector(":scope > button")?.remove();
    let { child, place } = item.next;
    let laid = 0;
    const end = node + sizes[node];
    const all = document.createDocumentFragment();
    // For a child far down, the children before it are loaded on demand.
    if (until >= 0) {
      let before = child, at = place;
      while (before + sizes[before] <= until && at - place < 1e7) { before += sizes[before]; at++; }
      if (at - place > 5 * PORTION) {
        all.append(el("p", { class: "skipped" }, `… ${many(at - place)} more`));
        [child, place] = [before, at];
      }
    }
    while (child < end && (laid < PORTION || child <= until)) {
      all.append(this.item(child, item, place++));
      child += sizes[child];
      laid++;
    }
    group.append(all);
    item.next = { child, place };
    if (child < end) group.append(el("button", { class: "more", onclick: () => this.more(item, group) }, `… more, from ${many(place)} on`));
  }

  fold(/** @type {number} */ node) {
    const item = this.items.get(node);
    if (item?.group) this.turn(item, item.group, false);
  }

  isOpen(/** @type {number} */ node) {
    const group = this.items.get(node)?.group;
    return !!group && !group.hidden;
  }

  clicked(/** @type {MouseEvent} */ event) {
    const target = /** @type {Element} */ (event.target);
    const number = target.closest(".node")?.getAttribute("data-node");
    if (!number) return;
    const node = Number(number);
    if (!target.closest(".text, .plain")) {
      if (this.isOpen(node)) this.fold(node);
      else this.unfold(node);
    }
    this.select(node);
  }

  select(/** @type {number} */ node, scroll = false) {
    this.items.get(this.selected)?.element.removeAttribute("aria-selected");
    this.selected = node;
    this.where.hidden = false;
    const item = this.items.get(node);
    item?.element.setAttribute("aria-selected", "true");
    if (item) this.tree.setAttribute("aria-activedescendant", item.element.id);
    item?.row.scrollIntoView({ block: scroll ? "center" : "nearest" });
    const path = this.graph.fullPath(node);
    this.path.textContent = assetq.clean(path);
    this.page.hold();
  }

  state() {
    /** @type {AddressState} */
    const state = {};
    if (this.query) state.q = this.query;
    if (this.selected >= 0) state.node = this.selected;
    return state;
  }

  async search() {
    const word = this.input.value.trim().toLowerCase();
    const asked = ++this.asked;
    this.found = null;
    this.query = this.input.value.trim();
    this.results.hidden = true;
    if (!word) {
      this.tally.textContent = "";
      return;
    }
    this.tally.textContent = "…";
    /** @type {number[]} */
    const found = [];
    const seen = [this.graph.keys, this.graph.texts].flatMap((cells) => (cells.kind === "text" ? { places: cells.places, fits: cells.of.including(word) } : []));
    for (let node = 0; node < this.nodes; node++) {
      if (seen.some(({ places, fits }) => places[node] > 0 && fits[places[node] - 1])) found.push(node);
      if (node % 500_000 === 499_999) {
        await new Promise((next) => setTimeout(next));
        if (asked !== this.asked) return;
      }
    }
    this.found = found;
    this.at = -1;
    if (found.length === 0) this.tally.textContent = "nothing matches";
    else this.step(1);
    this.list(found, 0);
  }

  // The results, as a list of paths and values: a portion, and a button for the next one.
  /** @type {(all: number[], first: number) => void} */
  list(all, first) {
    const found = all.slice(first, first + PORTION);
    if (first === 0) this.results.replaceChildren();
    this.results.querySelector(".more")?.remove();
    this.results.hidden = all.length === 0;
    this.results.append(...found.map((node, k) => el("button", { class: "result", onclick: () => {
      this.at = first + k;
      this.tally.textContent = `${many(this.at + 1)} of ${many(all.length)}`;
      this.reveal(node);
    } }, el("span", { class: "name" }, this.graph.path(node) || this.entry), el("span", { class: "soft" }, this.isBranch(node) ? this.brief(node) : this.shown(node)))));
    const next = first + found.length;
    if (next < all.length) this.results.append(el("button", { class: "more", onclick: () => this.list(all, next) }, `… ${many(all.length - next)} more`));
  }

  step(/** @type {number} */ by) {
    if (!this.found || this.found.length === 0) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.tally.textContent = `${many(this.at + 1)} of ${many(this.found.length)}`;
    this.reveal(this.found[this.at]);
  }

  reveal(/** @type {number} */ node) {
    const way = this.graph.way(node);
    for (let n = 0; n + 1 < way.length; n++) this.unfold(way[n], way[n + 1]);
    this.select(node, true);
  }

  key(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.tree) return;
    const item = this.items.get(this.selected) ?? this.items.get(0);
    if (!item) return;
    const { node } = item;
    const move = (/** @type {number} */ by) => {
      const rows = [.../** @type {NodeListOf<HTMLElement>} */ (this.tree.querySelectorAll(".node"))].filter((row) => row.offsetParent !== null);
      const at = rows.indexOf(item.row);
      const to = rows[Math.min(Math.max(0, at + by), rows.length - 1)];
      if (to) this.select(Number(to.dataset.node));
    };
    const open = this.isOpen(node);
    switch (event.key) {
      case "ArrowDown": move(1); break;
      case "ArrowUp": move(-1); break;
      case "PageDown": move(20); break;
      case "PageUp": move(-20); break;
      case "Home": this.select(0); break;
      case "ArrowRight": if (open) move(1); else this.unfold(node); break;
      case "ArrowLeft":
        if (open) this.fold(node);
        else if (item.above) this.select(item.above.node);
        break;
      case "Enter": case " ": if (open) this.fold(node); else this.unfold(node); break;
      default: return;
    }
    event.preventDefault();
  }

  async show(/** @type {URLSearchParams} */ params) {
    const query = params.get("q") ?? "";
    if (query !== this.query) {
      this.input.value = query;
      await this.search();
    }
    const node = parseInt(params.get("node") ?? "", 10);
    if (node >= this.nodes) this.page.say(`${this.entry} has no value ${node}`);
    else if (node > 0 && node !== this.selected) this.reveal(node);
  }
}

/** @type {KindOf<"tree">} */
assetq.kinds.tree = { open: async (element, part, page) => new Tree(element, part, page, await assetq.graph(page, part.meta)) };
