// Differences: the added, removed and changed rows of a table, a portion at a time, and what changed in words.
const { el, many, words } = assetq;
const KINDS = ["added", "removed", "changed"];
const PORTION = 300;
const NAMED = 6; // rows of a table that the first part names, if there are several
const NAMED_ALONE = 30;
/** @type {Record<string, string>} */
const SIGNS = { added: "+", removed: "−", changed: "~" };

// A changed field: its name, its values, by how much it differs, and the colours that the values are.
/** @typedef {[name: string, old: string | null, now: string | null, by: string | null, was: string | null, is: string | null]} Field */
/** @typedef {{ row: number, kind: number, key: string, what: string | null, fields: Field[] }} Change */

// The changes of a part.
/** @type {(meta: DiffMeta, page: Page) => Promise<Change[]>} */
const changesOf = async (meta, page) => {
  const cells = await Promise.all(["kinds", "keys", "whats", "fields"].map(async (name) => assetq.column(await page.block(`${meta.block}.${name}`), meta.rows)));
  const [kinds, keys, whats, fields] = /** @type {ValueCells[]} */ (cells);
  return Array.from({ length: meta.rows }, (_, row) =>
    ({ row, kind: Number(kinds.value(row)), key: keys.text(row) ?? "", what: whats.text(row), get fields() { return JSON.parse(fields.text(row) ?? "[]"); } }));
};

// The changes of a table: `12 files changed, 2 added`.
/** @type {(part: PartOfKind<"diff">) => string} */
const inWords = ({ title, meta: { counts } }) => {
  // The table `resources` of `content/assets.bin` is called after both.
  const at = title.lastIndexOf(":");
  const file = at > 0 ? ` of ${title.slice(0, at)}` : "";
  const happened = [2, 0, 1].filter((kind) => counts[kind] > 0).map((kind) => [many(counts[kind]), KINDS[kind]]);
  const name = words(title.slice(at + 1)).replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
  const noun = happened[0][0] === "1" ? name.replace(/ies$/, "y").replace(/(?<!s)s$/, "") : name;
  return happened.map(([count, kind], i) => (i ? `${count} ${kind}` : `${count} ${noun}${file} ${kind}`)).join(", ");
};

// A change of a field in a few words: `reload 30 → 28 (-2)`.
const short = (/** @type {string | null} */ text) => (text === null ? "–" : text.length > 60 ? `${text.slice(0, 60)}…` : text);
// Of two paths the parts that differ.
/** @type {(old: string | null, now: string | null) => (string | null)[]} */
const different = (old, now) => {
  const folders = old?.split("/") ?? [];
  const same = folders.findIndex((folder, i) => folder !== now?.split("/")[i]);
  return same < 1 ? [old, now] : [old, now].map((path) => (path === null ? null : `…/${path.split("/").slice(same).join("/")}`));
};
const fieldInWords = (/** @type {Field} */ [name, was, is, by]) => {
  const [old, now] = different(was, is);
  return `${name} ${short(old)} → ${short(now)}${by ? ` (${by})` : ""}`;
};

