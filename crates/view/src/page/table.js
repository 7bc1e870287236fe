// Tables as they are seen: rows laid out as they scroll into view.
const { el, many, clean, words, messageOf, tableOf, leadOf, uses } = assetq;
const { isAmount, grouped, dateOf, isPath, parts, pretty, inWords } = assetq.cells;
const ROW = 26; // the height of a row, as in the style
const TALLEST = 8_000_000; // a height of an element that every browser supports
const RIGHT = new Set(["Int", "Uint", "F32", "F64"]);
const MONO = new Set(["Id64", "Id32", "Guid"]);
const LEAST_WIDE = 40;
const PRINTED = 2000; // rows on paper

class View {
  /** @type {Rows} */
  rows = null; // the rows that are shown, in order; null for all
  /** @type {{ n: number, down: boolean } | null} */
  order = null;
  query = "";
  /** @type {Record<string, Lead | Promise<Lead>>} */
  leads = {}; // for kinds of ids, where they lead
  /** @type {(number | undefined)[]} */
  own = []; // widths that the user chose, by column
  /** @type {number[]} */
  widths = [];
  /** @type {number[]} */
  pinned = []; // columns that the user keeps in sight
  /** @type {Map<number, { section: HTMLElement, body: HTMLElement, asked: number }>} */
  facets = new Map(); // for columns whose values are shown, their elements
  isTyping = false;
  step = false;
  asked = 0;
  drawing = 0;
  frame = 0;
  top = 0; // the first row that is seen, counted in rows
  expected = 0; // the place to which the page scrolled last
  room = 0;
  gutter = 0;
  tall = 0;
  selected = -1;
  cursor = 0;
  /** @type {Map<number, { row: number, form: string, line: HTMLElement }>} */
  laid = new Map(); // the elements of rows, by their place in the order
  /** @type {number | undefined} */
  pause;

  // The parts of the view.
  input = el("input", { type: "search", placeholder: "filter …   name:text   size>=100   -word", spellcheck: "false",
    title: "words that a row contains; column:word, column=value, column!=value, < <= > >=; a minus sign excludes (/)" });
  tally = el("span", { class: "tally", role: "status" });
  fault = el("p", { class: "fault query", role: "alert", hidden: true });
  head = el("div", { class: "head", role: "row", "aria-rowindex": "1" });
  body = el("div", { class: "body", role: "rowgroup" });
  printed = el("table", { class: "printed", "aria-hidden": "true" });
  none = el("p", { class: "none", hidden: true }, "no row matches");
  space = el("div", { class: "space", role: "presentation" }, el("div", { role: "rowgroup", class: "heads" }, this.head), this.body);
  // An address may name a row and a filter that leaves it out.
  leftOut = el("p", { class: "note" }, "The filter leaves this row out. ", el("button", { onclick: () => this.clear() }, "Clear the filter"));
  detail = el("aside", { class: "detail", hidden: true, "aria-label": "row", tabindex: "-1", onkeydown: (event) => event.key === "Escape" && (event.preventDefault(), this.close()) });
  profile = el("aside", { class: "profile", hidden: true, "aria-label": "column", tabindex: "-1", onkeydown: (event) => event.key === "Escape" && (event.preventDefault(), this.closeProfile()) });

