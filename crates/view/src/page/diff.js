// Differences: the added, removed and changed rows of a table, a portion at a time.
const { el, many } = assetq;
const KINDS = ["added", "removed", "changed"];
const PORTION = 300;

class Diff {
  block; count; counts; fields; keys; rows; whats;

  constructor(element, part, page) {
    Object.assign(this, part.meta);
    this.page = page;
    this.on = KINDS.map(() => true);
    this.input = el("input", { type: "search", placeholder: "filter …", "aria-label": `filter ${part.title}`, spellcheck: "false" });
    this.input.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.fill(), 120);
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
    element.append(el("div", { class: "bar" }, toggles, this.input, this.tally));
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
    const [kinds, keys, whats, fields] = await Promise.all(
      ["kinds", "keys", "whats", "fields"].map(async (name) => assetq.column(await this.page.block(`${this.block}.${name}`), this.rows)));
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

  row(row) {
    const kind = KINDS[this.kinds[row]];
    const what = this.whats.text(row);
    const head = el("div", { class: `key ${kind}` }, el("span", { class: "sign", title: kind }, { added: "+", removed: "−", changed: "~" }[kind]),
      el("code", {}, this.keys.text(row)), what === null ? null : el("span", { class: "what" }, what));
    const fields = JSON.parse(this.fields.text(row));
    if (kind !== "changed") {
      const n = kind === "added" ? 0 : 1;
      const said = fields.map(([name, old, now, , was, is]) => el("span", { class: "what" }, `${name} `, el("code", {}, this.value(n ? old : now, n ? was : is))));
      return el("div", { class: "change" }, head, said.length > 0 ? el("div", { class: "fields" }, said) : null);
    }
    const heads = el("thead", {}, el("tr", {}, ["field", "old", "new", "by"].map((name) => el("th", { scope: "col" }, name))));
    const table = el("table", {}, heads, el("tbody", {}, fields.map(([name, old, now, by, was, is]) =>
      el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "old" }, this.value(old, was)), el("td", { class: "new" }, this.value(now, is)), el("td", { class: "by" }, by ?? "")))));
    return el("div", { class: "change" }, head, table);
  }

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
