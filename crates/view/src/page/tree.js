// Graphs: a tree whose branches are laid out when they are unfolded, as columns of nodes in the order of the graph.
const { el, many } = assetq;
const MAP = 1, LIST = 2, TEXT = 3;
const PORTION = 200; // children that are laid out at once

class Tree {
  // The first child that is not laid out, of nodes that are.
  /** @type {Map<number, { child: number, place: number }>} */
  next = new Map();
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
    /** @type {Branches<number>} */
    this.branches = new assetq.Branches(part.title, "", { fill: (node, group) => this.more(node, group), choose: (node) => this.choose(node) });
    this.results = el("div", { class: "results", hidden: true, tabindex: "0", role: "region", "aria-label": "what was found" });
    element.append(el("div", { class: "both" }, this.branches.tree, this.results));
    if (nodes > 0) {
      this.branches.tree.append(this.item(0, null, -1));
      this.branches.turn(0, true);
    } else this.branches.tree.append(el("p", {}, "nothing"));
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

  /** @type {(node: number, above: number | null, place: number) => HTMLElement} */
  item(node, above, place) {
    const { graph } = this;
    const branch = this.isBranch(node);
    const key = graph.keys.text(node);
    const type = graph.types.text(node);
    const name = node === 0 ? this.entry : key ?? `[${place}]`;
    return this.branches.item(node, above, this.isFull(node),
      el("span", { class: key === null ? "place" : "name" }, name),
      graph.isEntry(node) ? el("span", { class: "name" }, this.entryKey(node)) : null,
      el("span", { class: branch ? "brief" : graph.kinds[node] === TEXT ? "text" : "plain" }, branch ? this.brief(node) : this.shown(node)),
      graph.kinds[node] === LIST ? el("span", { class: "count" }, `${this.many(node)}`) : null,
      type ? el("span", { class: "type", title: type }, type.replace(/[\w`]+[.:+]|`\d+/g, "")) : null);
  }

  many(/** @type {number} */ node) {
    const count = this.count(node);
    return count > 9999 ? "10,000+" : many(count);
  }

  // Lays out the next children of a node: a portion, and a button for the next one; `until` must be among them.
  /** @type {(node: number, group: HTMLElement, until?: number) => void} */
  more(node, group, until = -1) {
    const { sizes } = this.graph;
    group.querySelector(":scope > button")?.remove();
    let { child, place } = this.next.get(node) ?? { child: node + 1, place: 0 };
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
      all.append(this.item(child, node, place++));
      child += sizes[child];
      laid++;
    }
    group.append(all);
    this.next.set(node, { child, place });
    if (child < end) group.append(el("button", { class: "more", onclick: () => this.more(node, group) }, `… more, from ${many(place)} on`));
  }

  choose(/** @type {number} */ node) {
    this.selected = node;
    this.where.hidden = false;
    this.path.textContent = assetq.clean(this.graph.fullPath(node));
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
    for (let n = 0; n + 1 < way.length; n++) {
      this.branches.turn(way[n], true);
      const group = this.branches.items.get(way[n])?.group;
      if (group && way[n + 1] >= (this.next.get(way[n])?.child ?? 0)) this.more(way[n], group, way[n + 1]);
    }
    this.branches.select(node, "center");
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