  /** @param {HTMLElement} element @param {PartOfKind<"table">} part @param {Page} page */
  constructor(element, part, page) {
    this.page = page;
    this.table = tableOf(part, page);
    this.name = `g${page.parts.indexOf(part)}`;
    this.scroll = el("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": this.table.table, "aria-multiselectable": "false" }, this.space);
    this.choice = el("div", { class: "choice", id: `${this.name}-choice`, hidden: true });
    this.ways = el("div", { class: "choice ways", id: `${this.name}-ways`, role: "group", "aria-label": "take the rows that are shown", hidden: true });
    this.condition = el("div", { class: "choice ways", id: `${this.name}-condition`, role: "group", "aria-label": "a condition on a column", hidden: true });
    const columns = this.table.columns;
    // Places in the file and empty columns are hidden at first; a narrow window begins with the columns of short listings.
    const few = innerWidth < 704 && columns.some((column) => column.brief);
    this.on = columns.map((column) => column.brief || (!few && !column.empty && (column.role !== "Place" || columns.length < 6)));
    this.element = element;
    this.build(element);
  }

  get count() { return this.rows ? this.rows.length : this.table.rows; }
  rowAt(/** @type {number} */ at) { return this.rows ? this.rows[at] : at; }
  // Where a row is in the order, or -1 if the filter leaves it out.
  placeOf(/** @type {number} */ row) { return this.rows ? this.rows.indexOf(row) : row; }
  // The columns that are shown, the pinned ones first.
  get shown() {
    const shown = this.table.columns.filter((_, n) => this.on[n] && !this.pinned.includes(n)).map((column) => column.n);
    return [...this.pinned.filter((n) => this.on[n]), ...shown];
  }

  build(/** @type {HTMLElement} */ element) {
    const { table, page } = this;
    this.input.setAttribute("aria-label", `filter ${table.table}`);
    // All letters that are typed together are one step to go back.
    this.input.addEventListener("input", () => (this.refilter(!this.isTyping), (this.isTyping = true)));
    this.input.addEventListener("change", () => (this.isTyping = false));
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "Enter") return;
      event.preventDefault();
      this.scroll.focus();
    });
    // The filtered columns are decoded while the user types.
    this.input.addEventListener("focus", () => table.rows < 4e6 && table.wholly(table.with(this.shown)).catch(() => {}), { once: true });
    this.chooseCondition();
    element.append(el("div", { class: "bar" }, this.input, this.tally,
      this.unfolding(this.condition, "Condition", { class: "condition", title: "rows by a column, an operator and a value" }), el("span", { class: "space" }), this.unfolding(this.choice, "Columns"), this.taking()));
    element.append(this.condition, this.choice, this.ways);
    for (const column of table.columns) {
      const box = el("input", { type: "checkbox", checked: this.on[column.n], onchange: ({ currentTarget }) => this.showColumn(column.n, currentTarget.checked) });
      column.box = box;
      this.choice.append(el("label", {}, box, column.name, column.empty ? el("small", {}, " (empty)") : null));
    }
    element.append(this.fault);
    const { more, fault, damaged } = table.meta;
    if (more) {
      element.append(el("p", { class: "note" }, `This page has the first ${many(table.rows)} of ${more.of === null ? "all" : many(more.of)} rows. All of them: `, el("code", {}, more.command)));
    }
    if (fault) element.append(el("p", { class: "note fault" }, `${many(damaged)} damaged: the first is ${fault}`));
    element.append(el("div", { class: "both" }, el("div", { class: "table" }, this.scroll, this.none, this.printed), this.profile, this.detail));
    this.scroll.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.scroll.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.scroll.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      const at = target.closest("[data-at]")?.getAttribute("data-at");
      const selection = getSelection();
      const isSelecting = String(selection) !== "" && this.body.contains(selection?.anchorNode ?? null);
      if (at && !target.closest("a") && !isSelecting) this.select(Number(at));
    });
    // Columns share the room that is there.
    new ResizeObserver(() => {
      if (this.scroll.clientWidth !== this.room) this.header();
      this.draw();
    }).observe(this.scroll);
    this.header();
    this.hideCounters();
    this.findDates();
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.printed.replaceChildren());
    // Decode everything before the browser prints.
    addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== "p" || element.hidden) return;
      event.preventDefault();
      page.attempt(element, table.need(this.shown, this.printedRows())).then(() => print());
    });
  }

  async clear() {
    this.input.value = "";
    await this.arrange();
    await this.show(new URLSearchParams(Object.entries(this.state()).map(([name, value]) => [name, String(value)])));
    this.page.hold();
    this.detail.focus();
  }

  // A button that unfolds a panel, whose first control gets the focus. Escape folds it again.
  /** @type {(panel: HTMLElement, text: string, more?: Record<string, string>) => HTMLButtonElement} */
  unfolding(panel, text, more = {}) {
    const button = el("button", { "aria-expanded": "false", "aria-controls": panel.id, ...more, onclick: () => {
      panel.hidden = !panel.hidden;
      button.setAttribute("aria-expanded", String(!panel.hidden));
      (panel.hidden ? button : /** @type {HTMLElement | null} */ (panel.querySelector("input, button, select")))?.focus();
    } }, text);
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      button.click();
    });
    return button;
  }

  // The form for a condition: its parts become words of the filter.
  chooseCondition() {
    const { table } = this;
    const column = el("select", { "aria-label": "column", onchange: () => fill() }, table.columns.map(({ n, name }) => el("option", { value: n }, name)));
    const how = el("select", { "aria-label": "operator", onchange: () => { value.hidden = chosen().isAlone; } });
    const value = el("input", { "aria-label": "value", spellcheck: "false", onkeydown: (event) => event.key === "Enter" && add() });
    const all = () => assetq.operators(table.columns[Number(column.value)]);
    const chosen = () => all()[Number(how.value)];
    const fill = () => {
      how.replaceChildren(...all().map(({ words }, i) => el("option", { value: i }, words)));
      value.hidden = false;
    };
    const add = () => {
      this.input.value = [this.input.value.trim(), chosen().write(value.value.trim())].filter(Boolean).join(" ");
      value.value = "";
      this.refilter(true);
    };
    fill();
    this.condition.append(column, how, value, el("button", { onclick: add }, "Add"));
  }

  // The button and the menu that take the rows: all ways to copy and save them in one place.
  taking() {
    /** @type {[string, string, () => unknown][]} */
    const ways = [["copy", "Copy CSV", () => this.copy("csv")], ["copy-json", "Copy JSON", () => this.copy("json")], ["copy-md", "Copy Markdown", () => this.copy("md")],
      ["save-csv", "Save CSV", () => this.save("csv")], ["save-json", "Save JSON", () => this.save("json")]];
    if (this.page.isAddressed) ways.push(["copy-link", "Copy link", () => this.copyLink()]);
    const button = this.unfolding(this.ways, "Copy / save", { class: "take", title: "copy or save the rows that are shown" });
    this.ways.append(...ways.map(([name, text, act]) => el("button", { class: name, onclick: () => (button.click(), act()) }, text)));
    return button;
  }

  // The filter and the order in words, such as "Models: size is at least 100".
  get inWords() {
    const { tests } = assetq.parse(this.query, this.table);
    const order = this.order ? [`by ${this.table.columns[this.order.n].name}${this.order.down ? ", the greatest first" : ""}`] : [];
    const all = [inWords(tests), ...order].filter(Boolean).join(", ");
    return words(this.table.table) + (all ? `: ${all}` : "");
  }

  // A link to what is shown, which names it.
  async copyLink() {
    this.page.hold();
    await this.page.copy(`[${this.inWords.replace(/[[\]]/g, "\\$&")}](${location.href.replaceAll("(", "%28").replaceAll(")", "%29")})`);
    this.page.say(`copied a link to ${this.inWords}`);
  }

  // The rows that are printed: those that are shown, up to a limit.
  printedRows() {
    return Array.from({ length: Math.min(this.count, PRINTED) }, (_, at) => this.rowAt(at));
  }

  // Lays the rows out for paper, where nothing scrolls.
  print() {
    if (this.element.hidden) return;
    const { table, shown } = this;
    const rows = this.printedRows();
    if (table.need(shown, rows)) {
      this.printed.replaceChildren(el("caption", {}, "This table is not decoded yet: print it with Ctrl+P, or once more."));
      return;
    }
    const cell = (/** @type {"td" | "th"} */ tag, /** @type {number} */ n, /** @type {string} */ text) => el(tag, { class: this.classes(table.columns[n]) }, text);
    const line = (/** @type {number} */ row) => el("tr", {}, el("td", { class: "right" }, many(row)), shown.map((n) => cell("td", n, (table.text(n, row) ?? "").slice(0, 500))));
    const caption = rows.length < this.count ? [el("caption", {}, `The first ${many(rows.length)} of ${many(this.count)} rows: Save CSV takes all of them.`)] : [];
    const head = el("tr", {}, el("th", { class: "right" }, "#"), shown.map((n) => cell("th", n, table.columns[n].name)));
    this.printed.replaceChildren(...caption, el("thead", {}, head), el("tbody", {}, rows.map(line)));
  }

  // Columns whose first rows have numbers that are dates get room for both.
  async findDates() {
    const few = Array.from({ length: Math.min(5, this.table.rows) }, (_, row) => row);
    for (const column of this.table.columns) {
      if (!["Int", "Uint"].includes(column.kind) || column.width < 9 || !this.on[column.n]) continue;
      if (!(await this.table.readable([column.n], few, this.element)).length) continue;
      if (!few.some((row) => dateOf(column, this.table.text(column.n, row) ?? ""))) continue;
      column.isDate = true;
      this.header();
      this.draw();
    }
  }

  // A column that counts the rows repeats the number at the left.
  async hideCounters() {
    for (const column of this.table.columns) {
      if ((column.name !== "index" && column.name !== "record") || column.kind !== "Uint" || !this.on[column.n] || this.table.rows === 0) continue;
      if (!(await this.table.readable([column.n], [0], this.element)).length) continue;
      const cells = this.table.cells(column.n, 0);
      if (cells.kind !== "number" || [...cells.all].some((value, row) => value !== row)) continue;
      this.showColumn(column.n, false);
    }
  }

  /** @type {(n: number, on: boolean) => void} */
  showColumn(n, on) {
    const { box } = this.table.columns[n];
    if (box) box.checked = on;
    this.on[n] = on;
    this.header();
    this.draw();
    if (this.query) this.arrange();
  }

  // The columns that are always in sight, with their positions: the pinned ones, or else the first one that is a key.
  get frozen() {
    const { shown } = this;
    const key = shown.find((n) => this.table.columns[n].role === "Key");
    const first = this.pinned.length ? shown.filter((n) => this.pinned.includes(n)) : key !== undefined && this.widths[key] < this.scroll.clientWidth * 0.35 ? [key] : [];
    let left = this.gutter;
    /** @type {Map<number, number>} */
    const all = new Map();
    for (const n of first) {
      // Columns that scroll keep some room.
      if (left + this.widths[n] > this.scroll.clientWidth * 0.7) break;
      all.set(n, left);
      left += this.widths[n];
    }
    return all;
  }

  /** @type {(n: number, on: boolean) => void} */
  pin(n, on) {
    this.pinned = on ? [...this.pinned, n] : this.pinned.filter((one) => one !== n);
    this.header();
    this.draw();
  }

  hideColumn(/** @type {number} */ n) {
    this.closeProfile(n);
    this.showColumn(n, false);
    this.page.say(`${this.table.columns[n].name} is hidden: Columns shows it again`);
  }

  header() {
    const { table } = this;
    const wide = Math.min(44, Math.max(16, Math.floor(innerWidth / 14)));
    this.gutter = many(table.rows).length * 8 + 18;
    this.widths = table.columns.map((column) => {
      const own = this.own[column.n];
      if (own) return own;
      const name = column.name.length * 8.4 + 36;
      const width = (column.plan !== "leaf" && column.or === undefined) || column.of === "graph" ? Math.min(wide, Math.max(8, column.width)) : wide;
      const date = column.isDate ? 176 : 0;
      const letter = this.classes(column).includes("mono") || column.kind === "Nested" ? 8.2 : 9;
      return Math.round(Math.max(name, width * letter + 20 + date, 56));
    });
    // Room to spare goes to the longest texts.
    this.room = this.scroll.clientWidth;
    const spare = this.room - this.shown.reduce((sum, n) => sum + this.widths[n], this.gutter);
    const long = this.shown.filter((n) => table.columns[n].width >= wide).at(-1);
    if (spare > 0 && long !== undefined && !this.own[long]) this.widths[long] += spare;
    const { frozen } = this;
    const cells = this.shown.map((n) => {
      const column = table.columns[n];
      const sorted = this.order?.n === n ? (this.order.down ? "descending" : "ascending") : "none";
      const mark = { none: "", ascending: " ▲", descending: " ▼" }[sorted];
      const button = el("button", { class: RIGHT.has(column.kind) ? "right" : "", title: `${column.name}: put in order`, onclick: () => this.sort(n) }, column.name + mark);
      const more = el("button", { class: "facets", title: `${column.name}: values and counts`, "aria-label": `values of ${column.name}`, onclick: () => this.openProfile(n) }, "⋮");
      const grip = el("span", { class: "grip", onpointerdown: (event) => this.widen(event, n), ondblclick: () => { this.own[n] = undefined; this.header(); this.draw(); } });
      const head = el("span", { role: "columnheader", "aria-sort": sorted, class: frozen.has(n) ? "frozen" : "" }, button, more, grip);
      head.style.width = `${this.widths[n]}px`;
      if (frozen.has(n)) head.style.left = `${frozen.get(n)}px`;
      return head;
    });
    const corner = el("span", { class: "gutter", role: "columnheader", title: "row" }, "#");
    corner.style.width = `${this.gutter}px`;
    this.head.replaceChildren(corner, ...cells);
    this.scroll.setAttribute("aria-colcount", String(this.shown.length + 1));
    this.forget();
    this.resize();
  }

  // Rows are laid out again.
  forget() { this.laid.clear(); }

  /** @type {(event: PointerEvent & { currentTarget: HTMLElement }, n: number) => void} */
  widen(event, n) {
    event.preventDefault();
    event.stopPropagation();
    const { currentTarget: grip, clientX: from } = event, before = this.widths[n];
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (move) => {
      this.widths[n] = this.own[n] = Math.max(LEAST_WIDE, before + move.clientX - from);
      if (grip.parentElement) grip.parentElement.style.width = `${this.widths[n]}px`;
      this.forget();
      this.resize();
      this.redraw();
    };
    grip.onpointerup = () => (grip.onpointermove = null);
  }

  resize() {
    const width = this.shown.reduce((sum, n) => sum + this.widths[n], this.gutter);
    this.tall = Math.min(TALLEST, this.count * ROW);
    this.space.style.width = `${width}px`;
    this.space.style.height = `${this.tall + ROW + 2}px`;
    const all = many(this.table.rows);
    this.tally.title = this.query || this.order ? clean(this.inWords) : "";
    this.tally.textContent = this.rows && this.rows.length !== this.table.rows ? `${many(this.count)} of ${all}` : `${all} ${this.table.rows === 1 ? "row" : "rows"}`;
    this.none.hidden = !this.rows || this.count > 0;
    this.scroll.setAttribute("aria-rowcount", String(this.count + 1));
  }

  // How many rows are seen, and how far one row is if the whole table does not fit into an element.
  get seen() { return Math.max(1, Math.floor((this.scroll.clientHeight - ROW) / ROW)); }
  get most() { return Math.max(0, this.count - this.seen); }
  get isScaled() { return this.tall < this.count * ROW; }
  get range() { return Math.max(1, this.scroll.scrollHeight - this.scroll.clientHeight); }

  scrolled() {
    if (!this.isScaled) this.top = this.scroll.scrollTop / ROW;
    else if (Math.abs(this.scroll.scrollTop - this.expected) > 1.5) this.top = (this.scroll.scrollTop / this.range) * this.most;
    this.redraw();
  }

  wheeled(/** @type {WheelEvent} */ event) {
    if (!this.isScaled || event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    event.preventDefault();
    const rows = event.deltaMode === 1 ? event.deltaY : event.deltaMode === 2 ? event.deltaY * this.seen : event.deltaY / ROW;
    this.to(this.top + rows);
    this.scroll.scrollLeft += event.deltaX;
  }

  to(/** @type {number} */ top) {
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
    // Only columns that are seen are decoded and laid out, and the frozen one.
    const left = this.scroll.scrollLeft - 200, right = this.scroll.scrollLeft + this.scroll.clientWidth + 200;
    const { frozen } = this;
    /** @type {number[]} */
    const columns = [];
    let x = this.gutter;
    for (const n of this.shown) {
      if (frozen.has(n) || (x + this.widths[n] >= left && x < right)) columns.push(n);
      x += this.widths[n];
    }
    const rows = Array.from({ length: Math.max(0, end - first) }, (_, k) => this.rowAt(first + k));
    const asked = ++this.drawing;
    const waiting = table.need(columns, rows);
    /** @type {Set<number>} */
    let damaged = new Set();
    if (waiting) {
      const readable = await waiting.then(() => columns, () => table.readable(columns, rows, this.element));
      if (asked !== this.drawing) return;
      damaged = new Set(columns.filter((n) => !readable.includes(n)));
    }
    this.links(columns);
    this.body.style.top = `${ROW + 2 + (this.isScaled ? this.scroll.scrollTop - (this.top - first) * ROW : first * ROW)}px`;
    // An element stays as long as its row is in sight, so that its text can be selected.
    const form = `${columns} ${[...damaged]}`;
    const laid = new Map(rows.map((row, k) => {
      const known = this.laid.get(first + k);
      return [first + k, known?.row === row && known.form === form ? known : { row, form, line: this.line(first + k, row, columns, damaged) }];
    }));
    this.laid = laid;
    /** @type {Set<Element>} */
    const kept = new Set([...laid.values()].map(({ line }) => line));
    for (const line of [...this.body.children]) if (!kept.has(line)) line.remove();
    [...laid.values()].forEach(({ line }, k) => {
      if (this.body.children[k] !== line) this.body.insertBefore(line, this.body.children[k] ?? null);
    });
    this.mark();
  }

  markLeftOut() { this.leftOut.hidden = this.selected < 0 || this.placeOf(this.selected) >= 0; }

  // Marks the row at the cursor, and the one that is open.
  mark() {
    for (const [at, { row, line }] of this.laid) {
      if (row === this.selected) line.setAttribute("aria-selected", "true");
      else line.removeAttribute("aria-selected");
      line.classList.toggle("cursor", at === this.cursor);
    }
    const at = this.laid.get(this.cursor);
    if (at) this.scroll.setAttribute("aria-activedescendant", at.line.id);
    else this.scroll.removeAttribute("aria-activedescendant");
  }

  // Finds out where ids lead, once for each kind.
  lead(/** @type {string} */ kind) {
    return (this.leads[kind] ??= leadOf(this.page, kind).then((lead) => (this.leads[kind] = lead), (error) => {
      // A damaged key leads nowhere.
      this.leads[kind] = () => null;
      throw error;
    }));
  }

  isLink(/** @type {number} */ n) {
    const { plan, role } = this.table.columns[this.table.source(n)];
    return plan === "ids" && (role === "Reference" || role === "Key");
  }

  links(/** @type {number[]} */ columns) {
    const missing = columns.filter((n) => this.isLink(n)).map((n) => this.lead(this.table.columns[this.table.source(n)].kind)).filter((lead) => lead instanceof Promise);
    if (missing.length) this.page.attempt(this.element, Promise.all(missing)).then(() => (this.forget(), this.redraw()));
  }

  /** @type {(at: number, row: number, columns: number[], damaged: Set<number>) => HTMLElement} */
  line(at, row, columns, damaged) {
    const number = el("span", { class: "gutter", role: "rowheader" }, many(row));
    number.style.width = `${this.gutter}px`;
    const line = el("div", { class: "line", role: "row", id: `${this.name}-${at}`, "data-at": String(at), "aria-rowindex": String(at + 2) }, number);
    const { frozen } = this;
    let gap = 0;
    const fill = () => {
      if (!gap) return;
      const space = el("span", { class: "gap", role: "presentation" });
      space.style.width = `${gap}px`;
      line.append(space);
      gap = 0;
    };
    const there = new Set(columns);
    for (const [place, n] of this.shown.entries()) {
      if (!there.has(n)) {
        gap += this.widths[n];
        continue;
      }
      fill();
      const cell = el("span", { role: "gridcell", "aria-colindex": String(place + 2), class: this.classes(this.table.columns[n]) });
      cell.style.width = `${this.widths[n]}px`;
      if (frozen.has(n)) {
        cell.classList.add("frozen");
        cell.style.left = `${frozen.get(n)}px`;
      }
      const text = damaged.has(n) ? null : this.table.text(n, row);
      if (damaged.has(n)) cell.append(el("i", { class: "fault" }, "damaged"));
      if (text !== null && text !== undefined) {
        const long = text.length > 200 && !text.includes("/") ? text.slice(0, 200) + "…" : text.slice(-600);
        const link = this.leadTo(n, row);
        cell.append(...(link ? [el("a", { href: link, tabindex: "-1" }, parts(long))] : parts(grouped(this.table.columns[n], long))));
        const date = dateOf(this.table.columns[n], text);
        if (date) cell.append(el("span", { class: "date" }, date));
        if (text.length > 6) cell.title = clean(text.length > 600 ? text.slice(0, 600) + "…" : text);
        if (isPath(long)) cell.classList.add("path-cell");
      }
      line.append(cell);
    }
    return line;
  }

  classes(/** @type {Column} */ column) {
    return (RIGHT.has(column.kind) ? "right" : "") + (MONO.has(column.kind) ? " mono" : "") + (column.kind === "Nested" ? " nested" : "");
  }

  // Where the id of a cell leads, or the id whose text the cell has; null for the row itself.
  /** @type {(n: number, row: number) => string | null} */
  leadTo(n, row) {
    const place = this.isLink(n) ? this.table.place(n, row) : -1;
    const lead = this.leads[this.table.columns[this.table.source(n)].kind];
    const found = place < 0 || typeof lead !== "function" ? null : lead(place);
    return found && !(found[0] === this.table && found[1] === row) ? this.page.link(found[0].part.id, { row: found[1] }) : null;
  }

  async sort(/** @type {number} */ n) {
    if (this.table.columns[n].kind === "Nested") return this.page.say(`${this.table.columns[n].name} has nested values, which have no order`);
    this.order = this.order?.n !== n ? { n, down: false } : this.order.down ? null : { n, down: true };
    this.header();
    this.head.children[this.shown.indexOf(n) + 1]?.querySelector("button")?.focus();
    await this.arrange();
    this.to(0);
    this.page.hold(true);
  }

  // Filters soon; `isStep` if the earlier filter is a step to go back.
  refilter(/** @type {boolean} */ isStep) {
    clearTimeout(this.pause);
    this.step ||= isStep;
    this.pause = setTimeout(() => this.arrange().then(() => {
      this.to(0);
      this.page.hold(this.step);
      this.step = false;
    }), 120);
  }

  // Filters, and puts in order.
  async arrange() {
    const { table } = this;
    const asked = ++this.asked;
    const isCurrent = () => asked === this.asked;
    this.query = this.input.value.trim();
    const { tests, faults } = assetq.parse(this.query, table);
    this.fault.hidden = faults.length === 0;
    this.fault.textContent = clean(faults.join("; "));
    this.input.setAttribute("aria-invalid", String(faults.length > 0));
    if (faults.length) return;
    this.tally.textContent = "…";
    try {
      await this.sift(tests, isCurrent);
    } catch (error) {
      if (!isCurrent()) return;
      this.fault.hidden = false;
      this.fault.textContent = clean(`The rows cannot be filtered or put in order: ${messageOf(error)}`);
      this.resize();
    }
  }

  /** @type {(tests: Test[], isCurrent: () => boolean) => Promise<void>} */
  async sift(tests, isCurrent) {
    const { table } = this;
    let rows = tests.length > 0 ? await assetq.filter(table, tests, this.shown, isCurrent) : null;
    if (!isCurrent()) return;
    if (this.order) {
      const by = await assetq.ranks(table, this.order.n);
      if (!isCurrent()) return;
      rows ??= Uint32Array.from({ length: table.rows }, (_, row) => row);
      const sign = this.order.down ? -1 : 1;
      // Nulls are last in either direction, and equal rows keep their order.
      rows = rows.slice().sort((a, b) => (by[a] === by[b] ? a - b : by[a] === Infinity ? 1 : by[b] === Infinity ? -1 : sign * (by[a] - by[b])));
    }
    this.rows = rows;
    this.cursor = 0;
    this.markLeftOut();
    this.resize();
    this.redraw();
    for (const n of this.facets.keys()) this.fillProfile(n);
  }

  async copy(/** @type {RowForm} */ form) {
    const most = 200_000;
    if (this.count > most) this.page.say(`${many(most)} rows are copied; Save takes all`);
    const text = await this.page.attempt(this.element, assetq.rowsAs(form, this.table, this.shown, this.rows, Math.min(most, this.count)));
    if (text === undefined) return;
    await this.page.copy(text);
    if (this.count <= most) this.page.say(`${many(this.count)} rows copied as ${{ csv: "CSV", json: "JSON", md: "Markdown" }[form]}`);
  }

  async save(/** @type {RowForm} */ form) {
    const { table, page } = this;
    const progress = (/** @type {number} */ rows) => rows > 0 && rows % 102_400 === 0 && page.say(`${many(rows)} of ${many(this.count)} rows`);
    const blob = await page.attempt(this.element, assetq.blob(table, this.shown, this.rows, this.count, form, progress));
    if (!blob) return;
    page.save(`${table.table}.${form}`, blob);
    page.say(`${many(this.count)} rows saved`);
  }

  key(/** @type {KeyboardEvent} */ event) {
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: this.seen, PageUp: -this.seen, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.scroll) return;
    if (event.key in moves) {
      this.move(Math.min(Math.max(0, this.cursor + moves[event.key]), this.count - 1));
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      this.scroll.scrollLeft += event.key === "ArrowLeft" ? -120 : 120;
    } else if ((event.key === "Enter" || event.key === " ") && this.count > 0) {
      this.select(this.cursor).then(() => this.detail.focus());
    } else if (event.key === "Escape" && !this.detail.hidden) {
      this.close();
    } else return;
    event.preventDefault();
  }

  move(/** @type {number} */ at) {
    if (this.count === 0) return;
    this.cursor = at;
    if (at < this.top) this.to(at);
    else if (at >= this.top + this.seen - 1) this.to(at - this.seen + 1);
    else this.redraw();
  }

  async select(/** @type {number} */ at) {
    this.cursor = at;
    await this.open(this.rowAt(at));
    this.page.hold();
  }

  close() {
    this.detail.hidden = true;
    this.selected = -1;
    this.mark();
    this.scroll.focus();
    this.page.hold();
  }

  // All of a row beside the table: every column, and the tables that know its ids as well.
  async open(/** @type {number} */ row) {
    const { table, page } = this;
    this.selected = row;
    this.mark();
    const all = table.columns.map((column) => column.n);
    const kinds = new Set(all.filter((n) => this.isLink(n)).map((n) => table.columns[table.source(n)].kind));
    await page.attempt(this.element, Promise.all([...kinds].map((kind) => this.lead(kind))));
    const readable = await table.readable(all, [row], this.element);
    if (this.selected !== row) return;
    const list = el("dl", {});
    const shapes = page.shapeLinks(table.table, row);
    if (shapes.length) list.append(el("dt", {}, "shown in"), el("dd", { class: "places" }, shapes.map(([title, href]) => el("a", { href }, title))));
    for (const n of readable) {
      const column = table.columns[n];
      const text = table.text(n, row);
      if (text === null) continue;
      const link = this.leadTo(n, row);
      const date = dateOf(column, text);
      const shown = link ? el("a", { href: link }, text) : el("span", {}, pretty(column, text, page), date && el("span", { class: "date" }, date));
      list.append(el("dt", {}, column.name), el("dd", { class: this.classes(column) }, shown, el("button", { class: "small", title: `copy ${column.name}`, onclick: () => page.copy(text) }, "copy")));
      if (column.plan === "ids" && table.place(n, row) >= 0) list.append(this.users(column, row));
    }
    const close = el("button", { title: "close (Escape)", "aria-label": "close", onclick: () => this.close() }, "✕");
    this.detail.replaceChildren(el("div", { class: "bar" }, el("b", {}, `${table.table} ${many(row)}`), el("span", { class: "space" }), close), this.leftOut, list);
    this.markLeftOut();
    this.detail.hidden = false;
    this.detail.scrollTop = 0;
  }

  // Links to all rows that hold the id of a cell. A large page counts them on demand.
  /** @type {(column: Column, row: number) => HTMLElement} */
  users(column, row) {
    const { table, page } = this;
    const place = table.place(column.n, row);
    const id = table.text(column.n, row);
    const list = el("dd", { class: "places" });
    // Small tables are counted at once.
    const size = page.parts.reduce((sum, part) => sum + (part.kind === "table" ? part.meta.rows : 0), 0);
    const fill = async () => {
      list.replaceChildren("…");
      const found = await uses(page, column.kind, place, size > 100_000 ? (name) => (list.textContent = `… ${name}`) : null).catch((error) => {
        list.replaceChildren();
        page.fault(list, error);
      });
      if (!found) return;
      const others = found.filter((use) => use.table !== table || use.column !== column || use.count > 1);
      list.replaceChildren(...others.map((use) => {
        const title = `${use.table.table}.${use.column.name}`;
        return el("a", { href: page.link(use.table.part.id, { q: `${use.column.name}=${id}` }), title: "the rows that have this id" }, `${title} (${many(use.count)})`);
      }));
      if (!others.length && size > 100_000) list.append("no other row has this id");
    };
    if (size <= 100_000) fill();
    else list.append(el("button", { class: "small", onclick: fill }, "who refers to this?"));
    return list;
  }

  // --- columns ---

  // Closes the values of all columns, or of one.
  closeProfile(/** @type {number | null} */ n = null) {
    for (const one of n === null ? [...this.facets.keys()] : [n]) {
      this.facets.get(one)?.section.remove();
      this.facets.delete(one);
    }
    this.profile.hidden = this.facets.size === 0;
    if (this.profile.hidden) this.scroll.focus();
    this.page.hold();
  }

  // Shows the values of a column beside the rows, above earlier columns.
  async openProfile(/** @type {number} */ n) {
    const column = this.table.columns[n];
    this.detail.hidden = true;
    this.selected = -1;
    this.facets.get(n)?.section.remove();
    const close = el("button", { title: "close (Escape)", "aria-label": `close ${column.name}`, onclick: () => this.closeProfile(n) }, "✕");
    const body = el("div", { class: "facts" }, el("p", {}, "…"));
    const section = el("section", { "aria-label": column.name }, el("div", { class: "bar" }, el("b", {}, column.name), el("span", { class: "space" }), close), body);
    this.facets.set(n, { section, body, asked: 0 });
    this.profile.prepend(section);
    this.profile.hidden = false;
    this.profile.focus();
    this.page.hold();
    await this.fillProfile(n);
  }

  // How many cells are null, the most frequent values, and how numbers spread: of the rows that the conditions on other columns leave.
  async fillProfile(/** @type {number} */ n) {
    const { table } = this;
    const [column, facet] = [table.columns[n], this.facets.get(n)];
    if (!facet) return;
    const { body } = facet;
    const asked = ++facet.asked;
    const { tests } = assetq.parse(this.query, table);
    const others = tests.filter((test) => test.column !== column);
    const count = async () => {
      const rows = others.length === tests.length ? this.rows : others.length ? await assetq.filter(table, others, this.shown, () => asked === facet.asked) : null;
      return rows || !others.length ? { rows, count: rows?.length ?? table.rows, ...(await assetq.profile(table, n, rows, rows?.length ?? table.rows)) } : null;
    };
    const found = await count().catch((error) => {
      body.replaceChildren();
      this.page.fault(body, error);
    });
    if (!found || asked !== facet.asked) return;
    const { nulls, counts, numbers } = found;
    const chosen = this.valuesOf(column);
    const sorted = [...counts].sort((a, b) => b[1] - a[1]);
    const top = [...sorted.slice(0, 40), ...chosen.filter((text) => !sorted.slice(0, 40).some(([one]) => one === text)).map((text) => /** @type {[string, number]} */ ([text, counts.get(text) ?? 0]))];
    const most = top[0]?.[1] || 1;
    const bar = (/** @type {number} */ share) => {
      const fill = el("i", { class: "share" });
      fill.style.width = `${(share * 100).toFixed(1)}%`;
      return fill;
    };
    const facts = [`${many(found.count)} rows`, `${many(counts.size)} distinct values`, `${many(nulls)} null`];
    if (numbers) facts.push(`from ${numbers.from} to ${numbers.to}`, `mean ${Number(numbers.mean.toPrecision(6))}`);
    if (numbers && isAmount(column)) facts.push(`sum ${numbers.sum}`);
    const acts = el("p", { class: "acts" }, el("button", { class: "pin", "aria-pressed": String(this.pinned.includes(n)), title: "keep the column in sight", onclick: ({ currentTarget }) => {
      this.pin(n, !this.pinned.includes(n));
      currentTarget.setAttribute("aria-pressed", String(this.pinned.includes(n)));
    } }, "Pin"), " ", el("button", { class: "hide", title: "hide the column", onclick: () => this.hideColumn(n) }, "Hide"));
    const focus = body.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.value : undefined;
    body.replaceChildren(acts, el("p", {}, facts.join(" · ")));
    if (numbers && numbers.bins.length > 1) {
      const highest = Math.max(...numbers.bins.map(({ count }) => count));
      body.append(el("div", { class: "histogram" }, numbers.bins.map(({ count, range, filter }) => {
        const height = el("i", {});
        height.style.height = `${(count / highest) * 100}%`;
        return el("button", { title: `${many(count)} ${range}`, "aria-label": `${count} rows ${range}`, "data-value": filter, onclick: () => this.filterBy(column, filter) }, height);
      })));
    }
    body.append(...top.map(([text, count]) => el("button", { class: "facet", title: "choose this value, or no longer", "data-value": `=${text}`,
      "aria-pressed": String(chosen.includes(text)), onclick: () => this.pick(column, text) },
    bar(count / most), el("span", {}, text === "" ? "(empty)" : text.slice(0, 120)), el("small", {}, many(count)))));
    if (counts.size > top.length) body.append(el("p", { class: "soft" }, `… and ${many(counts.size - top.length)} more values`));
    if (focus !== undefined) [.../** @type {NodeListOf<HTMLElement>} */ (body.querySelectorAll("[data-value]"))].find((one) => one.dataset.value === focus)?.focus();
  }

  // The values of a column that the filter chooses.
  valuesOf(/** @type {Column} */ column) {
    const { tests } = assetq.parse(this.input.value, this.table);
    return tests.flatMap((test) => (test.column === column && test.how === "=" && !test.isNot && !test.isEmpty ? (test.any ?? [test]).map(({ word }) => word) : []));
  }

  // Chooses a value of a column, or no longer.
  /** @type {(column: Column, text: string) => void} */
  pick(column, text) {
    const values = this.valuesOf(column);
    const next = values.includes(text) ? values.filter((one) => one !== text) : [...values, text];
    this.filterBy(column, next.length ? assetq.only(column, ...next) : "");
  }

  // Shows only the rows with some values of a column, in place of other values of it.
  /** @type {(column: Column, words: string) => void} */
  filterBy(column, words) {
    const isOther = (/** @type {string} */ token) => {
      const [test] = assetq.parse(token, this.table).tests;
      return !(test?.column === column && !test.isNot && /[=<>]/.test(test.how) && test.how !== "!=");
    };
    this.input.value = [...assetq.tokens(this.input.value).filter(isOther), words].filter(Boolean).join(" ");
    this.refilter(true);
  }

  // --- address ---

  state() {
    /** @type {AddressState} */
    const state = {};
    if (this.query) state.q = this.query;
    if (this.order) state.sort = (this.order.down ? "-" : "") + this.table.columns[this.order.n].name;
    if (this.selected >= 0) state.row = this.selected;
    if (this.facets.size) state.facets = [...this.facets.keys()].map((n) => this.table.columns[n].name).join();
    return state;
  }

  async show(/** @type {URLSearchParams} */ params) {
    const { table, page } = this;
    const sort = params.get("sort") ?? "", by = sort.replace(/^-/, "");
    const column = table.columns.find(({ name }) => name === by);
    if (by && !column) page.say(`${table.table} has no column ${by}`);
    const order = column ? { n: column.n, down: sort !== by } : null;
    const query = params.get("q") ?? "";
    if (query !== this.query || order?.n !== this.order?.n || order?.down !== this.order?.down) {
      [this.input.value, this.order] = [query, order];
      this.header();
      await this.arrange();
      this.to(0);
    }
    const facets = (params.get("facets") ?? "").split(",").flatMap((name) => table.columns.find((column) => column.name === name)?.n ?? []);
    if (facets.join() !== [...this.facets.keys()].join()) {
      this.closeProfile();
      await Promise.all(facets.map((n) => this.openProfile(n)));
    }
    const row = params.has("row") ? Number(params.get("row")) : -1;
    if (params.has("row") && !(Number.isInteger(row) && row >= 0 && row < table.rows)) {
      page.say(`${table.table} has no row ${params.get("row")}: it has ${many(table.rows)}`);
    }
    if (Number.isInteger(row) && row >= 0 && row < table.rows) {
      const at = this.placeOf(row);
      if (at >= 0) {
        this.cursor = at;
        if (at < this.top || at >= this.top + this.seen - 1) this.to(at - Math.floor(this.seen / 2));
      }
      await this.open(row);
    } else if (this.selected >= 0) {
      this.detail.hidden = true;
      this.selected = -1;
    }
    this.draw();
  }
}

