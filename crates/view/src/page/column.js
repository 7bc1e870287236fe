// Columns: what a stretch of rows says, as column.rs writes it.
const LEAST = -(2n ** 53n), MOST = 2n ** 53n;

class Bytes {
  at = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  u8() { return this.view.getUint8(this.at++); }
  u32() { const n = this.view.getUint32(this.at, true); this.at += 4; return n; }
  i128() {
    const low = this.view.getBigUint64(this.at, true), high = this.view.getBigInt64(this.at + 8, true);
    this.at += 16;
    return (high << 64n) | low;
  }
  take(/** @type {number} */ n) { const part = this.bytes.subarray(this.at, this.at + n); this.at += n; return part; }
}

// Whole numbers: an array of numbers, or of bigints where they may be beyond what a number can tell apart.
/** @type {(from: Bytes, count: number) => Float64Array | bigint[]} */
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
  const [low, high, top] = [0, 1, 2].map((k) => planes.subarray(k * count, (k + 1) * count));
  if (width === 1) for (let n = 0; n < count; n++) all[n] = low[n];
  if (width === 2) for (let n = 0; n < count; n++) all[n] = low[n] | (high[n] << 8);
  if (width === 3) for (let n = 0; n < count; n++) all[n] = low[n] | (high[n] << 8) | (top[n] << 16);
  for (let k = 0, unit = 1; width > 3 && k < width; k++, unit *= 256) {
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

// Whole numbers that count or place something.
/** @type {(from: Bytes, count: number) => Float64Array} */
const places = (from, count) => {
  const all = numbers(from, count);
  if (all instanceof Float64Array) return all;
  throw new Error("a column of places has numbers that are no places");
};

/** @type {(from: Bytes, count: number, size: number) => ArrayBuffer} */
const planesOf = (from, count, size) => {
  const bytes = from.take(count * size), whole = new Uint8Array(count * size);
  for (let k = 0; k < size; k++) for (let n = 0; n < count; n++) whole[n * size + k] = bytes[k * count + n];
  return whole.buffer;
};

// Distinct texts, cut out of one long text when they are needed.
/** @type {(from: Bytes) => Texts} */
const texts = (from) => {
  const count = from.u32();
  const lengths = places(from, count);
  const all = new TextDecoder("utf-8", { ignoreBOM: true }).decode(from.take(from.u32()));
  const ends = new Uint32Array(count);
  for (let n = 0, end = 0; n < count; n++) ends[n] = end += lengths[n];
  const get = (/** @type {number} */ n) => all.slice(n === 0 ? 0 : ends[n - 1], ends[n]);
  let lowered = "";
  // For each text 1 if it contains a lower-case word: one search through the long text.
  const including = (/** @type {string} */ word) => {
    const marks = new Uint8Array(count);
    const lower = (lowered ||= all.toLowerCase());
    if (lower.length !== all.length) return marks.map((_, n) => (get(n).toLowerCase().includes(word) ? 1 : 0));
    for (let n = 0, at = lower.indexOf(word); at >= 0; ) {
      let high = count - 1;
      while (n < high) {
        const middle = (n + high) >> 1;
        if (ends[middle] > at) high = middle;
        else n = middle + 1;
      }
      if (at + word.length <= ends[n]) marks[n] = 1;
      at = lower.indexOf(word, marks[n] ? Math.max(ends[n], at + 1) : at + 1);
    }
    return marks;
  };
  return { count, get, including };
};

// The shortest digits of a single-precision number, the even ones of two as near.
const float = (/** @type {number} */ n) => {
  if (!Number.isFinite(n)) return "null";
  if (Number.isInteger(n) && Math.abs(n) < 1e6) return String(n);
  for (let digits = 6; ; digits++) {
    const [short, more] = [0, 1].map((k) => n.toPrecision(digits + k)), even = more.replace(/([02468])5(?=e|$)/, "$1");
    if (Math.fround(Number(short)) === n) return String(Number(Number(more) === n && even !== more ? even : short));
  }
};

/** @type {(all: Float32Array | Float64Array, show: (n: number) => string) => NumberCells} */
const floats = (all, show) => ({
  kind: "number",
  all,
  none: NaN,
  value: (row) => (isNaN(all[row]) ? null : all[row]),
  text: (row) => (isNaN(all[row]) ? null : show(all[row])),
});

// Cells of a stretch. `value(row)` is a number, a bigint, a text or null, by which rows are put in order; `text(row)` is
// the text to show, or null. Numbers also have `all`, an array, in which `none` stands for null.
/** @type {OtherCells} */
const NOTHING = { kind: "null", value: () => null, text: () => null };
assetq.column = (bytes, rows, column = {}) => {
  const from = new Bytes(bytes);
  const layout = from.u8();
  switch (layout) {
    case 1: {
      const null_ = from.u8() === 1 ? from.i128() : undefined;
      const all = numbers(from, rows);
      const isBig = Array.isArray(all);
      const none = null_ === undefined ? undefined : isBig ? null_ : Number(null_);
      const value = (/** @type {number} */ row) => (all[row] === none ? null : all[row]);
      const bool = column.kind === "Bool";
      const text = (/** @type {number} */ row) => (all[row] === none ? null : bool ? (all[row] ? "true" : "false") : String(all[row]));
      return { kind: "number", value, text, all, none };
    }
    case 2:
      return floats(new Float32Array(planesOf(from, rows, 4)), float);
    case 3:
      return floats(new Float64Array(planesOf(from, rows, 8)), String);
    case 4:
    case 7: {
      const [of, at] = [texts(from), places(from, rows)];
      const value = (/** @type {number} */ row) => (at[row] === 0 ? null : of.get(at[row] - 1));
      /** @type {TextCells} */
      const cells = { kind: "text", value, text: value, of, places: at };
      if (layout === 4) return cells;
      const literals = places(from, of.count);
      return { ...cells, literals, isLiteral: (row) => at[row] > 0 && literals[at[row] - 1] === 1 };
    }
    case 5: {
      // Words are not sought in lists: they are decoded when a row is seen.
      const build = () => {
        const length = from.u32(), count = from.u32();
        const lists = Array.from({ length }, () => new Float32Array(new Uint32Array(places(from, count)).buffer));
        return { lists, at: places(from, rows) };
      };
      /** @type {ReturnType<typeof build> | undefined} */
      let decoded;
      const text = (/** @type {number} */ row) => {
        const { lists, at } = (decoded ??= build());
        return at[row] === 0 ? null : `[${lists.map((list) => float(list[at[row] - 1])).join(",")}]`;
      };
      return { kind: "list", value: text, text };
    }
    case 6:
      return { kind: "id", places: places(from, rows) };
    default:
      return NOTHING;
  }
};

/** @typedef {Bytes} BytesReader */
assetq.Bytes = Bytes;
