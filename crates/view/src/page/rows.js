// Rows: tables whose columns are decoded stretch by stretch, the ids of all of them, and where ids lead.
// The kinds of columns whose texts are JSON as they are.
const LITERALS = new Set(["Int", "Uint", "F32", "F64", "Bool", "Nested"]);
const DIGITS = new TextEncoder().encode("0123456789abcdef");
const { messageOf } = assetq;
/** @type {(all: (Promise<unknown> | null)[]) => Promise<unknown> | null} */
const wait = (all) => (all.some(Boolean) ? Promise.all(all) : null);
/** @typedef {{ size: number, rows: number, raw: DataView, folders: ValueCells, names: ValueCells, lines?: { text: string, length: number } }} IdStretch */

// The ids of a kind, with their texts. Each has a place; stretches of them are decoded when a row shows one.
class Ids {
  /** @type {Promise<void>[]} */
  loading = [];

  /** @param {Page} page @param {"i64" | "i32"} name @param {number} digits */
  constructor(page, name, digits) {
    this.page = page;
    this.name = name;
    this.digits = digits;
    this.size = page.facts.stretch ?? 1;
    /** @type {IdStretch[]} */
    this.all = new Array(page.facts[name] ?? 0);
  }

  get count() { return this.all.length * this.size; }

  // Gives nothing to wait for where that has been done; as all of the following.
  load(/** @type {number} */ place) {
    const n = Math.floor(place / this.size);
    return this.all[n] ? null : (this.loading[n] ??= this.decode(n));
  }

  loadAll() {
    return wait(Array.from(this.all, (_, n) => this.load(n * this.size)));
  }

  async decode(/** @type {number} */ n) {
    const from = new assetq.Bytes(await this.page.block(`${this.name}.${n}`));
    const count = from.u32(), size = from.u32();
    const raw = from.take(count * size);
    const [folders, names] = [0, 0].map(() => /** @type {ValueCells} */ (assetq.column(from.take(from.u32()), count)));
    this.all[n] = { size, rows: count, raw: new DataView(raw.buffer, raw.byteOffset, raw.byteLength), folders, names };
  }

  at(/** @type {number} */ place) { return { stretch: this.all[Math.floor(place / this.size)], row: place % this.size }; }

  show(/** @type {number} */ place) {
    const { stretch: { raw, size }, row } = this.at(place);
    const hex = (/** @type {number} */ at) => raw.getUint32(at, true).toString(16).toUpperCase();
    if (size === 8) return `0x${hex(row * 8 + 4).padStart(8, "0")}${hex(row * 8).padStart(8, "0")}`;
    return "0x" + hex(row * 4).padStart(this.digits, "0");
  }

  // For each place 1 if a text of its id fits: its digits (`ids`), its text, or the name at the end of that.
  /** @type {(form: "ids" | "text" | "name", test: Condition | WordTest, fits: (text: string | null) => boolean) => Uint8Array} */
  marks(form, test, fits) {
    const marks = new Uint8Array(this.count);
    const contains = test.how === ":";
    if (form === "ids" && contains && !/^[\da-fx]+$/.test(test.word)) return marks;
    this.all.forEach(({ rows, folders, names }, stretch) => {
      const first = stretch * this.size;
      if (form === "ids" && contains) {
        const { text, length } = this.digitsOf(stretch);
        for (let at = text.indexOf(test.word); at >= 0; ) {
          const row = Math.floor(at / length);
          marks[first + row] = 1;
          at = text.indexOf(test.word, (row + 1) * length);
        }
      } else if (form === "ids" || !contains || test.word.includes("/")) {
        for (let row = 0; row < rows; row++) if (fits(this.say(form, first + row))) marks[first + row] = 1;
      } else if (names.kind === "text") {
        const inName = names.of.including(test.word);
        const texts = form === "text" && folders.kind === "text" ? folders : null, inFolder = texts?.of.including(test.word);
        for (let row = 0; row < rows; row++) {
          const place = names.places[row];
          if (place > 0 && (inName[place - 1] || (texts && inFolder?.[texts.places[row] - 1]))) marks[first + row] = 1;
        }
      }
    });
    return marks;
  }

