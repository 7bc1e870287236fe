// Rows: tables whose columns are decoded stretch by stretch, the ids of all of them, and where ids lead.
// The kinds of columns whose texts are JSON as they are.
const LITERALS = new Set(["Int", "Uint", "F32", "F64", "Bool", "Nested"]);
const DIGITS = new TextEncoder().encode("0123456789abcdef");
const wait = (all) => (all.length > 0 ? Promise.all(all) : null);

// The ids of a kind, with their texts. Each has a place; stretches of them are decoded when a row shows one.
class Ids {
  constructor(page, name, digits) {
    this.page = page;
    this.name = name;
    this.digits = digits;
    this.size = page.facts.stretch;
    this.all = new Array(page.facts[name] ?? 0);
    this.loading = [];
  }

  get count() { return this.all.length * this.size; }

  // Gives nothing to wait for where that has been done; as all of the following.
  load(place) {
    const n = Math.floor(place / this.size);
    return this.all[n] ? null : (this.loading[n] ??= this.decode(n));
  }

  loadAll() {
    return wait(Array.from(this.all, (_, n) => this.load(n * this.size)).filter(Boolean));
  }

  async decode(n) {
    const from = new assetq.Bytes(await this.page.block(`${this.name}.${n}`));
    const count = from.u32(), size = from.u32();
    const raw = from.take(count * size);
    const [folders, names] = [0, 0].map(() => assetq.column(from.take(from.u32()), count));
    this.all[n] = { size, rows: count, raw: new DataView(raw.buffer, raw.byteOffset, raw.byteLength), folders, names };
  }

  at(place) { return [this.all[Math.floor(place / this.size)], place % this.size]; }

  show(place) {
    const [{ raw, size }, row] = this.at(place);
    const hex = (at) => raw.getUint32(at, true).toString(16).toUpperCase();
    if (size === 8) return `0x${hex(row * 8 + 4).padStart(8, "0")}${hex(row * 8).padStart(8, "0")}`;
    return "0x" + hex(row * 4).padStart(this.digits, "0");
  }

  // For each place 1 if a text of its id fits: its digits (`id`), its text, or the name at the end of that.
  marks(form, test, fits) {
    const marks = new Uint8Array(this.count);
    const contains = test.how === ":";
    if (form === "id" && contains && !/^[\da-fx]+$/.test(test.word)) return marks;
    const say = { id: "show", text: "text", name: "nameOf" }[form];
    this.all.forEach(({ rows, folders, names }, stretch) => {
      const first = stretch * this.size;
      if (form === "id" && contains) {
        const { text, length } = this.digitsOf(stretch);
        for (let at = text.indexOf(test.word); at >= 0; ) {
          const row = Math.floor(at / length);
          marks[first + row] = 1;
          at = text.indexOf(test.word, (row + 1) * length);
        }
      } else if (form === "id" || !contains || test.word.includes("/")) {
        for (let row = 0; row < rows; row++) {
          const text = this[say](first + row);
          if (fits(text)) marks[first + row] = 1;
        }
      } else if (names.of) {
        const inName = names.of.including(test.word), inFolder = form === "name" ? null : folders.of.including(test.word);
        for (let row = 0; row < rows; row++) {
          const place = names.places[row];
          if (place > 0 && (inName[place - 1] || inFolder?.[folders.places[row] - 1])) marks[first + row] = 1;
        }
      }
    });
    return marks;
  }

  // The ids of a stretch as one text of lines of the same length, in small letters: a search through it takes a tenth of the time
  // of texts by themselves.
  digitsOf(stretch) {
    const found = this.all[stretch];
    if (!found.lines) {
      const { raw, size, rows } = found;
      const length = (size === 8 ? 16 : this.digits) + 3;
      const bytes = new Uint8Array(rows * length).fill(48);
      for (let row = 0, end = length - 1; row < rows; row++, end += length) {
        bytes[end - length + 2] = 120;
        bytes[end] = 10;
        for (let k = 0; k < size; k++) {
          const byte = raw.getUint8(row * size + k);
          bytes[end - 1 - 2 * k] = DIGITS[byte & 15];
          bytes[end - 2 - 2 * k] = DIGITS[byte >> 4];
        }
      }
      found.lines = { text: new TextDecoder().decode(bytes), length };
    }
    return found.lines;
  }

