// Filters of rows, their order, and rows as CSV and JSON.
const { many, nearest } = assetq;
const isFloat = (/** @type {string} */ kind) => kind === "F32" || kind === "F64";

// A word is `word`, `column:word` (contains), or a column, one of = != < <= > >=, and a value; `-` before it negates.
// Names and values with spaces go in quotes, in which two quotes are one.
const WORD = /^(-?)(?:("(?:[^"]|"")+"|[^\s:=<>!"]+)(:|!=|<=|>=|=|<|>))?([^]*)$/;
/** @type {Assetq["tokens"]} */
const tokens = (text) => text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
const unquoted = (/** @type {string} */ text) => text.replace(/"((?:[^"]|"")*)"?/g, (_, inner) => inner.replaceAll('""', '"'));
const inQuotes = (/** @type {string} */ text) => `"${text.replaceAll('"', '""')}"`;
const quoted = (/** @type {string} */ text) => (/[\s"|]/.test(text) || text === "" ? inQuotes(text) : text);
const nameOf = (/** @type {Column} */ { name }) => (/[\s:=<>!"]|^-/.test(name) ? inQuotes(name) : name);
// The filter for some values of a column: `type=cruiser|battleship`.
/** @type {Assetq["only"]} */
const only = (column, ...texts) => `${nameOf(column)}=${texts.map(quoted).join("|")}`;
const alternatives = (/** @type {string} */ rest) => rest.match(/(?:[^|"]|"(?:[^"]|"")*"?)+/g) ?? [rest];
// Conditions for people to choose from: words, what precedes the column, the operator, and whether no value follows.
const isOrdered = (/** @type {Column} */ { kind }) => ["Int", "Uint", "F32", "F64", "Text", "Any"].includes(kind);
/** @type {[string, string, string, (((column: Column) => boolean) | null)?][]} */
const OPERATORS = [["contains", "", ":"], ["does not contain", "-", ":"], ["is", "", "="], ["is not", "", "!="], ["is at least", "", ">=", isOrdered], ["is at most", "", "<=", isOrdered],
  ["is above", "", ">", isOrdered], ["is below", "", "<", isOrdered], ["is empty", "", "=", null], ["is not empty", "", "!=", null]];
/** @type {Assetq["operators"]} */
const operators = (column) => OPERATORS.filter(([, , , fits]) => !fits || fits(column))
  .map(([words, minus, how, fits]) => ({ words, isAlone: fits === null, write: (/** @type {string} */ value) => `${minus}${nameOf(column)}${how}${fits === null ? "" : quoted(value)}` }));
// Ids and truths have one value in several forms.
const ANY_CASE = new Set(["Id64", "Id32", "Guid", "Bool"]);
/** @type {Record<string, number>} */
const UNIT = { k: 1e3, m: 1e6, g: 1e9 };

// The number of a text with all of its digits: a bigint if a double would round it; NaN for other texts.
const exact = (/** @type {string} */ text) => {
  const number = text.trim() === "" ? NaN : Number(text);
  return Number.isInteger(number) && !Number.isSafeInteger(number) && /^\s*(?:0x[\da-f]+|[+-]?\d+)\s*$/i.test(text) ? BigInt(text) : number;
};

// Parses a number in a usual form, such as 1,000 and 10k; NaN for any other text.
const numberOf = (/** @type {string} */ text) => {
  const found = text.match(/^([+-]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)?(?:\.\d+)?(?:e[+-]?\d+)?)([kmg]?)$/i);
  if (!found || !/\d/.test(text)) return /^0x[\da-f]+$/i.test(text) ? exact(text) : NaN;
  const unit = UNIT[found[2].toLowerCase()];
  const number = exact(found[1].replace(/[,_]/g, ""));
  return unit ? Number(number) * unit : number;
};

/** @type {(column: Column, how: string, rest: string) => Condition} */
const test = (column, how, rest) => {
  const word = how === ":" ? unquoted(rest).toLowerCase() : unquoted(rest);
  return { column, how, word, number: inPrecision(column, numberOf(word)), isEmpty: how === "=" && rest === "" };
};

// A float is compared in its own precision.
/** @type {(column: Column, number: number | bigint) => number | bigint} */
const inPrecision = ({ kind }, number) => (kind === "F32" ? Math.fround(Number(number)) : kind === "F64" ? Number(number) : number);

// The tests of a filter, and its faults: `{ tests, faults }`.
/** @type {Assetq["parse"]} */
const parse = (text, table) => {
  /** @type {Test[]} */
  const tests = [];
  /** @type {string[]} */
  const faults = [];
  for (const token of tokens(text)) {
    // Everything matches.
    const [, minus = "", written, how = "", rest = ""] = token.match(WORD) ?? [];
    const name = written && unquoted(written);
    const word = unquoted(rest).toLowerCase();
    if (!name) {
      // A quote before a minus sign makes it part of the word.
      const plain = token.startsWith('"') || token === "-" ? unquoted(token).toLowerCase() : word;
      if (plain) tests.push({ how: ":", word: plain, isNot: minus === "-" && token !== "-" });
      continue;
    }
    const column = table.columns.find((column) => column.name === name) ?? table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
    if (!column && /^\d+$/.test(name)) {
      tests.push({ how: ":", word: unquoted(token.slice(minus.length)).toLowerCase(), isNot: minus === "-" });
      continue;
    }
    if (!column) {
      const near = nearest(name, table.columns.map((column) => column.name));
      faults.push(`${table.table} has no column ${name}${near ? `; did you mean ${near}?` : ". To search for the text, quote it."}`);
      continue;
    }
    if (word === "" && how !== "=" && how !== "!=") continue;
    if (/[<>]/.test(how) && Number.isNaN(numberOf(word)) && column.kind !== "Text") {
      faults.push(`${name}${how} needs a number, not ${rest}`);
      continue;
    }
    const any = (how === "=" ? alternatives(rest) : [rest]).map((one) => test(column, how, one));
    tests.push(any.length > 1 ? { column, how, any, isNot: minus === "-" } : { ...any[0], isNot: minus === "-" });
  }
  return { tests, faults };
};

// A bigint and a number compare as the numbers that they are.
/** @type {Record<string, (a: number | bigint | string, b: number | bigint | string) => boolean>} */
const compare = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a == b, "!=": (a, b) => a != b };

// Whether a test holds for a cell. As for `--where`, no comparison with null holds, and one by order in a column of several
// kinds holds for numbers only. Texts are compared as they are written.
/** @type {(test: Condition | WordTest, text: string | null, value: Value, isText?: boolean) => boolean} */
const fits = (test, text, value, isText = false) => {
  const { how, word, column, isEmpty } = test;
  if (text === null) return !!isEmpty;
  if (how === ":" || !column) return text.toLowerCase().includes(word);
  if (how === "!=" && word === "") return text !== "";
  if (column.kind === "Text") return compare[how](text, word);
  const { number } = test;
  const own = isText || value === null ? NaN : typeof value === "string" ? exact(value) : value;
  const isSame = text === word || own == number || (ANY_CASE.has(column.kind) && text.toLowerCase() === word.toLowerCase());
  return how === "=" ? isSame : how === "!=" ? !isSame : compare[how](own, number);
};

// A function that marks the rows of a stretch that fit. It looks at each distinct text once, and at numbers in their array.
/** @type {(table: Table, test: Condition | WordTest) => (n: number, stretch: number, marks: Uint8Array) => void} */
const marker = (table, test) => {
  /** @type {Map<string, Uint8Array>} */
  const known = new Map();
  // For each place of an id 1 if the text that column `n` has for it fits.
  const idMarks = (/** @type {number} */ n) => {
    const { plan } = table.all[n];
    const ids = table.ids(n);
    if (!ids) return [];
    const key = `${plan} ${ids.name}`;
    const marks = known.get(key) ?? ids.marks(plan === "text" || plan === "name" ? plan : "ids", test, (text) => fits(test, text, text));
    known.set(key, marks);
    return marks;
  };
  return (n, stretch, marks) => {
    const column = table.all[n];
    const cells = table.cells(n, stretch);
    const rows = marks.length;
    const isNull = test.isEmpty;
    if (isNull && column.or !== undefined) {
      // The text of its id stands for a null.
      for (let row = 0; row < rows; row++) {
        const text = table.text(n, table.starts[stretch] + row);
        if (fits(test, text, text)) marks[row] = 1;
      }
    } else if (cells.kind === "null") {
      if (isNull && column.n < table.columns.length) marks.fill(1);
    } else if (cells.kind === "id") {
      const [{ places }, of] = [cells, idMarks(n)];
      for (let row = 0; row < rows; row++) if (places[row] === 0 ? isNull : of[places[row] - 1]) marks[row] = 1;
    } else if (cells.kind === "text") {
      const { places, literals } = cells;
      const ofText = (/** @type {unknown} */ _, /** @type {number} */ k) => { const text = cells.of.get(k); return Number(fits(test, text, text, literals?.[k] === 0)); };
      const of = test.how === ":" ? cells.of.including(test.word) : Uint8Array.from({ length: cells.of.count }, ofText);
      for (let row = 0; row < rows; row++) if (places[row] === 0 ? isNull : of[places[row] - 1]) marks[row] = 1;
    } else if (cells.kind === "number" && cells.all instanceof Float64Array && test.column && test.how in compare && !isNull && column.kind !== "Bool") {
      const { all, none } = cells;
      const holds = compare[test.how];
      for (let row = 0; row < rows; row++) if (all[row] !== none && holds(all[row], test.number)) marks[row] = 1;
    } else if (test.how !== ":" || cells.kind !== "list" || test.column) {
      for (let row = 0; row < rows; row++) if (!marks[row] && fits(test, cells.text(row), cells.value(row), cells.isLiteral?.(row) === false)) marks[row] = 1;
    }
  };
};

// Whether the cells of a column may contain a word: lists are not searched, and no number contains letters.
/** @type {(column: Column, word: string) => boolean} */
const mayContain = ({ plan, kind, texts }, word) => plan !== "own" || texts || kind === "Bool" || (kind !== "Nested" && /^[-+.\de]+$/.test(word));

// Lets the browser draw and take input, if it has not had time to for a while.
let rested = 0;
const breathe = async () => {
  if (performance.now() - rested < 12) return;
  await new Promise((next) => setTimeout(next));
  rested = performance.now();
};

// The rows that pass all tests, or null if a newer filter took over.
/** @type {Assetq["filter"]} */
const filter = async (table, tests, columns, isCurrent) => {
  const kept = new Uint32Array(table.rows);
  let count = 0;
  // Of several values, any may be in the cell.
  const mark = tests.map((test) => (test.any ?? [test]).map((one) => ({ own: one.isEmpty ? one.column.n : null, fill: marker(table, one) })));
  for (let stretch = 0; stretch < table.starts.length; stretch++) {
    const first = table.starts[stretch], rows = table.length(stretch);
    const all = new Uint8Array(rows).fill(1);
    for (const [t, test] of tests.entries()) {
      const marks = new Uint8Array(rows);
      const needed = test.column ? table.with([test.column.n]) : table.with(columns).filter((n) => mayContain(table.all[n], test.word));
      const loaded = table.whole(needed, stretch);
      // The next stretch is inflated while this one is searched. Its errors are thrown when it is awaited.
      if (stretch + 1 < table.starts.length) table.whole(needed, stretch + 1).catch(() => {});
      await loaded;
      if (!isCurrent()) return null;
      for (const { own, fill } of mark[t]) for (const n of own === null ? needed : [own]) fill(n, stretch, marks);
      const wanted = test.isNot ? 0 : 1;
      for (let row = 0; row < rows; row++) if (marks[row] !== wanted) all[row] = 0;
    }
    for (let row = 0; row < rows; row++) if (all[row]) kept[count++] = first + row;
    await breathe();
    if (!isCurrent()) return null;
  }
  return kept.slice(0, count);
};

// --- order ---

// The ranks of numbers that a double would round.
/** @type {(table: Table, n: number) => Float64Array} */
const exactRanks = (table, n) => {
  const values = Array.from({ length: table.rows }, (_, row) => table.value(n, row)).map((value) => (value === null ? null : BigInt(value)));
  const sorted = [...new Set(values.filter((value) => value !== null))].sort((a, b) => (a < b ? -1 : 1));
  const rankOf = new Map(sorted.map((value, rank) => [value, rank]));
  return Float64Array.from(values, (value) => (value === null ? Infinity : rankOf.get(value) ?? Infinity));
};

// For each row a number that puts it in order by a column; nulls come last.
/** @type {Assetq["ranks"]} */
const ranks = async (table, n) => {
  await table.wholly([n]);
  const ranks = new Float64Array(table.rows);
  const isBig = (/** @type {Cells} */ cells) => cells.kind === "number" && Array.isArray(cells.all);
  if (table.starts.some((_, stretch) => isBig(table.cells(n, stretch)))) return exactRanks(table, n);
  /** @type {Map<string, number>} */
  const distinct = new Map();
  /** @type {Map<number, number>} */
  const places = new Map(); // of ids: their texts are slow to make
  const isPlain = table.all[n].or === undefined;
  let row = 0;
  for (let stretch = 0; stretch < table.starts.length; stretch++) {
    const cells = table.cells(n, stretch);
    const count = table.length(stretch);
    /** @type {Map<number, number>} */
    const seen = cells.kind === "text" ? new Map() : places;
    for (let k = 0; k < count; k++, row++) {
      if (isPlain && cells.kind === "number") {
        const value = cells.value(k);
        ranks[row] = value === null ? Infinity : Number(value);
      } else if (isPlain && cells.kind === "null") {
        ranks[row] = Infinity;
      } else {
        const place = isPlain && (cells.kind === "text" || cells.kind === "id") ? cells.places[k] : -1;
        if (place === 0) { ranks[row] = -1; continue; }
        let of = seen.get(place);
        if (of === undefined) {
          const text = table.text(n, row);
          of = text === null ? -1 : distinct.get(text) ?? distinct.size;
          if (text !== null) distinct.set(text, of);
          if (place >= 0) seen.set(place, of);
        }
        ranks[row] = of;
      }
    }
    await breathe();
  }
  if (distinct.size > 0) {
    const texts = [...distinct.keys()];
    const numbers = texts.map((text, of) => ({ of, key: exact(text) }));
    const isNumeric = table.columns[n].kind !== "Text" && numbers.every(({ key }) => !Number.isNaN(key));
    /** @type {{ of: number, key: number | bigint | string }[]} */
    const sorted = isNumeric ? numbers : texts.map((key, of) => ({ of, key }));
    sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const order = new Float64Array(texts.length);
    sorted.forEach(({ of }, rank) => (order[of] = rank));
    for (let k = 0; k < ranks.length; k++) ranks[k] = ranks[k] < 0 || ranks[k] === Infinity ? Infinity : order[ranks[k]];
  }
  return ranks;
};

// The bounds of at most 30 bins between two numbers of a column. A bin begins at its bound and ends before the next one; the last
// contains its end, too. A filter by these bounds finds the rows that the bin counts.
const BINS = 30;
/** @type {(column: Column, least: number | bigint, most: number | bigint) => (number | bigint)[]} */
const boundsOf = (column, least, most) => {
  const [low, high] = [Number(least), Number(most)];
  if (isFloat(column.kind)) return [...new Set(Array.from({ length: BINS + 1 }, (_, i) => inPrecision(column, low * (1 - i / BINS) + high * (i / BINS))))];
  const [first, span] = [BigInt(least), BigInt(most) - BigInt(least) + 1n];
  const count = span < BINS ? Number(span) : BINS;
  const all = [...Array.from({ length: count }, (_, i) => first + (span * BigInt(i)) / BigInt(count)), BigInt(most)];
  return [least, most].every(Number.isSafeInteger) ? all.map(Number) : all;
};
/** @type {(column: Column, bounds: (number | bigint)[]) => Bin[]} */
const binsOf = (column, bounds) => bounds.slice(1).map((to, i) => {
  const [from, isLast, isWhole, name] = [bounds[i], i === bounds.length - 2, !isFloat(column.kind), nameOf(column)];
  const end = isLast || !isWhole ? to : typeof to === "bigint" ? to - 1n : to - 1;
  if (isWhole && end === from) return { count: 0, range: `of ${from}`, filter: only(column, String(from)) };
  return { count: 0, range: `from ${from} to ${isWhole || isLast ? "" : "below "}${end}`, filter: `${name}>=${from} ${name}${isLast ? "<=" : "<"}${to}` };
});

// The distinct texts of a column in some rows with their counts, nulls, and if all are numbers: bounds, mean and bins.
/** @type {Assetq["profile"]} */
const profile = async (table, n, rows, count) => {
  await table.wholly([n]);
  /** @type {Map<string, number>} */
  const counts = new Map();
  let nulls = 0;
  /** @type {Map<number, number>} */
  const byPlace = new Map(); // of ids: their texts are slow to make
  for (let at = 0; at < count; at++) {
    const row = rows ? rows[at] : at;
    const place = table.all[n].or === undefined ? table.place(n, row) : -1;
    if (place >= 0) byPlace.set(place, (byPlace.get(place) ?? 0) + 1);
    else {
      const text = table.text(n, row);
      if (text === null) nulls++;
      else counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    if (at % 16384 === 0) await breathe();
  }
  for (const [place, some] of byPlace) {
    const text = table.ofId(n, place);
    if (text === null) nulls += some;
    else counts.set(text, (counts.get(text) ?? 0) + some);
  }
  const column = table.columns[n];
  const isNumeric = ["Int", "Uint", "F32", "F64"].includes(column.kind) && counts.size > 0;
  return { nulls, counts, numbers: isNumeric ? spread(column, counts, count - nulls) : null };
};

// How the numbers of a column spread, of which there are `count`.
/** @type {(column: Column, counts: Map<string, number>, count: number) => Profile["numbers"]} */
const spread = (column, counts, count) => {
  const all = [...counts].map(([text, some]) => ({ text, some, value: inPrecision(column, exact(text)) }));
  const [least, most] = [all.reduce((least, one) => (one.value < least.value ? one : least)), all.reduce((most, one) => (one.value > most.value ? one : most))];
  const bounds = boundsOf(column, least.value, most.value);
  const bins = binsOf(column, bounds);
  let sum = 0;
  const total = isFloat(column.kind) ? null : all.reduce((total, { text, some }) => total + BigInt(text) * BigInt(some), 0n);
  for (const { value, some } of all) {
    sum += Number(value) * some;
    if (bins.length) bins[Math.min(bins.length - 1, bounds.findLastIndex((bound) => bound <= value))].count += some;
  }
  return { from: least.text, to: most.text, mean: sum / count, sum: total === null ? Number(sum.toPrecision(12)) : many(total), bins };
};

// --- output ---

const csvCell = (/** @type {string | null} */ text) => (text === null ? "" : /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
// A cell of a Markdown table is one line, and none of its signs means anything.
const mdCell = (/** @type {string} */ text) => text.replace(/[\\`*_[\]<>|#]/g, "\\$&").replace(/\r?\n|\r/g, " ");
// The forms in which rows are saved: a head, a line for a row, what stands between lines, and an end.
/** @type {Record<RowForm, { type: string, head(columns: Column[]): string, line(table: Table, columns: Column[], row: number): string, between: string, end(count: number): string }>} */
const FORMS = {
  csv: {
    type: "text/csv",
    head: (columns) => columns.map((column) => csvCell(column.name)).join(",") + "\r\n",
    line: (table, columns, row) => columns.map(({ n }) => csvCell(table.text(n, row))).join(","),
    between: "\r\n",
    end: (count) => (count ? "\r\n" : ""),
  },
  json: {
    type: "application/json",
    head: () => "[\n",
    line: (table, columns, row) => `{${columns.map(({ n, name }) => `${JSON.stringify(name)}:${table.json(n, row)}`).join(",")}}`,
    between: ",\n",
    end: () => "\n]\n",
  },
  md: {
    type: "text/markdown",
    head: (columns) => `| ${columns.map(({ name }) => mdCell(name)).join(" | ")} |\n| ${columns.map(({ kind }) => (["Int", "Uint", "F32", "F64"].includes(kind) ? "---:" : "---")).join(" | ")} |\n`,
    line: (table, columns, row) => `| ${columns.map(({ n }) => mdCell(table.text(n, row) ?? "")).join(" | ")} |`,
    between: "\n",
    end: (count) => (count ? "\n" : ""),
  },
};

// The first `count` rows, or all rows of the table if `rows` is null, a portion at a time: no text gets larger than that.
/** @type {(table: Table, numbers: number[], rows: Rows, count: number, form: RowForm) => AsyncGenerator<string>} */
const portions = async function* (table, numbers, rows, count, form) {
  const PORTION = 1024;
  const columns = numbers.map((n) => table.columns[n]);
  const { head, line, between, end } = FORMS[form];
  yield head(columns);
  for (let at = 0; at < count; at += PORTION) {
    const part = Array.from({ length: Math.min(PORTION, count - at) }, (_, k) => (rows ? rows[at + k] : at + k));
    await table.need(numbers, part);
    yield (at ? between : "") + part.map((row) => line(table, columns, row)).join(between);
    await breathe();
  }
  yield end(count);
};

// The same as a blob, which browsers keep on disk if it is large. `progress` gets the number of rows so far.
/** @type {Assetq["blob"]} */
const blob = async (table, numbers, rows, count, form, progress) => {
  /** @type {Blob[]} */
  const parts = [];
  /** @type {string[]} */
  let waiting = [];
  let size = 0, portion = 0;
  const flush = () => { parts.push(new Blob(waiting)); [waiting, size] = [[], 0]; };
  for await (const text of portions(table, numbers, rows, count, form)) {
    waiting.push(text);
    size += text.length;
    if (size > 1 << 24) flush();
    progress?.(Math.min(count, portion++ * 1024));
  }
  flush();
  return new Blob(parts, { type: FORMS[form].type });
};

/** @type {Assetq["rowsAs"]} */
const rowsAs = async (form, table, columns, rows, count) => {
  const all = [];
  for await (const text of portions(table, columns, rows, count, form)) all.push(text);
  return all.join("");
};

Object.assign(assetq, { parse, tokens, only, operators, filter, ranks, profile, rowsAs, blob });
