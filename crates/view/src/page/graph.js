// Graphs: columns of nodes in the order in which they are visited, and how people name a node.
const MAP = 1, LIST = 2, TEXT = 3;
const PLAIN_NAME = /^[^.[\]#"\\\0- ]+$/;

class Graph {
  // The branch whose path was made last: its children have the same beginning.
  last = { node: -1, path: "", isEntry: false };

  /** @type {(page: Page, meta: GraphMeta) => Promise<Graph>} */
  static async decode(page, meta) {
    const cells = await Promise.all(
      ["kinds", "sizes", "keys", "types", "texts"].map(async (name) => assetq.column(await page.block(`${meta.block}.${name}`), meta.nodes)));
    const [kinds, sizes] = cells.map((one) => (one.kind === "number" && one.all instanceof Float64Array ? one.all : new Float64Array())
);
    const [, , keys, types, texts] = /** @type {ValueCells[]} */ (cells);
    return new Graph(meta, { kinds, sizes, keys, types, texts });
  }

  /** @param {GraphMeta} meta @param {{ kinds: Float64Array, sizes: Float64Array, keys: ValueCells, types: ValueCells, texts: ValueCells }} columns */
  constructor({ entry, nodes }, { kinds, sizes, keys, types, texts }) {
    this.entry = entry;
    this.nodes = nodes;
    this.kinds = kinds;
    this.sizes = sizes;
    this.keys = keys;
    this.types = types;
    this.texts = texts;
    // The node that each lies in, and how many lie before it there; and the nodes that lie in none further.
    this.parents = new Int32Array(nodes);
    this.places = new Uint32Array(nodes);
    this.leaves = new Uint32Array(nodes);
    /** @type {{ node: number, end: number, count: number }[]} */
    const open = [];
    let leaves = 0;
    for (let node = 0; node < nodes; node++) {
      let above = open.at(-1);
      while (above && node >= above.end) (open.pop(), (above = open.at(-1)));
      this.parents[node] = above?.node ?? -1;
      if (above) this.places[node] = above.count++;
      if (this.isBranch(node)) open.push({ node, end: node + this.sizes[node], count: 0 });
      else this.leaves[leaves++] = node;
    }
    this.leaves = this.leaves.subarray(0, leaves);
  }

  isBranch(/** @type {number} */ node) { return this.kinds[node] === MAP || this.kinds[node] === LIST; }

  // The nodes that lie in a node.
  *children(/** @type {number} */ node) {
    const end = node + this.sizes[node];
    for (let child = node + 1; child < end; child += this.sizes[child]) yield child;
  }

  // The nodes from the root to this one.
  way(/** @type {number} */ node) {
    /** @type {number[]} */
    const way = [];
    for (; node >= 0; node = this.parents[node]) way.unshift(node);
    return way;
  }

  // Whether an element of a list is an entry of a dictionary, no value itself: unlike a record it has no type, and a key and
  // a value.
  isEntry(/** @type {number} */ node) {
    if (this.kinds[node] !== MAP || this.kinds[this.parents[node]] !== LIST || this.types.text(node) !== null) return false;
    const [key, value, end] = [node + 1, node + 1 + this.sizes[node + 1], node + this.sizes[node]];
    return this.keys.text(key) === "key" && value < end && this.keys.text(value) === "value" && value + this.sizes[value] === end;
  }

  // The path of a node in the graph, as in the table of values. An entry and its value have the number of the entry, and its key has
  // the number and a mark.
  /** @type {(node: number) => string} */
  path(node) {
    const above = this.parents[node];
    if (above < 0) return "";
    if (this.last.node !== above) this.last = { node: above, path: this.path(above), isEntry: this.isEntry(above) };
    const { path, isEntry } = this.last;
    if (this.kinds[above] === LIST) return `${path}[${this.places[node]}]`;
    const name = this.keys.text(node) ?? "";
    if (isEntry) return name === "key" ? `${path}#key` : path;
    if (!PLAIN_NAME.test(name)) return `${path}["${name.replace(/["\\]/g, "\\$&")}"]`;
    return path === "" ? name : `${path}.${name}`;
  }

  // The same, as `assetq cat FILE PATH` takes it.
  fullPath(/** @type {number} */ node) {
    const path = this.path(node);
    return this.entry + (path === "" || path.startsWith("[") ? "" : ".") + path;
  }

  /** @type {(node: number) => string} */
  json(node) {
    if (this.kinds[node] === LIST) return `[${[...this.children(node)].map((child) => this.json(child)).join(",")}]`;
    if (this.kinds[node] === MAP) return `{${[...this.children(node)].map((child) => `${JSON.stringify(this.keys.text(child))}:${this.json(child)}`).join(",")}}`;
    const text = this.texts.text(node);
    if (text === null) return "null";
    return this.isLiteral(node) ? text : JSON.stringify(text);
  }

  // Whether the text of a leaf is its JSON: a number or a truth.
  isLiteral(/** @type {number} */ node) {
    return this.kinds[node] !== TEXT && /^(-?\d+(\.\d+)?(e[+-]?\d+)?|true|false)$/i.test(this.texts.text(node) ?? "");
  }
}

/** @typedef {Graph} PageGraph */
/** @type {Map<string, Promise<Graph>>} */
const known = new Map();
// The graph that a part shows.
assetq.graph = (page, meta) => {
  const graph = known.get(meta.block) ?? Graph.decode(page, meta);
  known.set(meta.block, graph);
  return graph;
};
// The leaves of all graphs of the page, as the cells of a column: `what` is `path`, `value` or `graph`.
assetq.leaves = async (page, what, first) => {
  const all = await Promise.all(page.parts.flatMap((part) => (part.kind === "tree" ? assetq.graph(page, part.meta) : [])));
  const leaf = (/** @type {number} */ row) => {
    row += first;
    for (const graph of all) {
      if (row < graph.leaves.length) return { graph, node: graph.leaves[row] };
      row -= graph.leaves.length;
    }
    return null;
  };
  const text = (/** @type {number} */ row) => {
    const found = leaf(row);
    return !found ? null : what === "graph" ? found.graph.entry : what === "path" ? found.graph.path(found.node) : found.graph.texts.text(found.node);
  };
  const isLiteral = (/** @type {number} */ row) => {
    const found = leaf(row);
    return what === "value" && !!found && found.graph.isLiteral(found.node);
  };
  return { kind: "leaf", value: text, text, isLiteral };
};