// The first part of a page of differences: sentences that lead to the rows.
/** @type {KindOf<"summary">} */
assetq.kinds.summary = {
  async open(element, part, page) {
    const tables = page.parts.filter((part) => part.kind === "diff").filter(({ meta }) => meta.counts.some((count) => count > 0));
    const order = [...tables.filter(({ meta }) => !meta.moved), ...tables.filter(({ meta }) => meta.moved)];
    const headline = order.filter(({ meta }) => !meta.moved).slice(0, 4).map(inWords).join("; ");
    const body = el("div", { class: "overview", tabindex: "0", role: "region", "aria-label": "changes in words" },
      el("p", { class: "headline" }, headline || "Rows have moved in the file, and nothing else has changed"), el("div", { class: "first" }, assetq.still(page)));
    element.append(body);
    for (const one of order.slice(0, 40)) {
      const list = el("ul", { class: "changed" });
      // The headline is enough for one table.
      const head = order.length > 1 && el("h2", {}, el("a", { href: page.link(one.id) }, inWords(one)));
      body.append(el("section", {}, head, one.meta.moved ? el("p", { class: "soft" }, "These rows have other places in the file, and the same contents.") : list));
      if (one.meta.moved) continue;
      const all = await changesOf(one.meta, page);
      // Some of each kind, changed rows first.
      for (const { row, kind: number, key, what, fields } of [2, 0, 1].flatMap((kind) => all.filter((one) => one.kind === kind)).slice(0, order.length > 1 ? NAMED : NAMED_ALONE)) {
        const kind = KINDS[number];
        const changed = kind === "changed" ? fields : [];
        const more = [...changed.slice(0, 3).map(fieldInWords), ...(changed.length > 3 ? [`and ${many(changed.length - 3)} more fields`] : [])].join(", ");
        list.append(el("li", {}, el("b", { class: `sign ${kind}`, title: kind }, SIGNS[kind]), el("a", { href: page.link(one.id, { row }) }, key),
          el("span", { class: "soft" }, [kind === "changed" ? "" : kind, what ?? "", more].filter(Boolean).join(" · "))));
      }
      if (one.meta.count > list.children.length) list.append(el("li", {}, el("a", { href: page.link(one.id) }, `all ${many(one.meta.count)}`)));
    }
    if (order.length > 40) body.append(el("p", { class: "soft" }, `… and ${many(order.length - 40)} more tables, at the left`));
  },
};

class Diff {
  on = KINDS.map(() => true);
  /** @type {Change[]} */
  all = [];
  /** @type {Change[]} */
  fitting = [];
  next = 0; // the first change that is not laid out
  /** @type {number | undefined} */
  target; // the row of the address
  /** @type {number | undefined} */
  pause;

