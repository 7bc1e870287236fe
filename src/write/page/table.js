// Tables: columns decoded stretch by stretch when their rows are shown, rows laid out as they scroll into view.
{
  const { el, clean } = assetq;
  const ROW = 26; // the height of a row, as in the style
  const TALLEST = 8_000_000; // what every browser lets an element be high
  const LEAST = -(2n ** 53n), MOST = 2n ** 53n;

  // --- what a stretch of a column says, as src/write/page/column.rs writes it ---

  class Bytes {
    constructor(bytes, at = 0) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.at = at;
    }
    u8() { return this.view.getUint8(this.at++); }
    u32() { const n = this.view.getUint32(this.at, true); this.at += 4; return n; }
    i128() {
      const low = this.view.getBigUint64(this.at, true), high = this.view.getBigInt64(this.at + 8, true);
      this.at += 16;
      return (high << 64n) | low;
    }
    take(n) { const part = this.bytes.subarray(this.at, this.at + n); this.at += n; return part; }
  }

  // Whole numbers: an array of numbers, or of bigints where they may be beyond what a number can tell apart.
  const numbers = (from, count) => {
    const width = from.u8(), steps = from.u8() === 1, first = from.i128(), step = from.i128();
    const planes = from.take(width * count);
    const wide = width === 8 || first < LEAST || first > MOST || step < LEAST || step > MOST;
    if (wide) {
      const all = new Array(count);
      let sum = first;
      for (let n = 0; n < count; n++) {
        let above = 0n;
        for (let k = width - 1; k >= 0; k--) above = (above << 8n) | BigInt(planes[k * count + n]);
        if (steps) { if (n > 0) sum += above + step; all[n] = sum; } else all[n] = first + above;
      }
      return all;
    }
    const all = new Float64Array(count);
    for (let k = 0, unit = 1; k < width; k++, unit *= 256) {
      const plane = planes.subarray(k * count, (k + 1) * count);
      for (let n = 0; n < count; n++) all[n] += plane[n] * unit;
    }
    const base = Number(steps ? step : first);
    if (steps) {
      let sum = Number(first);
      for (let n = 0; n < count; n++) { if (n > 0) sum += all[n] + base; all[n] = sum; }
    } else if (base !== 0) {
      for (let n = 0; n < count; n++) all[n] += base;
    }
    return all;
  };

  const planesOf = (bytes, count, size) => {
    const whole = new Uint8Array(count * size);
    for (let k = 0; k < size; k++) for (let n = 0; n < count; n++) whole[n * size + k] = bytes[k * count + n];
    return whole.buffer;
  };

  // Distinct texts, cut out of one when they are asked for.
  const texts = (from) => {
    const count = from.u32();
    const lengths = numbers(from, count);
    const all = new TextDecoder("utf-8", { ignoreBOM: true }).decode(from.take(from.u32()));
    const ends = new Uint32Array(count);
    for (let n = 0, end = 0; n < count; n++) ends[n] = end += lengths[n];
    return { count, get: (n) => all.slice(n === 0 ? 0 : ends[n - 1], ends[n]) };
  };

  // The shortest digits that mean this single-precision number.
  const float = (n) => {
    for (let digits = 6; digits < 9; digits++) {
      const short = Number(n.toPrecision(digits));
      if (Math.fround(short) === n) return String(short);
    }
    return String(Number(n.toPrecision(9)));
  };

  // Cells of a stretch. `value(row)` is a number, a bigint, a text or null, by which rows are put in order; `text(row)` is
  // what people read, null for nothing.
  const NOTHING = { kind: "null", value: () => null, text: () => null };
  const decode = (bytes, rows, column, from = new Bytes(bytes)) => {
    switch (from.u8()) {
      case 1: {
        const null_ = from.u8() === 1 ? from.i128() : undefined;
        const all = numbers(from, rows);
        const isBig = Array.isArray(all);
        const none = null_ === undefined ? undefined : isBig ? null_ : Number(null_);
        const value = (row) => (all[row] === none ? null : all[row]);
        const bool = column.kind === "Bool";
        const text = (row) => (all[row] === none ? null : bool ? (all[row] ? "true" : "false") : String(all[row]));
        return { kind: "number", value, text, all };
      }
      case 2: {
        const all = new Float32Array(planesOf(from.take(rows * 4), rows, 4));
        const value = (row) => (all[row] !== all[row] ? null : all[row]);
        return { kind: "number", value, text: (row) => (all[row] !== all[row] ? null : float(all[row])) };
      }
      case 3: {
        const all = new Float64Array(planesOf(from.take(rows * 8), rows, 8));
        const value = (row) => (all[row] !== all[row] ? null : all[row]);
        return { kind: "number", value, text: (row) => (all[row] !== all[row] ? null : String(all[row])) };
      }
      case 4: {
        const of = texts(from);
        const places = numbers(from, rows);
        const value = (row) => (places[row] === 0 ? null : of.get(places[row] - 1));
        return { kind: "text", value, text: value, of, places };
      }
      case 5: {
        const length = from.u32(), count = from.u32();
        const lists = [];
        for (let k = 0; k < length; k++) lists.push(new Float32Array(planesOf(from.take(count * 4), count, 4)));
        const places = numbers(from, rows);
        const text = (row) => (places[row] === 0 ? null : `[${lists.map((list) => float(list[places[row] - 1])).join(",")}]`);
        return { kind: "list", value: text, text };
      }
      case 6:
        return { kind: "id", places: numbers(from, rows) };
      default:
        return NOTHING;
    }
  };

  // The same for whatever else is stored so.
  assetq.column = (bytes, rows) => decode(bytes, rows, {});

  // --- ids of all tables, with their texts ---

  const loadIds = async (page, name, digits) => {
    const stretches = await Promise.all(
      Array.from({ length: page.facts[name] ?? 0 }, async (_, n) => {
        const from = new Bytes(await page.block(`${name}.${n}`));
        const count = from.u32(), size = from.u32();
        const raw = from.take(count * size);
        const [folders, names] = [0, 0].map(() => {
          const bytes = from.take(from.u32());
          return decode(bytes, count, {});
        });
        return { count, size, raw: new DataView(raw.buffer, raw.byteOffset, raw.byteLength), folders, names };
      }),
    );
    const count = stretches.reduce((sum, stretch) => sum + stretch.count, 0);
    const size = stretches[0]?.count ?? 1;
    const at = (n) => [stretches[Math.floor(n / size)], n % size];
    return {
      count,
      id(n) {
        const [stretch, row] = at(n);
        return stretch.size === 8 ? stretch.raw.getBigUint64(row * 8, true) : BigInt(stretch.raw.getUint32(row * 4, true));
      },
      show(n) { return "0x" + this.id(n).toString(16).toUpperCase().padStart(digits, "0"); },
      text(n) {
        const [stretch, row] = at(n);
        const name = stretch.names.text(row);
        return name === null ? null : stretch.folders.text(row) + name;
      },
      name(n) {
        const [stretch, row] = at(n);
        return stretch.names.text(row);
      },
    };
  };

  let idsOf = null;
  const ids = (page) => {
    idsOf ??= Promise.all([loadIds(page, "i64", 16), loadIds(page, "i32", 8)]).then(([Id64, Id32]) => ({ Id64, Id32 }));
    return idsOf;
  };

  // --- a table: its columns, as far as they have been decoded ---

  class Table {
    constructor(part, page) {
      Object.assign(this, part.meta);
      this.part = part;
      this.page = page;
      this.columns.forEach((column, n) => (column.n = n));
      this.loaded = this.columns.map(() => new Map());
      this.loading = this.columns.map(() => new Map());
      this.ids = null;
    }

    // Where the cells of a column come from: its own block, or that of another one.
    source(n) {
      const column = this.columns[n];
      return column.plan === "text" ? column.of : column.plan === "name" ? this.source(column.of) : n;
    }

    stretchOf(row) {
      let low = 0, high = this.starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (this.starts[middle] <= row) low = middle;
        else high = middle - 1;
      }
      return low;
    }

    length(stretch) {
      return (this.starts[stretch + 1] ?? this.rows) - this.starts[stretch];
    }

    // Decodes a stretch of a column; gives nothing to wait for where that has been done.
    load(n, stretch) {
      n = this.source(n);
      if (this.loaded[n].has(stretch)) return null;
      if (!this.loading[n].has(stretch)) {
        const load = async () => {
          const column = this.columns[n];
          const [bytes, all] = await Promise.all([
            this.page.block(`${this.block}.${stretch}.${n}`),
            column.plan === "ids" ? ids(this.page) : null,
          ]);
          if (all) this.ids = all;
          this.loaded[n].set(stretch, decode(bytes, this.length(stretch), column));
          this.loading[n].delete(stretch);
        };
        this.loading[n].set(stretch, load());
      }
      return this.loading[n].get(stretch);
    }

    async loadRows(columns, first, end) {
      const waiting = [];
      if (this.rows > 0) {
        for (let stretch = this.stretchOf(first); stretch < this.starts.length && this.starts[stretch] < end; stretch++) {
          for (const n of columns) {
            const load = this.load(n, stretch);
            if (load) waiting.push(load);
          }
        }
      }
      if (waiting.length > 0) await Promise.all(waiting);
      return waiting.length > 0;
    }

    // The place of an id among all, or -1; what a cell says as a value, and as a text. Its stretch must have been loaded.
    place(n, row) {
      const stretch = this.stretchOf(row);
      const cells = this.loaded[this.source(n)].get(stretch);
      return cells?.kind === "id" ? cells.places[row - this.starts[stretch]] - 1 : -1;
    }

    ofId(n, place, plan) {
      const all = this.ids[this.columns[this.source(n)].kind];
      return place < 0 ? null : plan === "ids" ? all.show(place) : plan === "text" ? all.text(place) : all.name(place);
    }

    value(n, row, form = "value") {
      const stretch = this.stretchOf(row);
      const cells = this.loaded[this.source(n)].get(stretch);
      if (!cells) return undefined;
      row -= this.starts[stretch];
      return cells.kind === "id" ? this.ofId(n, cells.places[row] - 1, this.columns[n].plan) : cells[form](row);
    }

    text(n, row) {
      return this.value(n, row, "text");
    }
  }

  const tables = new Map();
  const tableOf = (part, page) => {
    if (!tables.has(part.id)) tables.set(part.id, new Table(part, page));
    return tables.get(part.id);
  };
  const allTables = (page) => page.parts.filter((part) => part.kind === "table").map((part) => tableOf(part, page));

  // --- where ids lead ---

  // For ids of a kind, the first row of each table of which they are the key: `at(table, place)`.
  const keys = new Map();
  const keyColumn = (table, kind) => table.columns.find((column) => column.kind === kind && column.role === "Key" && column.plan === "ids");
  const index = (table, kind) => {
    const name = `${table.table} ${kind}`;
    const column = keyColumn(table, kind);
    if (!column) return null;
    if (!keys.has(name)) {
      const build = async () => {
        await table.loadRows([column.n], 0, table.rows);
        const rows = new Int32Array((await ids(table.page))[kind].count);
        for (let stretch = table.starts.length - 1; stretch >= 0; stretch--) {
          const { places } = table.loaded[column.n].get(stretch);
          if (!places) continue;
          for (let row = places.length - 1; row >= 0; row--) if (places[row] > 0) rows[places[row] - 1] = table.starts[stretch] + row + 1;
        }
        return rows;
      };
      keys.set(name, build());
    }
    return keys.get(name);
  };

  // Tables of which ids are the keys, those first that say most of them: the ones with the fewest rows.
  const targets = (page, kind) =>
    allTables(page).filter((table) => keyColumn(table, kind)).sort((a, b) => a.rows - b.rows);
  // Tables whose key is nothing but the id: there it leads to one row.
  const isAlone = (table, kind) => table.columns.filter((column) => column.role === "Key").length === 1;

  const leads = new Map();
  // A function from places of ids to `[table, row]` or null.
  const leadOf = (page, kind) => {
    if (!leads.has(kind)) {
      const build = async () => {
        const own = targets(page, kind).filter((table) => isAlone(table, kind));
        const all = await Promise.all(own.map((table) => index(table, kind)));
        return (place) => {
          for (let n = 0; n < own.length; n++) if (all[n][place] > 0) return [own[n], all[n][place] - 1];
          return null;
        };
      };
      leads.set(kind, build());
    }
    return leads.get(kind);
  };
  const linkTo = (page, [table, row]) => page.link(table.part.id, { row });

  assetq.page.row = async (name, row) => {
    const part = assetq.page.parts.find((part) => part.id === `table=${name}`);
    const table = part && tableOf(part, assetq.page);
    if (!table || !(row >= 0 && row < table.rows)) return null;
    const all = table.columns.map((column) => column.n);
    await table.loadRows(all, row, row + 1);
    return all.map((n) => [table.columns[n].name, table.text(n, row) ?? ""]);
  };
  assetq.page.rowLink = (name, row) => {
    const part = assetq.page.parts.find((part) => part.id === `table=${name}`);
    return part && row >= 0 && row < part.meta.rows ? assetq.page.link(part.id, { row }) : null;
  };

  // --- filters ---

  // Words that a row must have somewhere; `column:word`, `column=text`, `column<number` and `column>number` ask one column.
  const parse = (text, table) =>
    (text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((word) => {
      const plain = (text) => text.replaceAll('"', "");
      const of = word.match(/^(\w+)([:=<>])(.+)$/);
      const column = of && table.columns.find((column) => column.name === of[1]);
      if (!column) return { how: ":", word: plain(word).toLowerCase() };
      return { column, how: of[2], word: plain(of[3]).toLowerCase(), number: Number(plain(of[3])) };
    });

  const fits = (test, text, value) => {
    if (text === null) return false;
    if (test.how === ":") return text.toLowerCase().includes(test.word);
    if (test.how === "=") return text.toLowerCase() === test.word || (value !== text && Number(value) === test.number);
    const number = typeof value === "string" ? Number.parseFloat(value) : Number(value);
    return test.how === "<" ? number < test.number : number > test.number;
  };

  // Marks the rows of a stretch that fit, by a look at every distinct text rather than at every row where that is possible.
  const marker = (table, test) => {
    const known = new Map();
    return (n, stretch, marks) => {
      const column = table.columns[n];
      const cells = table.loaded[table.source(n)].get(stretch);
      const rows = marks.length;
      if (cells.kind === "null") return;
      if (cells.kind === "list" && test.how === ":") return;
      let of = null;
      if (cells.kind === "id") {
        const key = `${column.plan} ${table.columns[table.source(n)].kind}`;
        if (!known.has(key)) known.set(key, new Map());
        const seen = known.get(key);
        of = (place) => {
          let fit = seen.get(place);
          if (fit === undefined) {
            const text = table.ofId(n, place - 1, column.plan);
            seen.set(place, (fit = fits(test, text, text)));
          }
          return fit;
        };
      } else if (cells.kind === "text") {
        const seen = new Int8Array(cells.of.count + 1);
        of = (place) => {
          if (place === 0) return false;
          if (seen[place] === 0) {
            const text = cells.of.get(place - 1);
            seen[place] = fits(test, text, text) ? 1 : -1;
          }
          return seen[place] === 1;
        };
      }
      if (of) {
        const places = cells.places;
        for (let row = 0; row < rows; row++) if (!marks[row] && of(places[row])) marks[row] = 1;
        return;
      }
      // Words that no number has need not be sought in numbers.
      if (test.how === ":" && column.kind !== "Bool" && !/^[-+.\de]+$/.test(test.word)) return;
      for (let row = 0; row < rows; row++) if (!marks[row] && fits(test, cells.text(row), cells.value(row))) marks[row] = 1;
    };
  };

  const breathe = () => new Promise((next) => setTimeout(next));

  // The rows that a filter leaves, or null where it was given up for a newer one.
  const filter = async (table, tests, columns, current) => {
    const kept = [];
    const mark = tests.map((test) => marker(table, test));
    for (let stretch = 0; stretch < table.starts.length; stretch++) {
      const first = table.starts[stretch], count = table.length(stretch);
      let all = null;
      for (const [t, test] of tests.entries()) {
        const marks = new Uint8Array(count);
        for (const n of test.column ? [test.column.n] : columns) {
          const load = table.load(n, stretch);
          if (load) await load;
          if (!current()) return null;
          mark[t](n, stretch, marks);
        }
        if (all) for (let row = 0; row < count; row++) all[row] &= marks[row];
        else all = marks;
      }
      for (let row = 0; row < count; row++) if (all[row]) kept.push(first + row);
      await breathe();
      if (!current()) return null;
    }
    return Uint32Array.from(kept);
  };

  // --- order ---

  // For each row a number that puts it in order by a column; nulls come last.
  const ranks = async (table, n) => {
    await table.loadRows([n], 0, table.rows);
    const ranks = new Float64Array(table.rows);
    const distinct = new Map();
    const places = new Map(); // of ids, as their texts are slow to make
    let row = 0;
    const source = table.source(n);
    for (let stretch = 0; stretch < table.starts.length; stretch++) {
      const cells = table.loaded[source].get(stretch);
      const count = table.length(stretch);
      const seen = cells.kind === "text" ? new Map() : places;
      for (let k = 0; k < count; k++, row++) {
        if (cells.kind === "number") {
          const value = cells.value(k);
          ranks[row] = value === null ? Infinity : Number(value);
        } else if (cells.kind === "null") {
          ranks[row] = Infinity;
        } else {
          const place = cells.places ? cells.places[k] : -1;
          if (place === 0) { ranks[row] = -1; continue; }
          let of = place < 0 ? undefined : seen.get(place);
          if (of === undefined) {
            const text = table.value(n, row);
            if (text === null) of = -1;
            else {
              of = distinct.get(text);
              if (of === undefined) distinct.set(text, (of = distinct.size));
            }
            if (place >= 0) seen.set(place, of);
          }
          ranks[row] = of;
        }
      }
      await breathe();
    }
    if (distinct.size > 0) {
      const numeric = table.columns[n].kind === "Any" && [...distinct.keys()].every((text) => text.trim() !== "" && !Number.isNaN(Number(text)));
      const texts = [...distinct.keys()];
      texts.sort(numeric ? (a, b) => a - b : (a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const order = new Float64Array(texts.length);
      texts.forEach((text, rank) => (order[distinct.get(text)] = rank));
      for (let k = 0; k < ranks.length; k++) ranks[k] = ranks[k] < 0 || ranks[k] === Infinity ? Infinity : order[ranks[k]];
    }
    return ranks;
  };

  // --- CSV ---

  const csvCell = (text) => (text === null ? "" : /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  const csv = async (table, columns, rows, count) => {
    const lines = [columns.map((n) => csvCell(table.columns[n].name)).join(",")];
    await table.loadRows(columns, 0, table.rows);
    for (let at = 0; at < count; at++) lines.push(columns.map((n) => csvCell(table.text(n, rows ? rows[at] : at))).join(","));
    return lines.join("\r\n") + "\r\n";
  };

  // --- what is seen ---

  const RIGHT = new Set(["Int", "Uint", "F32", "F64"]);
  const MONO = new Set(["Id64", "Id32", "Guid"]);

  class View {
    constructor(element, part, page) {
      this.page = page;
      this.table = tableOf(part, page);
      this.rows = null; // the rows that are shown, in order; null for all
      this.order = null; // { n, down }
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
        page.save(`${table.table}.csv`, new Blob([await csv(table, this.shown, this.rows, this.count)], { type: "text/csv" }));
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
        const of = table.more.of === null ? "all" : table.more.of.toLocaleString("en");
        element.append(el("p", { class: "note" }, `This page has the first ${table.rows.toLocaleString("en")} of ${of} rows. All of them: `, el("code", {}, table.more.command)));
      }
      if (table.fault) {
        element.append(el("p", { class: "note fault" }, `${table.damaged.toLocaleString("en")} damaged: the first is ${table.fault}`));
      }
      this.head = el("div", { class: "head", role: "row" });
      this.body = el("div", { class: "body", role: "rowgroup" });
      this.space = el("div", { class: "space" }, this.head, this.body);
      this.scroll = el("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": table.table, "aria-rowcount": String(table.rows) }, this.space);
      this.detail = el("aside", { class: "detail", hidden: true, "aria-label": "row" });
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
        const name = column.name.length * 7.4 + 34;
        const width = column.plan === "text" || column.plan === "name" ? wide : Math.min(wide, column.width);
        const letter = this.classes(column).includes("mono") || column.kind === "Nested" ? 8.1 : 7.6;
        return Math.round(Math.max(name, width * letter + 20, 56));
      });
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
      const all = this.table.rows.toLocaleString("en");
      this.tally.textContent = this.rows && this.rows.length !== this.table.rows ? `${this.count.toLocaleString("en")} of ${all}` : `${all} ${this.table.rows === 1 ? "row" : "rows"}`;
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
      const waiting = [];
      for (const stretch of new Set(rows.map((row) => table.stretchOf(row)))) {
        for (const n of columns) {
          const load = table.load(n, stretch);
          if (load) waiting.push(load);
        }
      }
      if (waiting.length > 0) {
        await Promise.all(waiting);
        if (asked !== this.drawing) return;
      }
      this.links(columns);
      this.body.style.top = `${ROW + 2 + (this.isScaled ? this.scroll.scrollTop - (this.top - first) * ROW : first * ROW)}px`;
      this.body.replaceChildren(...rows.map((row, k) => this.line(first + k, row, columns, before)));
    }

    // Finds out where ids lead, once for each kind, and draws again then.
    links(columns) {
      for (const n of columns) {
        const source = this.table.columns[this.table.source(n)];
        if (source.plan !== "ids" || (source.role !== "Reference" && source.role !== "Key") || leads.get(source.kind)?.lead !== undefined) continue;
        const lead = leadOf(this.page, source.kind);
        lead.lead ??= null;
        lead.then((found) => {
          lead.lead = found;
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
      const source = this.table.columns[this.table.source(n)];
      if (source.plan !== "ids") return null;
      const found = leads.get(source.kind)?.lead?.(this.table.place(n, row));
      return found && !(found[0] === this.table && found[1] === row) ? linkTo(this.page, found) : null;
    }

    async sort(n) {
      this.order = this.order?.n !== n ? { n, down: false } : this.order.down ? null : { n, down: true };
      this.header();
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
      const tests = parse(this.input.value.trim(), table);
      this.tally.textContent = "…";
      let rows = tests.length > 0 ? await filter(table, tests, this.shown, current) : null;
      if (!current()) return;
      if (this.order) {
        const by = await ranks(table, this.order.n);
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
      if (this.count > most) this.page.say(`${most.toLocaleString("en")} rows are copied; Save takes all`);
      const text = await csv(this.table, this.shown, this.rows, Math.min(most, this.count));
      await this.page.copy(text);
      if (this.count <= most) this.page.say(`${this.count.toLocaleString("en")} rows copied as CSV`);
    }

    key(event) {
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: this.seen, PageUp: -this.seen, Home: -Infinity, End: Infinity };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in moves) {
        this.move(Math.min(Math.max(0, this.cursor + moves[event.key]), this.count - 1));
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        this.scroll.scrollLeft += event.key === "ArrowLeft" ? -120 : 120;
      } else if (event.key === "Enter" || event.key === " ") {
        this.select(this.cursor);
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
      await table.loadRows(all, row, row + 1);
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
            if (at >= 0 && !(other === table && at === row)) to.append(el("a", { href: linkTo(page, [other, at]) }, other.table));
          }
        });
      }
      return to;
    }

    async show(params) {
      const row = Number.parseInt(params.get("row"), 10);
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
      return JSON.stringify(JSON.parse(text), null, 1).replace(/\[\s+([^[\]{}]{0,200}?)\s+\]/g, (_, inner) => `[${inner.replace(/\s+/g, " ")}]`);
    } catch {
      return text;
    }
  };

  assetq.kinds.table = { open: (element, part, page) => new View(element, part, page) };
}