  // The ids of a stretch as one text of lines of the same length, in small letters: a search through it takes a tenth of the time
  // of texts by themselves.
  digitsOf(/** @type {number} */ stretch) {
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

  // The digits, the text, or the name at the end of that.
  /** @type {(form: "ids" | "text" | "name", place: number) => string | null} */
  say(form, place) {
    if (form === "ids") return this.show(place);
    const { stretch: { folders, names }, row } = this.at(place);
    const name = names.text(row);
    return name === null || form === "name" ? name : (folders.text(row) ?? "") + name;
  }
}

/** @type {Record<string, Ids> | undefined} */
let all;
/** @type {(page: Page, kind: string) => Ids} */
const idsOf = (page, kind) => {
  all ??= { Id64: new Ids(page, "i64", 16), Id32: new Ids(page, "i32", 8) };
  return all[kind];
};

// A table: its columns, as far as they have been decoded.
class Table {
  /** @param {PartOfKind<"table">} part @param {Page} page */
  constructor(part, page) {
    this.part = part;
    this.page = page;
    this.meta = part.meta;
    this.columns.forEach((column, n) => (column.n = n));
    // A null in a row with an id means the text of the id, which is in a hidden column.
    this.all = [...this.columns];
    for (const column of this.columns) {
      if (column.plan === "own" && column.of !== null) column.or = this.all.push({ ...column, n: this.all.length, kind: "Text", plan: "text" }) - 1;
    }
    /** @type {Map<number, Cells>[]} */
    this.loaded = this.all.map(() => new Map());
    /** @type {Map<number, Promise<void>>[]} */
    this.loading = this.all.map(() => new Map());
  }

  get table() { return this.meta.table; }
  get rows() { return this.meta.rows; }
  get starts() { return this.meta.starts; }
  get columns() { return this.meta.columns; }

  // Where the cells of a column come from: its own block, or that of another one.
  /** @type {(n: number) => number} */
  source(n) {
    const { plan, of } = this.all[n];
    return plan === "text" ? Number(of) : plan === "name" ? this.source(Number(of)) : n;
  }

  // The ids that column `n` refers to.
  ids(/** @type {number} */ n) {
    const { plan, kind } = this.all[this.source(n)];
    return plan === "ids" ? idsOf(this.page, kind) : null;
  }