  nameOf(place) {
    const [{ names }, row] = this.at(place);
    return names.text(row);
  }

  text(place) {
    const [{ folders, names }, row] = this.at(place);
    const name = names.text(row);
    return name === null ? null : folders.text(row) + name;
  }
}

let all = null;
const idsOf = (page, kind) => {
  all ??= { Id64: new Ids(page, "i64", 16), Id32: new Ids(page, "i32", 8) };
  return all[kind];
};

// A table: its columns, as far as they have been decoded.
class Table {
  block; columns; rows; starts;

  constructor(part, page) {
    Object.assign(this, part.meta);
    this.part = part;
    this.page = page;
    this.columns.forEach((column, n) => (column.n = n));
    // A null in a row with an id means the text of the id, which is in a hidden column.
    this.all = this.columns.map((column) => column);
    for (const column of this.columns) {
      if (column.plan === "own" && column.of !== null) column.or = this.all.push({ n: this.all.length, kind: "Text", plan: "text", of: column.of }) - 1;
    }
    this.loaded = this.all.map(() => new Map());
    this.loading = this.all.map(() => new Map());
  }

  // Where the cells of a column come from: its own block, or that of another one.
  source(n) {
    const column = this.all[n];
    return column.plan === "text" ? column.of : column.plan === "name" ? this.source(column.of) : n;
  }

