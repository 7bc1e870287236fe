// Rows that a filter leaves, their order, and both as CSV.
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
  const number = typeof value === "string" ? parseFloat(value) : Number(value);
  return test.how === "<" ? number < test.number : number > test.number;
};

// Marks the rows of a stretch that fit, by a look at every distinct text rather than at every row where that is possible.
const marker = (table, test) => {
  const known = new Map();
  return (n, stretch, marks) => {
    const column = table.all[n];
    const cells = table.cells(n, stretch);
    const rows = marks.length;
    if (cells.kind === "null") return;
    if (cells.kind === "list" && test.how === ":") return;
    let of = null;
    if (cells.kind === "id") {
      const key = `${column.plan} ${table.all[table.source(n)].kind}`;
      if (!known.has(key)) known.set(key, new Map());
      const seen = known.get(key);
      of = (place) => {
        let fit = seen.get(place);
        if (fit === undefined) {
          const text = table.ofId(n, place - 1);
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
    if (test.how === ":" && cells.kind === "number" && column.kind !== "Bool" && !/^[-+.\de]+$/.test(test.word)) return;
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
      const asked = table.with(test.column ? [test.column.n] : columns);
      await table.whole(asked, stretch);
      if (!current()) return null;
      for (const n of asked) mark[t](n, stretch, marks);
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
  await table.wholly([n]);
  const ranks = new Float64Array(table.rows);
  const distinct = new Map();
  const places = new Map(); // of ids, as their texts are slow to make
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
    const numeric = table.columns[n].kind === "Any" && [...distinct.keys()].every((text) => text.trim() !== "" && !isNaN(text));
    const texts = [...distinct.keys()];
    texts.sort(numeric ? (a, b) => a - b : (a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const order = new Float64Array(texts.length);
    texts.forEach((text, rank) => (order[distinct.get(text)] = rank));
    for (let k = 0; k < ranks.length; k++) ranks[k] = ranks[k] < 0 || ranks[k] === Infinity ? Infinity : order[ranks[k]];
  }
  return ranks;
};

const csvCell = (text) => (text === null ? "" : /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const csv = async (table, columns, rows, count) => {
  const lines = [columns.map((n) => csvCell(table.columns[n].name)).join(",")];
  await table.wholly(columns);
  for (let at = 0; at < count; at++) lines.push(columns.map((n) => csvCell(table.text(n, rows ? rows[at] : at))).join(","));
  return lines.join("\r\n") + "\r\n";
};

Object.assign(assetq, { parse, filter, ranks, csv });
