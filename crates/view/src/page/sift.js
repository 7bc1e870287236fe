// Filters of rows, their order, and rows as CSV and JSON.
const { many, nearest } = assetq;

// A word is `word`, `column:word` (contains), or a column, one of = != < <= > >=, and a value; `-` before it negates.
// Names and values with spaces go in quotes, in which two quotes are one.
const WORD = /^(-?)(?:("(?:[^"]|"")+"|[^\s:=<>!"]+)(:|!=|<=|>=|=|<|>))?([^]*)$/;
const tokens = (text) => text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
const unquoted = (text) => text.replace(/"((?:[^"]|"")*)"?/g, (_, inner) => inner.replaceAll('""', '"'));
const inQuotes = (text) => `"${text.replaceAll('"', '""')}"`;
const quoted = (text) => (/[\s"|]/.test(text) || text === "" ? inQuotes(text) : text);
const nameOf = ({ name }) => (/[\s:=<>!"]|^-/.test(name) ? inQuotes(name) : name);
// The filter for some values of a column: `type=cruiser|battleship`.
const only = (column, ...texts) => `${nameOf(column)}=${texts.map(quoted).join("|")}`;
const alternatives = (rest) => rest.match(/(?:[^|"]|"(?:[^"]|"")*"?)+/g) ?? [rest];
// Conditions for people to choose from: words, what precedes the column, the operator, and whether no value follows.
const isOrdered = ({ kind }) => ["Int", "Uint", "F32", "F64", "Text", "Any"].includes(kind);
/** @type {[string, string, string, any?][]} */
const OPERATORS = [["contains", "", ":"], ["does not contain", "-", ":"], ["is", "", "="], ["is not", "", "!="], ["is at least", "", ">=", isOrdered], ["is at most", "", "<=", isOrdered],
  ["is above", "", ">", isOrdered], ["is below", "", "<", isOrdered], ["is empty", "", "=", null], ["is not empty", "", "!=", null]];
const operators = (column) => OPERATORS.filter(([, , , fits]) => !fits || fits(column))
  .map(([words, minus, how, fits]) => ({ words, isAlone: fits === null, write: (value) => `${minus}${nameOf(column)}${how}${fits === null ? "" : quoted(value)}` }));
// Ids and truths have one value in several forms.
const ANY_CASE = new Set(["Id64", "Id32", "Guid", "Bool"]);
const UNIT = { k: 1e3, m: 1e6, g: 1e9 };

// The number of a text with all of its digits: a bigint if a double would round it; NaN for other texts.
const exact = (text) => {
  const number = text.trim() === "" ? NaN : Number(text);
  return Number.isInteger(number) && !Number.isSafeInteger(number) && /^\s*(?:0x[\da-f]+|[+-]?\d+)\s*$/i.test(text) ? BigInt(text) : number;
};

// Parses a number in a usual form, such as 1,000 and 10k; NaN for any other text.
const numberOf = (text) => {
  const found = text.match(/^([+-]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)?(?:\.\d+)?(?:e[+-]?\d+)?)([kmg]?)$/i);
  if (!found || !/\d/.test(text)) return /^0x[\da-f]+$/i.test(text) ? exact(text) : NaN;
  const unit = UNIT[found[2].toLowerCase()];
  const number = exact(found[1].replace(/[,_]/g, ""));
  return unit ? Number(number) * unit : number;
};

const test = (column, how, rest) => {
  const word = how === ":" ? unquoted(rest).toLowerCase() : unquoted(rest);
  let number = numberOf(word);
  // A float is compared in its own precision.
  if (column.kind in FLOATS) number = FLOATS[column.kind](Number(number));
  return { column, how, word, number, isEmpty: how === "=" && rest === "" };
};

// The tests of a filter, and its faults: `{ tests, faults }`.
const parse = (text, table) => {
  const [tests, faults] = [[], []];
  for (const token of tokens(text)) {
    const [, minus, written, how, rest] = token.match(WORD);
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

const FLOATS = { F32: Math.fround, F64: Number };

// A bigint and a number compare as the numbers that they are.
const compare = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a == b, "!=": (a, b) => a != b };

// Whether a test holds for a cell. As for `--where`, no comparison with null holds, and one by order in a column of several
// kinds holds for numbers only. Texts are compared as they are written.
const fits = (test, text, value, isText = false) => {
  const { how, word, number, column, isEmpty } = test;
  if (text === null) return !!isEmpty;
  if (how === ":") return text.toLowerCase().includes(word);
  if (how === "!=" && word === "") return text !== "";
  if (column.kind === "Text") return compare[how](text, word);
  const own = isText ? NaN : typeof value === "string" ? exact(value) : value;
  const isSame = text === word || own == number || (ANY_CASE.has(column.kind) && text.toLowerCase() === word.toLowerCase());
  return how === "=" ? isSame : how === "!=" ? !isSame : compare[how](own, number);
};

// A function that marks the rows of a stretch that fit. It looks at each distinct text once, and at numbers in their array.
const marker = (table, test) => {
  const known = new Map();
  // For each place of an id 1 if the text that column `n` has for it fits, 2 if not, 0 if unknown.
  const idMarks = (n) => {
    const { plan } = table.all[n];
    const ids = table.ids(n);
    const key = `${plan} ${ids.name}`;
    if (!known.has(key)) known.set(key, ids.marks(plan === "ids" ? "id" : plan, test, (text) => fits(test, text, text)));
    return known.get(key);
  };
  return (n, stretch, marks) => {
    const column = table.all[n];
    const cells = table.cells(n, stretch);
    const rows = marks.length;
    const isNull = test.isEmpty;
    if (isNull && column.or !== undefined) {
      // The text of its id stands for a null.
      const texts = table.cells(column.or, stretch);
      for (let row = 0; row < rows; row++) {
        const own = cells.text(row);
        const place = own === null && texts.kind === "id" ? texts.places[row] - 1 : -1;
        if (fits(test, own ?? table.ofId(column.or, place))) marks[row] = 1;
      }
    } else if (cells.kind === "null") {
      if (isNull && column.n < table.columns.length) marks.fill(1);
    } else if (cells.kind === "id") {
      const [{ places }, of] = [cells, idMarks(n)];
      for (let row = 0; row < rows; row++) if (places[row] === 0 ? isNull : of[places[row] - 1]) marks[row] = 1;
    } else if (cells.kind === "text") {
      const ofText = (_, k) => { const text = cells.of.get(k); return fits(test, text, text, cells.literals?.[k] === 0); };
      const of = test.how === ":" ? cells.of.including(test.word) : Uint8Array.from({ length: cells.of.count }, ofText);
      const { places } = cells;
      for (let row = 0; row < rows; row++) if (places[row] === 0 ? isNull : of[places[row] - 1]) marks[row] = 1;
    } else if (cells.all instanceof Float64Array && test.how in compare && !isNull && column.kind !== "Bool") {
      const { all, none } = cells;
      const holds = compare[test.how];
      for (let row = 0; row < rows; row++) if (all[row] !== none && holds(all[row], test.number)) marks[row] = 1;
    } else if (test.how !== ":" || cells.kind !== "list" || test.column) {
      for (let row = 0; row < rows; row++) if (!marks[row] && fits(test, cells.text(row), cells.value(row), cells.isLiteral?.(row) === false)) marks[row] = 1;
    }
  };
};

// Whether the cells of a column may contain a word: lists are not searched, and no number contains letters.
const mayContain = ({ plan, kind, texts }, word) => plan !== "own" || texts || kind === "Bool" || (kind !== "Nested" && /^[-+.\de]+$/.test(word));

// Lets the browser draw and take input, if it has not had time to for a while.
let rested = 0;
const breathe = async () => {
  if (performance.now() - rested < 12) return;
  await new Promise((next) => setTimeout(next));
  rested = performance.now();
};

// The rows that pass all tests, or null if a newer filter took over.
const filter = async (table, tests, columns, isCurrent) => {
  const kept = new Uint32Array(table.rows);
  let count = 0;
  // Of several values, any may be in the cell.
  const mark = tests.map((test) => (test.any ?? [test]).map((one) => [one.isEmpty, marker(table, one)]));
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
      for (const [isEmpty, fill] of mark[t]) for (const n of isEmpty ? [test.column.n] : needed) fill(n, stretch, marks);
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
const exactRanks = (table, n, ranks) => {
  const values = table.starts.flatMap((_, stretch) => Array.from({ length: table.length(stretch) }, (_, k) => table.cells(n, stretch).value(k)));
  const sorted = [...new Set(values.filter((value) => value !== null).map(BigInt))].sort((a, b) => (a < b ? -1 : 1));
  const rankOf = new Map(sorted.map((value, rank) => [value, rank]));
  values.forEach((value, row) => (ranks[row] = value === null ? Infinity : rankOf.get(BigInt(value))));
  return ranks;
};

// For each row a number that puts it in order by a column; nulls come last.
const ranks = async (table, n) => {
  await table.wholly([n]);
  const ranks = new Float64Array(table.rows);
  if (table.starts.some((_, stretch) => Array.isArray(table.cells(n, stretch).all))) return exactRanks(table, n, ranks);
  const distinct = new Map();
  const places = new Map(); // of ids: their texts are slow to make
  const isPlain = table.all[n].or === undefined;
  let row = 0;
  for (let stretch = 0; stretch < table.starts.length; stretch++) {
    const cells = table.cells(n, stretch);
    const count = table.length(stretch);
    const seen = cells.kind === "text" ? new Map() : places;
    for (let k = 0; k < count; k++, row++) {
      if (isPlain && cells.kind === "number") {
        const value = cells.value(k);
        ranks[row] = value === null ? Infinity : Number(value);
      } else if (isPlain && cells.kind === "null") {
        ranks[row] = Infinity;
      } else {
        const place = isPlain && cells.places ? cells.places[k] : -1;
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
    const texts = [...distinct.keys()];
    const numbers = new Map(texts.map((text) => [text, exact(text)]));
    const isNumeric = table.columns[n].kind !== "Text" && texts.every((text) => !Number.isNaN(numbers.get(text)));
    const key = isNumeric ? (text) => numbers.get(text) : (text) => text;
    texts.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    const order = new Float64Array(texts.length);
    texts.forEach((text, rank) => (order[distinct.get(text)] = rank));
    for (let k = 0; k < ranks.length; k++) ranks[k] = ranks[k] < 0 || ranks[k] === Infinity ? Infinity : order[ranks[k]];
  }
  return ranks;
};

// The bounds of at most 30 bins between two numbers of a column. A bin begins at its bound and ends before the next one; the last
// contains its end, too. A filter by these bounds finds the rows that the bin counts.
const BINS = 30;
const boundsOf = (kind, least, most) => {
  const round = FLOATS[kind];
  if (round) return [...new Set(Array.from({ length: BINS + 1 }, (_, i) => round(least * (1 - i / BINS) + most * (i / BINS))))];
  const [first, span] = [BigInt(least), BigInt(most) - BigInt(least) + 1n];
  const count = span < BINS ? Number(span) : BINS;
  const all = [...Array.from({ length: count }, (_, i) => first + (span * BigInt(i)) / BigInt(count)), BigInt(most)];
  return [least, most].every(Number.isSafeInteger) ? all.map(Number) : all;
};
const binsOf = (column, bounds) => bounds.slice(1).map((to, i) => {
  const [from, isLast, isWhole, name] = [bounds[i], i === bounds.length - 2, !(column.kind in FLOATS), nameOf(column)];
  const end = isLast || !isWhole ? to : typeof to === "bigint" ? to - 1n : to - 1;
  if (isWhole && end === from) return { count: 0, range: `of ${from}`, filter: only(column, String(from)) };
  return { count: 0, range: `from ${from} to ${isWhole || isLast ? "" : "below "}${end}`, filter: `${name}>=${from} ${name}${isLast ? "<=" : "<"}${to}` };
});

// The distinct texts of a column in some rows with their counts, nulls, and if all are numbers: bounds, mean and bins.
const profile = async (table, n, rows, count) => {
  await table.wholly([n]);
  const counts = new Map();
  let nulls = 0;
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
  let numbers = null;
  const column = table.columns[n];
  const { kind } = column;
  if (["Int", "Uint", "F32", "F64"].includes(kind) && counts.size) {
    const numberOf = kind in FLOATS ? (text) => FLOATS[kind](Number(text)) : exact;
    const all = [...counts].map(([text, some]) => [numberOf(text), some, text]);
    const [[least, , from]] = [all.reduce((least, one) => (one[0] < least[0] ? one : least))];
    const [[most, , to]] = [all.reduce((most, one) => (one[0] > most[0] ? one : most))];
    const bounds = boundsOf(kind, least, most);
    const bins = binsOf(column, bounds);
    let sum = 0;
    const isWhole = kind.endsWith("nt");
    const total = isWhole ? [...counts].reduce((total, [text, some]) => total + BigInt(text) * BigInt(some), 0n) : null;
    for (const [value, some] of all) {
      sum += Number(value) * some;
      if (bins.length) bins[Math.min(bins.length - 1, bounds.findLastIndex((bound) => bound <= value))].count += some;
    }
    numbers = { from, to, mean: sum / (count - nulls), sum: total === null ? Number(sum.toPrecision(12)) : many(total), bins };
  }
  return { nulls, counts, numbers };
};

// --- output ---

const csvCell = (text) => (text === null ? "" : /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
// A cell of a Markdown table is one line, and none of its signs means anything.
const mdCell = (text) => text.replace(/[\\`*_[\]<>|#]/g, "\\$&").replace(/\r?\n|\r/g, " ");
// The forms in which rows are saved: a head, a line for a row, what stands between lines, and an end.
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
async function* portions(table, numbers, rows, count, form) {
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
}

// The same as a blob, which browsers keep on disk if it is large. `progress` gets the number of rows so far.
const blob = async (table, numbers, rows, count, form, progress) => {
  const parts = [];
  let waiting = [], size = 0, portion = 0;
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

const rowsAs = async (form, table, columns, rows, count) => {
  const all = [];
  for await (const text of portions(table, columns, rows, count, form)) all.push(text);
  return all.join("");
};

Object.assign(assetq, { parse, tokens, only, operators, filter, ranks, profile, rowsAs, blob });
