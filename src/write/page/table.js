// Tables as they are seen: rows laid out as they scroll into view.
const { el, many, clean, tableOf, leadOf, index, targets } = assetq;
const ROW = 26; // the height of a row, as in the style
const TALLEST = 8_000_000; // what every browser lets an element be high
const RIGHT = new Set(["Int", "Uint", "F32", "F64"]);
const MONO = new Set(["Id64", "Id32", "Guid"]);

class View {
  constructor(element, part, page) {
    this.page = page;
    this.table = tableOf(part, page);
    this.rows = null; // the rows that are shown, in order; null for all
    this.order = null; // { n, down }
    this.leads = {}; // for kinds of ids, where they lead
    this.asked = 0;
    this.top = 0; // the first row that is seen, counted in rows
    this.selected = -1;
    this.cursor = 0;
    const columns = this.table.columns;
    // The places of rows in the file are left to those who ask; a narrow window begins with what short listings show.
    const few = innerWidth < 704 && columns.some((column) => column.brief);
    this.on = columns.map((column) => column.brief || (!few && (column.role !== "Place" || columns.length < 6)));
    this.build(element);
  }

  get count() { return this.rows ? this.rows.length : this.table.rows; }
  rowAt(at) { return this.rows ? this.rows[at] : at; }
  get shown() { return this.table.columns.filter((_, n) => this.on[n]).map((column) => column.n); }