  // The ids that column `n` refers to.
  ids(n) {
    const { plan, kind } = this.all[this.source(n)];
    return plan === "ids" ? idsOf(this.page, kind) : null;
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

  cells(n, stretch) { return this.loaded[this.source(n)].get(stretch); }

  // Decodes a stretch of a column; gives nothing to wait for where that has been done.
  load(n, stretch) {
    n = this.source(n);
    if (this.loaded[n].has(stretch)) return null;
    if (!this.loading[n].has(stretch)) {
      const load = async () => {
        const { plan, of } = this.columns[n];
        const cells = async () => assetq.column(await this.page.block(`${this.block}.${stretch}.${n}`), this.length(stretch), this.columns[n]);
        this.loaded[n].set(stretch, await (plan === "leaf" ? assetq.leaves(this.page, of, this.starts[stretch]) : cells()));
      };
      this.loading[n].set(stretch, load());
    }
    return this.loading[n].get(stretch);
  }

  // These columns, and those that say more of them.
  with(columns) {
    return columns.flatMap((n) => (this.all[n].or === undefined ? n : [n, this.all[n].or]));
  }

  // The same for what these rows say in these columns, ids with their texts.
  need(columns, rows) {
    columns = this.with(columns);
    const stretches = [...new Set(rows.map((row) => this.stretchOf(row)))];
    const cells = wait(columns.flatMap((n) => stretches.map((stretch) => this.load(n, stretch)).filter(Boolean)));
    if (cells) return cells.then(() => this.need(columns, rows));
    return wait(columns.flatMap((n) => {
      const ids = this.ids(n);
      return ids ? rows.map((row) => this.place(n, row)).filter((place) => place >= 0).map((place) => ids.load(place)).filter(Boolean) : [];
    }));
  }

  // And for a stretch of rows, and for all of them.
  async whole(columns, stretch) {
    columns = this.with(columns);
    await Promise.all(columns.map((n) => this.load(n, stretch)));
    for (const n of columns) await this.ids(n)?.loadAll();
  }

  async wholly(columns) {
    for (let stretch = 0; stretch < this.starts.length; stretch++) await this.whole(columns, stretch);
  }

  // The place of an id among all, or -1; what a cell says as a value, and as a text. It must have been decoded.
  place(n, row) {
    const stretch = this.stretchOf(row);
    const cells = this.cells(n, stretch);
    return cells?.kind === "id" ? cells.places[row - this.starts[stretch]] - 1 : -1;
  }

  ofId(n, place) {
    const { plan } = this.all[n];
    return place < 0 ? null : this.ids(n)[plan === "ids" ? "show" : plan === "text" ? "text" : "nameOf"](place);
  }

  value(n, row, form = "value") {
    const stretch = this.stretchOf(row);
    const cells = this.cells(n, stretch);
    const { or } = this.all[n];
    const at = row - this.starts[stretch];
    const found = cells.kind === "id" ? this.ofId(n, cells.places[at] - 1) : cells[form](at);
    return found === null && or !== undefined ? this.value(or, row) : found;
  }

  text(n, row) {
    return this.value(n, row, "text");
  }

  // A cell as JSON: numbers have all their digits, and texts of digits stay texts.
  json(n, row) {
    const text = this.text(n, row);
    if (text === null) return "null";
    const stretch = this.stretchOf(row);
    const isLiteral = this.cells(n, stretch).isLiteral?.(row - this.starts[stretch]) ?? LITERALS.has(this.all[n].kind);
    return isLiteral ? text : JSON.stringify(text);
  }

  // Those of `columns` that can be decoded for these rows. Each other one is named in a message in `element`.
  async readable(columns, rows, element) {
    const decoded = async (n) => {
      try {
        await this.need([n], rows);
        return true;
      } catch (error) {
        this.page.fault(element, new Error(`column ${this.all[n].name} cannot be decoded: ${error.message}`));
        return false;
      }
    };
    const all = await Promise.all(columns.map(decoded));
    return columns.filter((_, k) => all[k]);
  }
}

const tables = new Map();
const tableOf = (part, page) => {
  if (!tables.has(part.id)) tables.set(part.id, new Table(part, page));
  return tables.get(part.id);
};

// For ids of a kind, the first row with the id in each table that they are the key of: `at(table, place)`.
const keys = new Map();
const keyColumn = (table, kind) => table.columns.find((column) => column.kind === kind && column.role === "Key" && column.plan === "ids");
const index = (table, kind) => {
  const name = `${table.table} ${kind}`;
  const build = async () => {
    const { n } = keyColumn(table, kind);
    const rows = new Int32Array(idsOf(table.page, kind).count);
    for (let stretch = table.starts.length - 1; stretch >= 0; stretch--) {
      await table.load(n, stretch);
      const { places = [] } = table.cells(n, stretch);
      for (let row = places.length - 1; row >= 0; row--) if (places[row] > 0) rows[places[row] - 1] = table.starts[stretch] + row + 1;
    }
    return rows;
  };
  if (!keys.has(name)) keys.set(name, build());
  return keys.get(name);
};

// Tables with these ids as keys, the most specific ones first: the ones with the fewest rows.
const targets = (page, kind) =>
  page.parts.filter((part) => part.kind === "table").map((part) => tableOf(part, page))
    .filter((table) => keyColumn(table, kind)).sort((a, b) => a.rows - b.rows);

// The columns that hold the id at a place, each with the number of its rows.
const uses = async (page, kind, place, progress) => {
  const found = [];
  for (const part of page.parts.filter((part) => part.kind === "table")) {
    const table = tableOf(part, page);
    for (const column of table.columns.filter((column) => column.kind === kind && column.plan === "ids")) {
      let count = 0;
      for (let stretch = 0; stretch < table.starts.length; stretch++) {
        await table.load(column.n, stretch);
        const { places = [] } = table.cells(column.n, stretch);
        for (let row = 0; row < places.length; row++) if (places[row] === place + 1) count++;
      }
      if (count > 0) found.push({ table, column, count });
      progress?.(table.table);
    }
  }
  return found;
};

const leads = new Map();
// A function from places of ids to `[table, row]` or null. Where the key of a table is nothing but the id, it leads to one row.
const leadOf = (page, kind) => {
  const build = async () => {
    const own = targets(page, kind).filter((table) => table.columns.filter((column) => column.role === "Key").length === 1);
    const all = await Promise.all(own.map((table) => index(table, kind)));
    return (place) => {
      for (let n = 0; n < own.length; n++) if (all[n][place] > 0) return [own[n], all[n][place] - 1];
      return null;
    };
  };
  if (!leads.has(kind)) leads.set(kind, build());
  return leads.get(kind);
};

const { page } = assetq;
const known = (name, row) => page.parts.find((part) => part.id === `table=${name}` && row >= 0 && row < part.meta.rows);
page.row = async (name, row) => {
  const part = known(name, row);
  if (!part) return null;
  const table = tableOf(part, page);
  const all = table.columns.map((column) => column.n);
  await table.need(all, [row]);
  return all.map((n) => [table.columns[n].name, table.text(n, row) ?? ""]);
};
page.rowLink = (name, row) => {
  const part = known(name, row);
  return part ? page.link(part.id, { row }) : null;
};

Object.assign(assetq, { tableOf, leadOf, index, targets, uses });