  /** @param {HTMLElement} element @param {PartOfKind<"diff">} part @param {Page} page */
  constructor(element, part, page) {
    const { counts, rows, count } = part.meta;
    this.page = page;
    this.id = part.id;
    this.input = el("input", { type: "search", placeholder: "filter …", "aria-label": `filter ${part.title}`, spellcheck: "false" });
    this.input.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => (this.fill(), page.hold()), 120);
    });
    this.tally = el("span", { class: "tally" });
    const toggles = KINDS.map((kind, n) => {
      const toggle = el("button", { class: kind, "aria-pressed": "true", onclick: () => {
        this.on[n] = !this.on[n];
        toggle.setAttribute("aria-pressed", String(this.on[n]));
        this.fill();
      } }, `${many(counts[n])} ${kind}`);
      toggle.hidden = counts[n] === 0;
      return toggle;
    });
    this.order = el("select", { "aria-label": "order of rows", onchange: () => (this.fill(), page.hold()) },
      [["", "In the file's order"], ["name", "By name"], ["fields", "Most changed fields first"]].map(([value, text]) => el("option", { value }, text)));
    element.append(el("div", { class: "bar" }, toggles, this.input, this.order, this.tally));
    if (rows < count) element.append(el("p", { class: "note" }, `This page has ${many(rows)} of ${many(count)} rows, as --limit says.`));
    this.list = el("div", { class: "changes", tabindex: "0", role: "region", "aria-label": `rows of ${part.title}` });
    this.list.addEventListener("scroll", () => {
      if (this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 800) this.more();
    }, { passive: true });
    element.append(this.list);
  }

  /** @param {Change[]} all */
  load(all) {
    this.all = all;
    this.fill();
  }

  fill() {
    const words = this.input.value.trim().toLowerCase().split(/\s+/).filter((word) => word);
    const textOf = (/** @type {Change} */ { key, what, fields }) => `${key} ${what ?? ""} ${JSON.stringify(fields)}`.toLowerCase();
    const fits = (/** @type {Change} */ change) => {
      const text = words.length ? textOf(change) : "";
      return words.every((word) => text.includes(word));
    };
    this.fitting = this.all.filter((change) => this.on[change.kind] && fits(change));
    if (this.order.value === "name") this.fitting.sort((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }));
    if (this.order.value === "fields") {
      const counted = this.fitting.map((change) => ({ change, count: change.fields.length }));
      this.fitting = counted.sort((a, b) => b.count - a.count).map(({ change }) => change);
    }
    this.tally.textContent = this.fitting.length === this.all.length ? "" : `${many(this.fitting.length)} shown`;
    this.next = 0;
    this.list.replaceChildren();
    this.list.scrollTop = 0;
    this.more();
  }

  more() {
    const some = this.fitting.slice(this.next, this.next + PORTION);
    this.next += some.length;
    this.list.append(...some.map((change) => this.row(change)));
  }

  state() {
    const [q, sort] = [this.input.value.trim(), this.order.value];
    return { ...(q && { q }), ...(sort && { sort }), ...(this.target !== undefined && { row: this.target }) };
  }

  // Shows the filter, the order and the row of an address.
  show(/** @type {URLSearchParams} */ params) {
    const [q, sort] = [params.get("q") ?? "", params.get("sort") ?? ""];
    if (q !== this.input.value.trim() || sort !== this.order.value) {
      [this.input.value, this.order.value] = [q, sort];
      this.fill();
    }
    this.target = params.has("row") ? Number(params.get("row")) : undefined;
    const at = this.fitting.findIndex(({ row }) => row === this.target);
    this.list.querySelector(".target")?.classList.remove("target");
    if (at < 0) return this.target === undefined ? undefined : this.page.say(`This page has no row ${this.target} of these`);
    while (this.next <= at) this.more();
    this.list.children[at].classList.add("target");
    this.list.children[at].scrollIntoView({ block: "center" });
  }

  row(/** @type {Change} */ { row, kind: number, key, what, fields }) {
    const kind = KINDS[number];
    const head = el("div", { class: `key ${kind}` }, el("span", { class: "sign", title: kind }, SIGNS[kind]),
      el("a", { href: this.page.link(this.id, { row }), title: "a link to this row" }, el("code", {}, key)), what === null ? null : el("span", { class: "what" }, what));
    if (kind !== "changed") {
      const n = kind === "added" ? 0 : 1;
      const said = fields.map(([name, old, now, , was, is]) => el("span", { class: "what" }, `${name} `, el("code", {}, this.value(n ? old : now, n ? was : is))));
      return el("div", { class: "change" }, head, said.length > 0 ? el("div", { class: "fields" }, said) : null);
    }
    // Numbers stand below each other, and so do the names of their columns.
    const sides = fields.map(([, old, now]) => this.isNumber(old, now));
    const side = sides.every(Boolean) ? "right" : "";
    const heads = el("thead", {}, el("tr", {}, ["field", "old", "new", "by"].map((name, i) => el("th", { scope: "col", class: i ? side : "" }, name))));
    const table = el("table", {}, heads, el("tbody", {}, fields.map(([name, old, now, by, was, is], i) =>
      el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: `old ${sides[i]}` }, this.value(old, was)), el("td", { class: `new ${sides[i]}` }, this.value(now, is)), el("td", { class: `by ${sides[i]}` }, by ?? "")))));
    return el("div", { class: "change" }, head, table);
  }

  // The class of numbers, which stand below each other.
  isNumber(/** @type {(string | null)[]} */ ...texts) { return texts.every((text) => text === null || /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(text)) ? "right" : ""; }

  // A value, with a sample if it is a colour; a dash if it is absent.
  /** @type {(text: string | null, colour: string | null) => Child} */
  value(text, colour) {
    if (text === null) return "–";
    if (!colour) return this.page.long(text);
    const swatch = el("i", { class: "swatch" });
    swatch.style.background = colour;
    return el("span", {}, swatch, text);
  }
}

/** @type {KindOf<"diff">} */
assetq.kinds.diff = {
  async open(element, part, page) {
    const diff = new Diff(element, part, page);
    diff.load(await changesOf(part.meta, page));
    return diff;
  },
};