/** @type {KindOf<"table">} */
assetq.kinds.table = { open: (element, part, page) => new View(element, part, page) };

// One search across all tables: how many rows of each match, with a link to them.
class Search {
  asked = 0;
  query = "";
  /** @type {number | undefined} */
  pause;

  /** @param {HTMLElement} element @param {Page} page */
  constructor(element, page) {
    this.page = page;
    this.input = el("input", { type: "search", placeholder: "search all tables …", "aria-label": "search all tables", spellcheck: "false", title: "words that a row contains (/)" });
    this.input.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.search().then(() => page.hold()), 250);
    });
    this.tally = el("span", { class: "tally", role: "status" });
    this.list = el("div", { class: "found" });
    element.append(el("div", { class: "bar" }, this.input, this.tally), this.list);
  }

  async search() {
    const asked = ++this.asked;
    const isCurrent = () => asked === this.asked;
    this.query = this.input.value.trim();
    this.list.replaceChildren();
    this.tally.textContent = "";
    if (!this.query) return;
    let [sum, hits] = [0, 0];
    const silent = [];
    for (const part of this.page.parts.filter((part) => part.kind === "table")) {
      const table = tableOf(part, this.page);
      this.tally.textContent = `… ${table.table}`;
      const { tests, faults } = assetq.parse(this.query, table);
      const all = table.columns.map((column) => column.n);
      const search = faults.length || !tests.length ? [] : assetq.filter(table, tests, all, isCurrent);
      const rows = await Promise.resolve(search).catch((error) => {
        // The other tables are searched all the same.
        if (isCurrent()) this.page.fault(this.list, new Error(`${table.table} cannot be searched: ${messageOf(error)}`));
        return [];
      });
      if (!isCurrent() || !rows) return;
      if (!rows.length) {
        silent.push(table.table);
        continue;
      }
      [sum, hits] = [sum + rows.length, hits + 1];
      const some = Array.from(rows.slice(0, 3));
      const shown = table.columns.filter((column) => column.brief).map((column) => column.n);
      const columns = await table.readable(shown.length ? shown : all.slice(0, 4), some, this.list);
      if (!isCurrent()) return;
      this.list.append(el("div", { class: "hit" }, el("a", { href: this.page.link(part.id, { q: this.query }) }, table.table), el("small", {}, `${many(rows.length)} of ${many(table.rows)}`),
        some.map((row) => el("a", { class: "row", href: this.page.link(part.id, { q: this.query, row }) }, columns.map((n) => table.text(n, row)).filter((text) => text !== null).join(" · ").slice(0, 300)))));
    }
    this.tally.textContent = sum ? `${many(sum)} rows in ${many(hits)} tables` : "no row matches";
    if (silent.length) this.list.append(el("p", { class: "soft" }, `No match: ${silent.join(", ")}`));
  }

  /** @type {() => AddressState} */
  state() { return this.query ? { q: this.query } : {}; }

  async show(/** @type {URLSearchParams} */ params) {
    const query = params.get("q") ?? "";
    if (query !== this.query) {
      this.input.value = query;
      await this.search();
    }
    this.input.focus();
  }
}

/** @type {KindOf<"search">} */
assetq.kinds.search = { open: (element, _, page) => new Search(element, page) };
