// Differences: the added, removed and changed rows of a table, a portion at a time, and what changed in words.
const { el, many, words } = assetq;
const KINDS = ["added", "removed", "changed"];
const PORTION = 300;
const NAMED = 6; // rows of a table that the first part names
const SIGNS = { added: "+", removed: "−", changed: "~" };

// The columns of the rows of a part.
const columns = (meta, page) =>
  Promise.all(["kinds", "keys", "whats", "fields"].map(async (name) => assetq.column(await page.block(`${meta.block}.${name}`), meta.rows)));

// The changes of a table: `12 files changed, 2 added`.
const inWords = ({ title, meta: { counts } }) => {
  const happened = [2, 0, 1].filter((kind) => counts[kind] > 0).map((kind) => [many(counts[kind]), KINDS[kind]]);
  const name = words(title).replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
  const noun = happened[0][0] === "1" ? name.replace(/ies$/, "y").replace(/(?<!s)s$/, "") : name;
  return happened.map(([count, kind], i) => (i ? `${count} ${kind}` : `${count} ${noun} ${kind}`)).join(", ");
};

// A change of a field in a few words: `reload 30 → 28 (-2)`.
const short = (text) => (text === null ? "–" : text.length > 60 ? `${text.slice(0, 60)}…` : text);
const fieldInWords = ([name, old, now, by]) => `${name} ${short(old)} → ${short(now)}${by ? ` (${by})` : ""}`;

// The first part of a page of differences: sentences that lead to the rows.
assetq.kinds.summary = {
  async open(element, part, page) {
    const tables = page.parts.filter(({ kind, meta }) => kind === "diff" && meta.counts.some((count) => count > 0));
    const order = [...tables.filter(({ meta }) => !meta.moved), ...tables.filter(({ meta }) => meta.moved)];
    const headline = order.filter(({ meta }) => !meta.moved).slice(0, 4).map(inWords).join("; ");
    const body = el("div", { class: "overview", tabindex: "0", role: "region", "aria-label": "changes in words" },
      el("p", { class: "headline" }, headline || "Rows have moved in the file, and nothing else has changed"), el("div", { class: "first" }, assetq.still(page)));
    element.append(body);
    for (const one of order.slice(0, 40)) {
      const list = el("ul", { class: "changed" });
      body.append(el("section", {}, el("h2", {}, el("a", { href: page.link(one.id) }, inWords(one))), one.meta.moved ? el("p", { class: "soft" }, "These rows have other places in the file, and the same contents.") : list));
      if (one.meta.moved) continue;
      const [kinds, keys, whats, fields] = await columns(one.meta, page);
      // Some of each kind, changed rows first.
      const byKind = [2, 0, 1].map((kind) => Array.from(kinds.all ?? [], (_, row) => row).filter((row) => kinds.all[row] === kind).slice(0, NAMED));
      for (const row of byKind.flat().slice(0, NAMED)) {
        const kind = KINDS[kinds.all[row]];
        const changed = kind === "changed" ? JSON.parse(fields.text(row)) : [];
        const more = [...changed.slice(0, 3).map(fieldInWords), ...(changed.length > 3 ? [`and ${many(changed.length - 3)} more fields`] : [])].join(", ");
        list.append(el("li", {}, el("b", { class: `sign ${kind}`, title: kind }, SIGNS[kind]), el("a", { href: page.link(one.id, { row }) }, keys.text(row)),
          el("span", { class: "soft" }, [kind === "changed" ? "" : kind, whats.text(row) ?? "", more].filter(Boolean).join(" · "))));
      }
      if (one.meta.count > list.children.length) list.append(el("li", {}, el("a", { href: page.link(one.id) }, `all ${many(one.meta.count)}`)));
    }
    if (order.length > 40) body.append(el("p", { class: "soft" }, `… and ${many(order.length - 40)} more tables, at the left`));
  },
};

class Diff {
  block; count; counts; fields; keys; rows; whats;

