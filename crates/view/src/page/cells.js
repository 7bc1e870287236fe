// Cells as people read them: amounts, paths, dates, nested values, and filters in words.
const { el, many, clean } = assetq;
const LONGEST = 100_000; // characters of nested values that are laid out line by line
// Whole numbers that name or place something are no amounts.
const NO_AMOUNT = /(^|_)(id|index|record|number|hash|version|build|offset|row|checksum)s?$/i;
const OF_TIME = /time|date|tick|stamp|modified|created|updated|expire|since|until/i;
const TICKS = 621_355_968_000_000_000n; // of .NET, at the beginning of 1970
const KIND_BITS = (1n << 62n) - 1n; // without the two bits of a DateTime that state its kind

// Whether numbers of a column are amounts, which can be added.
const isAmount = (/** @type {Column} */ { kind, name }) => ["Int", "Uint", "F32", "F64"].includes(kind) && !NO_AMOUNT.test(name);

// Amounts with their thousands apart.
/** @type {(column: Column, text: string) => string} */
const grouped = (column, text) =>
  (column.kind === "Uint" || column.kind === "Int") && text.length > 4 && text.length < 16 && isAmount(column) && !dateOf(column, text) ? many(Number(text)) : text;

// The date that a whole number stands for: ticks of .NET by their size, Unix times if the column is called after a time.
/** @type {(column: Column, text: string) => string | null} */
const dateOf = ({ kind, name }, text) => {
  if (!["Int", "Uint", "Any"].includes(kind) || !/^-?\d{9,20}$/.test(text)) return null;
  const value = BigInt(text);
  const ticks = BigInt.asUintN(64, value) & KIND_BITS;
  let milliseconds = null;
  // From 1980 to 2100.
  if (ticks > 624_511_296_000_000_000n && ticks < 662_380_416_000_000_000n) milliseconds = Number((ticks - TICKS) / 10_000n);
  else if (OF_TIME.test(name) && value > 315_532_800n && value < 4_102_444_800n) milliseconds = Number(value) * 1000;
  else if (OF_TIME.test(name) && value > 315_532_800_000n && value < 4_102_444_800_000n) milliseconds = Number(value);
  return milliseconds === null ? null : new Date(milliseconds).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
};

// A path has no spaces beside its slashes, and two slashes or an ending; a sentence with a slash is no path.
const isPath = (/** @type {string} */ text) => text.length > 12 && text.length < 1000 && !text.includes("://") && /^[^\s[{"<>]/.test(text) &&
  /^(?:[^\s/]+(?: [^\s/]+){0,3}\/|\/)+(?:[^\s/]+(?: [^\s/]+){0,5})?$/.test(text) && (/\/.*\//.test(text) || /\.\w{1,12}$/.test(text));
// A path as its folder, which may be shortened, and its name, which is kept.
const parts = (/** @type {string} */ text) => {
  if (!isPath(text)) return [clean(text)];
  const cut = text.lastIndexOf("/", text.length - 2) + 1;
  return [el("span", { class: "dir" }, text.slice(0, cut)), el("span", { class: "base" }, text.slice(cut))];
};

/** @type {(column: Column, text: string, page: Page) => Child | Child[]} */
const pretty = (column, text, page) => {
  const isNested = (column.kind === "Nested" || column.kind === "Any") && /^[[{]/.test(text);
  if (!isNested || text.length > LONGEST) return page.long(text);
  try {
    return JSON.stringify(JSON.parse(text), null, 1).replace(/\[\s+([^[\]{}]{0,200}?)\s+\]/g, (_, inner) => `[${inner.replace(/\s+/g, " ")}]`)
      .split("\n").map((line) => el("div", {}, line));
  } catch {
    return text;
  }
};

/** @type {Record<string, string>} */
const HOW = { ":": "contains", "=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least" };
// The tests of a filter in words: `size is at least 100 and name contains "turret"`.
/** @type {(tests: Test[]) => string} */
const inWords = (tests) => tests.map((test) => {
  const { column, how, isNot, isEmpty } = test;
  const what = column ? column.name : "a cell";
  if (isEmpty || (test.word === "" && how === "!=")) return `${what} ${isEmpty ? "is empty" : "is not empty"}`;
  const texts = (test.any ?? [test]).map(({ word }) => (/^[\d.,+-]+$/.test(word) ? word : `"${word}"`));
  return `${isNot ? "not: " : ""}${what} ${HOW[how]} ${texts.join(" or ")}`;
}).join(" and ");

Object.assign(assetq, { cells: { isAmount, grouped, dateOf, isPath, parts, pretty, inWords } });
