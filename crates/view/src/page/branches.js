// A tree whose items unfold: one of them is selected, by a pointer or by keys. Its items stand for values of the view that shows it.
const { el, many } = assetq;

/** @template T @typedef {{ value: T, above: Branch<T> | null, level: number, element: HTMLElement, row: HTMLElement, twist: HTMLElement, isFull: boolean, group?: HTMLElement }} Branch */
// The acts of a view: `fill` lays out what is below an item when it is first unfolded, `choose` follows the selection, and `acts` belong
// to further keys.
/** @template T @typedef {{ fill(value: T, group: HTMLElement): void, choose(value: T): void, acts?: Record<string, (value: T) => void> }} BranchActs */

let count = 0;

/** @template T */
class Branches {
  /** @type {Map<T, Branch<T>>} */
  items = new Map();
  /** @type {Map<Element, Branch<T>>} */
  byElement = new Map();
  // The item at which keys begin.
  /** @type {Branch<T> | null} */
  at = null;

  /** @param {string} label @param {string} kind @param {BranchActs<T>} acts */
  constructor(label, kind, acts) {
    this.acts = acts;
    this.tree = el("div", { class: `nodes ${kind}`, role: "tree", tabindex: "0", "aria-label": label });
    this.tree.addEventListener("keydown", (event) => this.key(event));
    this.tree.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      const item = this.byElement.get(target.closest("[role=treeitem]") ?? target);
      if (!item || target.closest("a, button, input")) return;
      // A text of a row can be marked, and is no handle.
      if (!target.closest(".text, .plain")) this.turn(item.value);
      this.select(item.value);
    });
  }

  // An item with these parts of its row, below another one or at the top.
  /** @type {(value: T, above: T | null, isFull: boolean, ...parts: Child[]) => HTMLElement} */
  item(value, above, isFull, ...parts) {
    const parent = (above === null ? null : this.items.get(above)) ?? null;
    const twist = el("span", { class: "twist" }, isFull ? "▸" : "");
    const row = el("div", { class: "node" }, twist, ...parts);
    const level = (parent?.level ?? 0) + 1;
    const element = el("div", { class: "item", role: "treeitem", id: `branch-${count++}`, "aria-level": level, "aria-expanded": isFull ? "false" : null }, row);
    const item = { value, above: parent, level, element, row, twist, isFull };
    this.items.set(value, item);
    this.byElement.set(element, item);
    return element;
  }

  // The elements of some entries: a portion of them, and a button for the next one.
  /** @template E @param {E[]} all @param {number} portion @param {(entry: E) => HTMLElement} lay @returns {HTMLElement[]} */
  portion(all, portion, lay) {
    const items = all.slice(0, portion).map(lay);
    const rest = all.slice(portion);
    if (!rest.length) return items;
    const more = el("button", { class: "more", onclick: ({ currentTarget }) => currentTarget.replaceWith(...this.portion(rest, portion, lay)) }, `… ${many(rest.length)} more`);
    return [...items, more];
  }

  clear() {
    this.items.clear();
    this.byElement.clear();
    this.at = null;
    this.tree.replaceChildren();
    this.tree.removeAttribute("aria-activedescendant");
  }

  // Folds or unfolds an item.
  turn(/** @type {T} */ value, isOpen = !this.isOpen(value)) {
    const item = this.items.get(value);
    if (!item?.isFull || (!isOpen && !item.group)) return;
    if (!item.group) {
      item.group = item.element.appendChild(el("div", { class: "group", role: "group" }));
      this.acts.fill(value, item.group);
    }
    item.group.hidden = !isOpen;
    item.element.setAttribute("aria-expanded", String(isOpen));
    item.twist.textContent = isOpen ? "▾" : "▸";
  }

  isOpen(/** @type {T} */ value) {
    const group = this.items.get(value)?.group;
    return !!group && !group.hidden;
  }

  // Marks an item as the selected one, or none; keys go on from the last one. `scroll` is where its row is put, if anywhere.
  /** @param {T | null} value @param {ScrollLogicalPosition | null} scroll */
  mark(value, scroll = null) {
    this.at?.element.removeAttribute("aria-selected");
    const item = value === null ? null : this.items.get(value);
    if (!item) return;
    this.at?.row.classList.remove("at");
    this.at = item;
    item.row.classList.add("at");
    item.element.setAttribute("aria-selected", "true");
    this.tree.setAttribute("aria-activedescendant", item.element.id);
    if (scroll) item.row.scrollIntoView({ block: scroll });
  }

  /** @param {T} value @param {ScrollLogicalPosition} scroll */
  select(value, scroll = "nearest") {
    this.mark(value, scroll);
    this.acts.choose(value);
  }

  key(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.tree) return;
    const seen = [.../** @type {NodeListOf<HTMLElement>} */ (this.tree.querySelectorAll("[role=treeitem]"))].flatMap((item) => (item.offsetParent === null ? [] : this.byElement.get(item) ?? []));
    const at = this.at && seen.includes(this.at) ? this.at : seen[0];
    if (!at) return;
    const { value } = at;
    const isOpen = this.isOpen(value);
    // The first key selects the first item.
    const move = (/** @type {number} */ by) => this.select(seen[Math.min(Math.max(0, seen.indexOf(at) + (at === this.at ? by : 0)), seen.length - 1)].value);
    /** @type {Record<string, (value: T) => void>} */
    const acts = {
      ArrowDown: () => move(1), ArrowUp: () => move(-1), PageDown: () => move(20), PageUp: () => move(-20), Home: () => move(-Infinity), End: () => move(Infinity),
      ArrowRight: () => (isOpen ? move(1) : this.turn(value, true)),
      ArrowLeft: () => (isOpen ? this.turn(value, false) : at.above && this.select(at.above.value)),
      Enter: () => this.turn(value), " ": () => this.turn(value), ...this.acts.acts,
    };
    if (!Object.hasOwn(acts, event.key)) return;
    acts[event.key](value);
    event.preventDefault();
  }
}
/** @typedef {typeof Branches} BranchesClass */
/** @template T @typedef {Branches<T>} BranchesOf */
assetq.Branches = Branches;
