// Graphs: columns of nodes in the order in which they are visited, and how people name a node.
const MAP = 1, LIST = 2, TEXT = 3;
const PLAIN_NAME = /^[^.[\]#"\\\0- ]+$/;

class Graph {
  before; block; entered; entry; keys; kinds; last; nodes; page; parents; places; sizes; texts; types;

  constructor(page, { block, nodes, entry }) {
    Object.assign(this, { page, block, nodes, entry });
  }

  async decode() {
    const [kinds, sizes, keys, types, texts] = await Promise.all(
      ["kinds", "sizes", "keys", "types", "texts"].map(async (name) => assetq.column(await this.page.block(`${this.block}.${name}`), this.nodes)));
    Object.assign(this, { kinds: kinds.all ?? [], sizes: sizes.all ?? [], keys, types, texts });
    // The node that each lies in, and how many lie before it there; and the nodes that lie in none further.
    [this.parents, this.places, this.leaves] = [new Int32Array(this.nodes), new Uint32Array(this.nodes), new Uint32Array(this.nodes)];
    const open = [];
    let leaves = 0;
    for (let node = 0; node < this.nodes; node++) {
      while (open.length > 0 && node >= open.at(-1).end) open.pop();
      const above = open.at(-1);
      this.parents[node] = above?.node ?? -1;
      if (above) this.places[node] = above.count++;
      if (this.isBranch(node)) open.push({ node, end: node + this.sizes[node], count: 0 });
      else this.leaves[leaves++] = node;
    }
    this.leaves = this.leaves.subarray(0, leaves);
    return this;
  }

  isBranch(node) { return this.kinds[node] === MAP || this.kinds[node] === LIST; }

  // The nodes that lie in a node.
  *children(node) {
    const end = node + this.sizes[node];
    for (let child = node + 1; child < end; child += this.sizes[child]) yield child;
  }

  // The nodes from the root to this one.
  way(node) {
    const way = [];
    for (; node >= 0; node = this.parents[node]) way.unshift(node);
    return way;
  }

  // Whether an element of a list is an entry of a dictionary, no value itself: unlike a record it has no type, and a key and
  // a value.
  isEntry(node) {
    if (this.kinds[node] !== MAP || this.kinds[this.parents[node]] !== LIST || this.types.text(node) !== null) return false;
    const [key, value, end] = [node + 1, node + 1 + this.sizes[node + 1], node + this.sizes[node]];
    return this.keys.text(key) === "key" && value < end && this.keys.text(value) === "value" && value + this.sizes[value] === end;
  }

  // The path of a node in the graph, as in the table of values. An entry and its value have the number of the entry, and its key has
  // the number and a mark.
  path(node) {
    const above = this.parents[node];
    if (above < 0) return "";
    if (this.last !== above) [this.last, this.before, this.entered] = [above, this.path(above), this.isEntry(above)];
    if (this.kinds[above] === LIST) return `${this.before}[${this.places[node]}]`;
    const name = this.keys.text(node);
    if (this.entered) return name === "key" ? `${this.before}#key` : this.before;
    if (!PLAIN_NAME.test(name)) return `${this.before}["${name.replace(/["\\]/g, "\\$&")}"]`;
    return this.before === "" ? name : `${this.before}.${name}`;
  }

  // The same, as `assetq cat FILE PATH` takes it.
  fullPath(node) {
    const path = this.path(node);
    return this.entry + (path === "" || path.startsWith("[") ? "" : ".") + path;
  }

  json(node) {
    if (this.kinds[node] === LIST) return `[${[...this.children(node)].map((child) => this.json(child)).join(",")}]`;
    if (this.kinds[node] === MAP) return `{${[...this.children(node)].map((child) => `${JSON.stringify(this.keys.text(child))}:${this.json(child)}`).join(",")}}`;
    const text = this.texts.text(node);
    if (text === null) return "null";
    return this.isLiteral(node) ? text : JSON.stringify(text);
  }

  // Whether the text of a leaf is its JSON: a number or a truth.
  isLiteral(node) {
    return this.kinds[node] !== TEXT && /^(-?\d+(\.\d+)?(e[+-]?\d+)?|true|false)$/i.test(this.texts.text(node) ?? "");
  }
}

const known = new Map();
// The graph that a part shows.
assetq.graph = (page, part) => {
  if (!known.has(part.block)) known.set(part.block, new Graph(page, part).decode());
  return known.get(part.block);
};
// The leaves of all graphs of the page, as the cells of a column: `what` is `path`, `value` or `graph`.
assetq.leaves = async (page, what, first) => {
  const all = await Promise.all(page.parts.filter((part) => part.kind === "tree").map((part) => assetq.graph(page, part.meta)));
  const leaf = (row) => {
    row += first;
    for (const graph of all) {
      if (row < graph.leaves.length) return [graph, graph.leaves[row]];
      row -= graph.leaves.length;
    }
    return null;
  };
  const text = (row) => {
    const [graph, node] = leaf(row) ?? [];
    return !graph ? null : what === "graph" ? graph.entry : what === "path" ? graph.path(node) : graph.texts.text(node);
  };
  const isLiteral = (row) => {
    const [graph, node] = leaf(row) ?? [];
    return what === "value" && !!graph && graph.isLiteral(node);
  };
  return { kind: "leaf", value: text, text, isLiteral };
};