  constructor(element, part, page) {
    Object.assign(this, part.meta);
    this.page = page;
    this.on = KINDS.map(() => true);
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
      } }, `${many(this.counts[n])} ${kind}`);
      toggle.hidden = this.counts[n] === 0;
      return toggle;
    });
    this.order = el("select", { "aria-label": "order of rows", onchange: () => (this.fill(), page.hold()) },
      [["", "In the file's order"], ["name", "By name"], ["fields", "Most changed fields first"]].map(([value, text]) => el("option", { value }, text)));
    element.append(el("div", { class: "bar" }, toggles, this.input, this.order, this.tally));
    if (this.rows < this.count) {
      element.append(el("p", { class: "note" }, `This page has ${many(this.rows)} of ${many(this.count)} rows, as --limit says.`));
    }
    this.list = el("div", { class: "changes", tabindex: "0", role: "region", "aria-label": `rows of ${part.title}` });
    this.list.addEventListener("scroll", () => {
      if (this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 800) this.more();
    }, { passive: true });
    element.append(this.list);
  }

  async load() {
    const [kinds, keys, whats, fields] = await columns(this, this.page);
    this.kinds = kinds.all ?? [];
    Object.assign(this, { keys, whats, fields });
    this.fill();
  }

  fill() {
    const words = this.input.value.trim().toLowerCase().split(/\s+/).filter((word) => word);
    this.fitting = [];
    for (let row = 0; row < this.rows; row++) {
      if (!this.on[this.kinds[row]]) continue;
      if (words.length > 0) {
        const text = `${this.keys.text(row)} ${this.whats.text(row) ?? ""} ${this.fields.text(row)}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) continue;
      }
      this.fitting.push(row);
    }
    const count = (row) => JSON.parse(this.fields.text(row)).length;
    if (this.order.value === "name") this.fitting.sort((a, b) => this.keys.text(a).localeCompare(this.keys.text(b), "en", { numeric: true }));
    if (this.order.value === "fields") {
      const counts = new Map(this.fitting.map((row) => [row, count(row)]));
      this.fitting.sort((a, b) => counts.get(b) - counts.get(a));
    }
    this.tally.textContent = this.fitting.length === this.rows ? "" : `${many(this.fitting.length)} shown`;
    this.next = 0;
    this.list.replaceChildren();
    this.list.scrollTop = 0;
    this.more();
  }

  more() {
    const rows = this.fitting.slice(this.next, this.next + PORTION);
    this.next += rows.length;
    this.list.append(...rows.map((row) => this.row(row)));
  }

  state() {
    const [q, sort] = [this.input.value.trim(), this.order.value];
    return { ...(q && { q }), ...(sort && { sort }), ...(this.target !== undefined && { row: this.target }) };
  }

  // Shows the filter, the order and the row of an address.
  show(params) {
    const [q, sort] = [params.get("q") ?? "", params.get("sort") ?? ""];
    if (q !== this.input.value.trim() || sort !== this.order.value) {
      [this.input.value, this.order.value] = [q, sort];
      this.fill();
    }
    this.target = params.has("row") ? Number(params.get("row")) : undefined;
    const at = this.fitting.indexOf(this.target);
    this.list.querySelector(".target")?.classList.remove("target");
    if (at < 0) return this.target === undefined ? undefined : this.page.say(`This page has no row ${this.target} of these`);
    while (this.next <= at) this.more();
    this.list.children[at].classList.add("target");
    this.list.children[at].scrollIntoView({ block: "center" });
  }

  row(row) {
    const kind = KINDS[this.kinds[row]];
    const what = this.whats.text(row);
    const head = el("div", { class: `key ${kind}` }, el("span", { class: "sign", title: kind }, SIGNS[kind]),
      el("code", {}, this.keys.text(row)), what === null ? null : el("span", { class: "what" }, what));
    const fields = JSON.parse(this.fields.text(row));
    if (kind !== "changed") {
      const n = kind === "added" ? 0 : 1;
      const said = fields.map(([name, old, now, , was, is]) => el("span", { class: "what" }, `${name} `, el("code", {}, this.value(n ? old : now, n ? was : is))));
      return el("div", { class: "change" }, head, said.length > 0 ? el("div", { class: "fields" }, said) : null);
    }
    const heads = el("thead", {}, el("tr", {}, ["field", "old", "new", "by"].map((name) => el("th", { scope: "col" }, name))));
    const table = el("table", {}, heads, el("tbody", {}, fields.map(([name, old, now, by, was, is]) =>
      el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: `old ${this.isNumber(old, now)}` }, this.value(old, was)), el("td", { class: `new ${this.isNumber(old, now)}` }, this.value(now, is)), el("td", { class: "by" }, by ?? "")))));
    return el("div", { class: "change" }, head, table);
  }

  // The class of numbers, which stand below each other.
  isNumber(...texts) { return texts.every((text) => text === null || /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(text)) ? "right" : ""; }

  // A value, with a sample if it is a colour; a dash if it is absent.
  value(text, colour) {
    if (text === null) return "–";
    if (!colour) return this.page.long(text);
    const swatch = el("i", { class: "swatch" });
    swatch.style.background = colour;
    return el("span", {}, swatch, text);
  }
}

assetq.kinds.diff = {
  async open(element, part, page) {
    const diff = new Diff(element, part, page);
    await diff.load();
    return diff;
  },
};