  build(element) {
    const { table, page } = this;
    this.input = el("input", { type: "search", placeholder: "filter …   name:text   size>100", "aria-label": `filter ${table.table}`, spellcheck: "false",
      title: "words that a row has; column:word, column=text, column<number, column>number; /" });
    this.input.addEventListener("input", () => this.refilter());
    this.tally = el("span", { class: "tally" });
    this.choice = el("div", { class: "choice", hidden: true });
    const choose = el("button", { "aria-expanded": "false", onclick: () => {
      this.choice.hidden = !this.choice.hidden;
      choose.setAttribute("aria-expanded", String(!this.choice.hidden));
    } }, "Columns");
    const copy = el("button", { title: "the rows that are shown, as CSV", class: "copy", onclick: () => this.copy() }, "Copy CSV");
    const save = el("button", { title: "the rows that are shown, as a CSV file", onclick: async () => {
      page.save(`${table.table}.csv`, new Blob([await assetq.csv(table, this.shown, this.rows, this.count)], { type: "text/csv" }));
    } }, "Save");
    element.append(el("div", { class: "bar" }, this.input, this.tally, el("span", { class: "space" }), choose, copy, save), this.choice);
    for (const column of table.columns) {
      const box = el("input", { type: "checkbox", onchange: () => {
        this.on[column.n] = box.checked;
        this.header();
        this.draw();
        if (this.input.value.trim()) this.refilter();
      } });
      box.checked = this.on[column.n];
      this.choice.append(el("label", {}, box, column.name));
    }
    if (table.more) {
      const of = table.more.of === null ? "all" : many(table.more.of);
      element.append(el("p", { class: "note" }, `This page has the first ${many(table.rows)} of ${of} rows. All of them: `, el("code", {}, table.more.command)));
    }
    if (table.fault) {
      element.append(el("p", { class: "note fault" }, `${many(table.damaged)} damaged: the first is ${table.fault}`));
    }
    this.head = el("div", { class: "head", role: "row" });
    this.body = el("div", { class: "body", role: "rowgroup" });
    this.space = el("div", { class: "space" }, this.head, this.body);
    this.scroll = el("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": table.table, "aria-rowcount": String(table.rows) }, this.space);
    this.detail = el("aside", { class: "detail", hidden: true, "aria-label": "row", tabindex: "-1", onkeydown: (event) => event.key === "Escape" && this.close() });
    element.append(el("div", { class: "both" }, this.scroll, this.detail));
    this.scroll.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.scroll.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.scroll.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row && !event.target.closest("a")) this.select(Number(row.dataset.at));
    });
    new ResizeObserver(() => this.draw()).observe(this.scroll);
    this.header();
  }

  header() {
    const { table } = this;
    const wide = Math.min(44, Math.max(16, Math.floor(innerWidth / 14)));
    this.gutter = String(table.rows).length * 8 + 18;
    this.widths = table.columns.map((column) => {
      const name = column.name.length * 8.4 + 36;
      const width = (column.plan !== "leaf" && column.or === undefined) || column.of === "graph" ? Math.min(wide, Math.max(8, column.width)) : wide;
      const letter = this.classes(column).includes("mono") || column.kind === "Nested" ? 8.2 : 9;
      return Math.round(Math.max(name, width * letter + 20, 56));
    });
    // What room is left goes to the longest texts.
    const spare = this.scroll.clientWidth - this.shown.reduce((sum, n) => sum + this.widths[n], this.gutter);
    const long = this.shown.filter((n) => table.columns[n].width >= wide).at(-1);
    if (spare > 0 && long !== undefined) this.widths[long] += spare;
    const cells = this.shown.map((n) => {
      const column = table.columns[n];
      const sorted = this.order?.n === n ? (this.order.down ? "descending" : "ascending") : "none";
      const mark = sorted === "none" ? "" : this.order.down ? " ▼" : " ▲";
      const button = el("button", { role: "columnheader", "aria-sort": sorted, class: RIGHT.has(column.kind) ? "right" : "", title: `${column.name}: put in order`,
        onclick: () => this.sort(n) }, column.name + mark);
      button.style.width = `${this.widths[n]}px`;
      return button;
    });
    const corner = el("span", { class: "gutter" });
    corner.style.width = `${this.gutter}px`;
    this.head.replaceChildren(corner, ...cells);
    this.resize();
  }

  resize() {
    const width = this.shown.reduce((sum, n) => sum + this.widths[n], this.gutter);
    this.tall = Math.min(TALLEST, this.count * ROW);
    this.space.style.width = `${width}px`;
    this.space.style.height = `${this.tall + ROW + 2}px`;
    const all = many(this.table.rows);
    this.tally.textContent = this.rows && this.rows.length !== this.table.rows ? `${many(this.count)} of ${all}` : `${all} ${this.table.rows === 1 ? "row" : "rows"}`;
  }

  // How many rows are seen, and how far one row is when the whole table does not fit into an element.
  get seen() { return Math.max(1, Math.floor((this.scroll.clientHeight - ROW) / ROW)); }
  get most() { return Math.max(0, this.count - this.seen); }
  get isScaled() { return this.tall < this.count * ROW; }
  get range() { return Math.max(1, this.scroll.scrollHeight - this.scroll.clientHeight); }

  scrolled() {
    if (!this.isScaled) this.top = this.scroll.scrollTop / ROW;
    else if (Math.abs(this.scroll.scrollTop - this.expected) > 1.5) this.top = (this.scroll.scrollTop / this.range) * this.most;
    this.redraw();
  }

  wheeled(event) {
    if (!this.isScaled || event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    event.preventDefault();
    const rows = event.deltaMode === 1 ? event.deltaY : event.deltaMode === 2 ? event.deltaY * this.seen : event.deltaY / ROW;
    this.to(this.top + rows);
    this.scroll.scrollLeft += event.deltaX;
  }

  to(top) {
    this.top = Math.min(Math.max(0, top), this.most);
    this.scroll.scrollTop = this.expected = this.isScaled ? (this.top / Math.max(1, this.most)) * this.range : this.top * ROW;
    this.redraw();
  }

  redraw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  async draw() {
    if (this.scroll.clientHeight === 0) return;
    const { table } = this;
    const first = Math.max(0, Math.floor(this.top) - 4);
    const end = Math.min(this.count, Math.ceil(this.top) + this.seen + 6);
    // Only columns that are seen are decoded and laid out.
    const left = this.scroll.scrollLeft - 200, right = this.scroll.scrollLeft + this.scroll.clientWidth + 200;
    let x = this.gutter, before = 0;
    const columns = [];
    for (const n of this.shown) {
      if (x + this.widths[n] < left) before += this.widths[n];
      else if (x < right) columns.push(n);
      x += this.widths[n];
    }
    const rows = [];
    for (let at = first; at < end; at++) rows.push(this.rowAt(at));
    const asked = (this.drawing = (this.drawing ?? 0) + 1);
    const waiting = table.need(columns, rows);
    if (waiting) {
      await waiting;
      if (asked !== this.drawing) return;
    }
    this.links(columns);
    this.body.style.top = `${ROW + 2 + (this.isScaled ? this.scroll.scrollTop - (this.top - first) * ROW : first * ROW)}px`;
    this.body.replaceChildren(...rows.map((row, k) => this.line(first + k, row, columns, before)));
  }

  // Finds out where ids lead, once for each kind, and draws again then.
  links(columns) {
    for (const n of columns) {
      const { plan, role, kind } = this.table.columns[this.table.source(n)];
      if (plan !== "ids" || (role !== "Reference" && role !== "Key") || kind in this.leads) continue;
      this.leads[kind] = null;
      leadOf(this.page, kind).then((lead) => {
        this.leads[kind] = lead;
        this.redraw();
      });
    }
  }

  line(at, row, columns, before) {
    const number = el("span", { class: "gutter", role: "rowheader" }, String(row));
    number.style.width = `${this.gutter}px`;
    const line = el("div", { class: "line", role: "row", "data-at": String(at), "aria-rowindex": String(at + 1) }, number);
    if (row === this.selected) line.setAttribute("aria-selected", "true");
    if (at === this.cursor) line.classList.add("cursor");
    if (before > 0) {
      const gap = el("span", { class: "gap" });
      gap.style.width = `${before}px`;
      line.append(gap);
    }
    for (const n of columns) {
      const cell = el("span", { role: "gridcell", class: this.classes(this.table.columns[n]) });
      cell.style.width = `${this.widths[n]}px`;
      const text = this.table.text(n, row);
      if (text !== null && text !== undefined) {
        const long = text.length > 200 ? text.slice(0, 200) + "…" : text;
        const link = this.lead(n, row);
        cell.append(link ? el("a", { href: link, tabindex: "-1" }, long) : clean(long));
        if (text.length > 6) cell.title = clean(text.length > 600 ? text.slice(0, 600) + "…" : text);
      }
      line.append(cell);
    }
    return line;
  }

  classes(column) {
    return (RIGHT.has(column.kind) ? "right" : "") + (MONO.has(column.kind) ? " mono" : "") + (column.kind === "Nested" ? " nested" : "");
  }

  // Where the id of a cell leads, or the one that a text stands for; not to the row itself.
  lead(n, row) {
    const place = this.table.place(n, row);
    const found = place < 0 ? null : this.leads[this.table.columns[this.table.source(n)].kind]?.(place);
    return found && !(found[0] === this.table && found[1] === row) ? this.linkTo(found) : null;
  }

  linkTo([table, row]) { return this.page.link(table.part.id, { row }); }

  async sort(n) {
    this.order = this.order?.n !== n ? { n, down: false } : this.order.down ? null : { n, down: true };
    this.header();
    this.head.children[this.shown.indexOf(n) + 1].focus();
    await this.arrange();
    this.to(0);
  }

  refilter() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.arrange().then(() => this.to(0)), 120);
  }

  // Filters, and puts in order.
  async arrange() {
    const { table } = this;
    const asked = ++this.asked;
    const current = () => asked === this.asked;
    const tests = assetq.parse(this.input.value.trim(), table);
    this.tally.textContent = "…";
    let rows = tests.length > 0 ? await assetq.filter(table, tests, this.shown, current) : null;
    if (!current()) return;
    if (this.order) {
      const by = await assetq.ranks(table, this.order.n);
      if (!current()) return;
      rows ??= Uint32Array.from({ length: table.rows }, (_, row) => row);
      const sign = this.order.down ? -1 : 1;
      // Nulls are last in either direction, and rows that are alike stay in order.
      rows = rows.slice().sort((a, b) => (by[a] === by[b] ? a - b : by[a] === Infinity ? 1 : by[b] === Infinity ? -1 : sign * (by[a] - by[b])));
    }
    this.rows = rows;
    this.cursor = 0;
    this.resize();
    this.redraw();
  }

  async copy() {
    const most = 200_000;
    if (this.count > most) this.page.say(`${many(most)} rows are copied; Save takes all`);
    const text = await assetq.csv(this.table, this.shown, this.rows, Math.min(most, this.count));
    await this.page.copy(text);
    if (this.count <= most) this.page.say(`${many(this.count)} rows copied as CSV`);
  }

  key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: this.seen, PageUp: -this.seen, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) {
      this.move(Math.min(Math.max(0, this.cursor + moves[event.key]), this.count - 1));
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      this.scroll.scrollLeft += event.key === "ArrowLeft" ? -120 : 120;
    } else if (event.target === this.scroll && (event.key === "Enter" || event.key === " ")) {
      this.select(this.cursor).then(() => this.detail.focus());
    } else if (event.key === "Escape" && !this.detail.hidden) {
      this.close();
    } else return;
    event.preventDefault();
  }

  move(at) {
    if (this.count === 0) return;
    this.cursor = at;
    if (at < this.top) this.to(at);
    else if (at >= this.top + this.seen - 1) this.to(at - this.seen + 1);
    else this.redraw();
  }

  select(at) {
    this.cursor = at;
    const row = this.rowAt(at);
    // The address says which row is seen, without another step to go back.
    history.replaceState(null, "", this.page.link(this.table.part.id, { row }));
    return this.open(row);
  }

  close() {
    this.detail.hidden = true;
    this.selected = -1;
    this.redraw();
    this.scroll.focus();
  }

  // All of a row beside the table: every column, and the tables that know its ids as well.
  async open(row) {
    const { table, page } = this;
    this.selected = row;
    this.redraw();
    const all = table.columns.map((column) => column.n);
    await table.need(all, [row]);
    if (this.selected !== row) return;
    const list = el("dl", {});
    for (const column of table.columns) {
      const n = column.n;
      const text = table.text(n, row);
      if (text === null) continue;
      const link = this.lead(n, row);
      const shown = link ? el("a", { href: link }, text) : el("span", {}, pretty(column, text));
      list.append(el("dt", {}, column.name), el("dd", { class: this.classes(column) }, shown, el("button", { class: "small", title: "copy", onclick: () => page.copy(text) }, "copy")));
      if (column.plan === "ids") list.append(this.places(column, row));
    }
    const close = el("button", { title: "close (Escape)", onclick: () => this.close() }, "✕");
    this.detail.replaceChildren(el("div", { class: "bar" }, el("b", {}, `${table.table} ${row}`), el("span", { class: "space" }), close), list);
    this.detail.hidden = false;
    this.detail.scrollTop = 0;
  }

  places(column, row) {
    const { table, page } = this;
    const place = table.place(column.n, row);
    const to = el("dd", { class: "places" });
    if (place >= 0) {
      Promise.all(targets(page, column.kind).map(async (other) => [other, (await index(other, column.kind))[place] - 1])).then((found) => {
        for (const [other, at] of found) {
          if (at >= 0 && !(other === table && at === row)) to.append(el("a", { href: this.linkTo([other, at]) }, other.table));
        }
      });
    }
    return to;
  }

  async show(params) {
    const row = parseInt(params.get("row"), 10);
    if (params.has("q")) {
      this.input.value = params.get("q");
      await this.arrange();
    }
    if (row >= 0 && row < this.table.rows) {
      let at = this.rows ? this.rows.indexOf(row) : row;
      if (at < 0) {
        // Someone came here for it: nothing may hide it.
        this.input.value = "";
        await this.arrange();
        at = this.rows ? this.rows.indexOf(row) : row;
      }
      this.cursor = at;
      if (at < this.top || at >= this.top + this.seen - 1) this.to(at - Math.floor(this.seen / 2));
      await this.open(row);
    }
    this.draw();
  }
}

const pretty = (column, text) => {
  if (column.kind !== "Nested" && column.kind !== "Any") return text;
  if (text.length > 100_000 || !/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 1).replace(/\[\s+([^[\]{}]{0,200}?)\s+\]/g, (_, inner) => `[${inner.replace(/\s+/g, " ")}]`)
      .split("\n").map((line) => el("div", {}, line));
  } catch {
    return text;
  }
};

assetq.kinds.table = { open: (element, part, page) => new View(element, part, page) };