  stretchOf(/** @type {number} */ row) {
    let low = 0, high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  length(/** @type {number} */ stretch) {
    return (this.starts[stretch + 1] ?? this.rows) - this.starts[stretch];
  }

  // The cells of a stretch, which has been decoded.
  /** @type {(n: number, stretch: number) => Cells} */
  cells(n, stretch) {
    const cells = this.loaded[this.source(n)].get(stretch);
    if (!cells) throw new Error(`column ${this.all[n].name} is not decoded`);
    return cells;
  }

  // Decodes a stretch of a column; gives nothing to wait for where that has been done.
  /** @type {(n: number, stretch: number) => Promise<void> | null} */
  load(n, stretch) {
    n = this.source(n);
    if (this.loaded[n].has(stretch)) return null;
    const load = async () => {
      const { plan, of } = this.columns[n];
      const cells = async () => assetq.column(await this.page.block(`${this.meta.block}.${stretch}.${n}`), this.length(stretch), this.columns[n]);
      this.loaded[n].set(stretch, await (plan === "leaf" ? assetq.leaves(this.page, String(of), this.starts[stretch]) : cells()));
    };
    const loading = this.loading[n].get(stretch) ?? load();
    this.loading[n].set(stretch, loading);
    return loading;
  }

  // These columns, and those that say more of them.
  with(/** @type {number[]} */ columns) {
    return columns.flatMap((n) => [n, this.all[n].or ?? []].flat());
  }

  // The same for what these rows say in these columns, ids with their texts.
  /** @type {(columns: number[], rows: number[]) => Promise<unknown> | null} */
  need(columns, rows) {
    columns = this.with(columns);
    const stretches = [...new Set(rows.map((row) => this.stretchOf(row)))];
    const cells = wait(columns.flatMap((n) => stretches.map((stretch) => this.load(n, stretch))));
    if (cells) return cells.then(() => this.need(columns, rows));
    return wait(columns.flatMap((n) => {
      const ids = this.ids(n);
      return ids ? rows.map((row) => this.place(n, row)).filter((place) => place >= 0).map((place) => ids.load(place)) : [];
    }));
  }

  // And for a stretch of rows, and for all of them.
  /** @type {(columns: number[], stretch: number) => Promise<void>} */
  async whole(columns, stretch) {
    columns = this.with(columns);
    await Promise.all(columns.map((n) => this.load(n, stretch)));
    for (const n of columns) await this.ids(n)?.loadAll();
  }

  async wholly(/** @type {number[]} */ columns) {
    for (let stretch = 0; stretch < this.starts.length; stretch++) await this.whole(columns, stretch);
  }

  // The place of an id among all, or -1; what a cell says as a value, and as a text. It must have been decoded.
  /** @type {(n: number, row: number) => number} */
  place(n, row) {
    const stretch = this.stretchOf(row);
    const cells = this.cells(n, stretch);
    return cells.kind === "id" ? cells.places[row - this.starts[stretch]] - 1 : -1;
  }

  /** @type {(n: number, place: number) => string | null} */
  ofId(n, place) {
    const { plan } = this.all[n];
    return place < 0 ? null : this.ids(n)?.say(plan === "text" || plan === "name" ? plan : "ids", place) ?? null;
  }

  /** @type {(n: number, row: number) => Value} */
  value(n, row) {
    const stretch = this.stretchOf(row);
    const cells = this.cells(n, stretch);
    return cells.kind === "id" ? this.text(n, row) : cells.value(row - this.starts[stretch]) ?? this.instead(n, row);
  }

  /** @type {(n: number, row: number) => string | null} */
  text(n, row) {
    const stretch = this.stretchOf(row);
    const cells = this.cells(n, stretch);
    const at = row - this.starts[stretch];
    return (cells.kind === "id" ? this.ofId(n, cells.places[at] - 1) : cells.text(at)) ?? this.instead(n, row);
  }

  // The text that stands for a null, if any.
  /** @type {(n: number, row: number) => string | null} */
  instead(n, row) {
    const { or } = this.all[n];
    return or === undefined ? null : this.text(or, row);
  }

  // A cell as JSON: numbers have all their digits, and texts of digits stay texts.
  /** @type {(n: number, row: number) => string} */
  json(n, row) {
    const text = this.text(n, row);
    if (text === null) return "null";
    const stretch = this.stretchOf(row);
    const cells = this.cells(n, stretch);
    const isLiteral = cells.kind !== "id" && cells.isLiteral?.(row - this.starts[stretch]);
    return isLiteral ?? LITERALS.has(this.all[n].kind) ? text : JSON.stringify(text);
  }

  // Those of `columns` that can be decoded for these rows. Each other one is named in a message in `element`.
  /** @type {(columns: number[], rows: number[], element: Element) => Promise<number[]>} */
  async readable(columns, rows, element) {
    const decoded = async (/** @type {number} */ n) => {
      try {
        await this.need([n], rows);
        return true;
      } catch (error) {
        this.page.fault(element, new Error(`column ${this.all[n].name} cannot be decoded: ${messageOf(error)}`));
        return false;
      }
    };
    const all = await Promise.all(columns.map(decoded));
    return columns.filter((_, k) => all[k]);
  }
}

/** @typedef {Table} RowTable */
/** @type {Map<string, Table>} */
const tables = new Map();
/** @type {Assetq["tableOf"]} */
const tableOf = (part, page) => {
  const table = tables.get(part.id) ?? new Table(part, page);
  tables.set(part.id, table);
  return table;
};
/** @type {(page: Page) => Table[]} */
const tablesOf = (page) => page.parts.flatMap((part) => (part.kind === "table" ? tableOf(part, page) : []));

// For ids of a kind, the first row with the id in each table that they are the key of: `at(table, place)`.
/** @type {Map<string, Promise<Int32Array>>} */
const keys = new Map();
/** @type {(table: Table, kind: string) => Column | undefined} */
const keyColumn = (table, kind) => table.columns.find((column) => column.kind === kind && column.role === "Key" && column.plan === "ids");
/** @type {(table: Table, column: Column, kind: string) => Promise<Int32Array>} */
const index = (table, { n }, kind) => {
  const name = `${table.table} ${kind}`;
  const build = async () => {
    const rows = new Int32Array(idsOf(table.page, kind).count);
    for (let stretch = table.starts.length - 1; stretch >= 0; stretch--) {
      const places = await placesOf(table, n, stretch);
      for (let row = places.length - 1; row >= 0; row--) if (places[row] > 0) rows[places[row] - 1] = table.starts[stretch] + row + 1;
    }
    return rows;
  };
  const rows = keys.get(name) ?? build();
  keys.set(name, rows);
  return rows;
};
// The places of the ids of a stretch; a stretch of nulls has none.
/** @type {(table: Table, n: number, stretch: number) => Promise<ArrayLike<number>>} */
const placesOf = async (table, n, stretch) => {
  await table.load(n, stretch);
  const cells = table.cells(n, stretch);
  return cells.kind === "id" ? cells.places : [];
};

// The columns that hold the id at a place, each with the number of its rows.
/** @type {Assetq["uses"]} */
const uses = async (page, kind, place, progress) => {
  const found = [];
  for (const table of tablesOf(page)) {
    for (const column of table.columns.filter((column) => column.kind === kind && column.plan === "ids")) {
      let count = 0;
      for (let stretch = 0; stretch < table.starts.length; stretch++) {
        const places = await placesOf(table, column.n, stretch);
        for (let row = 0; row < places.length; row++) if (places[row] === place + 1) count++;
      }
      if (count > 0) found.push({ table, column, count });
      progress?.(table.table);
    }
  }
  return found;
};

/** @type {Map<string, Promise<Lead>>} */
const leads = new Map();
// A function from places of ids to `[table, row]` or null. Where the key of a table is nothing but the id, it leads to one row. The
// table with the fewest rows is the most specific one.
/** @type {Assetq["leadOf"]} */
const leadOf = (page, kind) => {
  /** @type {() => Promise<Lead>} */
  const build = async () => {
    const own = tablesOf(page).filter((table) => table.columns.filter((column) => column.role === "Key").length === 1).sort((a, b) => a.rows - b.rows);
    const all = await Promise.all(own.map(async (table) => {
      const key = keyColumn(table, kind);
      return { table, rows: key ? await index(table, key, kind) : [] };
    }));
    return (place) => {
      const found = all.find(({ rows }) => rows[place] > 0);
      return found ? [found.table, found.rows[place] - 1] : null;
    };
  };
  const lead = leads.get(kind) ?? build();
  leads.set(kind, lead);
  return lead;
};

const { page } = assetq;
/** @type {(name: string, row: number) => Table | undefined} */
const known = (name, row) => tablesOf(page).find((table) => table.table === name && row >= 0 && row < table.rows);
page.row = async (/** @type {string} */ name, /** @type {number} */ row) => {
  const table = known(name, row);
  if (!table) return null;
  const all = table.columns.map((column) => column.n);
  await table.need(all, [row]);
  return all.map((n) => /** @type {[string, string]} */ ([table.columns[n].name, table.text(n, row) ?? ""]));
};
page.rowLink = (/** @type {string} */ name, /** @type {number} */ row) => {
  const table = known(name, row);
  return table ? page.link(table.part.id, { row }) : null;
};

Object.assign(assetq, { tableOf, leadOf, uses });
