// The page and its parts. A script registers itself in `assetq.kinds` under the kind of the parts that it shows:
// `open(element, part, page)` fills the element when the part is first shown, and returns a view. A view may have
// `show(params)`, called with the parameters of the address each time the user comes to the part; `state()`, which
// returns such parameters for what is shown now; and `hide()`, called when the user leaves the part.
assetq.many = (count) => count.toLocaleString("en");

// The name of a table in words: `render_sets` is "Render sets". Names that a game gave stay as they are.
assetq.words = (name) => (/^[a-z][a-z\d]*(_[a-z\d]+)*$/.test(name) ? name[0].toUpperCase() + name.slice(1).replaceAll("_", " ") : name);

// The name in `names` that needs the fewest changes to become `wanted`; null if all differ too much.
assetq.nearest = (wanted, names) => {
  /** @type {(a: string, b: string) => number} */
  const distance = (a, b) => {
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      row = next;
    }
    return row[b.length];
  };
  const lower = wanted.toLowerCase();
  const score = (/** @type {string} */ name) => (name.toLowerCase().includes(lower) || lower.includes(name.toLowerCase()) ? 0.5 : distance(lower, name.toLowerCase()));
  const [best] = names.map((name) => /** @type {[number, string]} */ ([score(name), name])).sort((a, b) => a[0] - b[0]);
  return best && best[0] <= Math.max(2, wanted.length / 2) ? best[1] : null;
};

// What is wrong, as people read it.
assetq.messageOf = (error) => (error instanceof Error ? error.message : String(error));

const { el, many, words } = assetq;
const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const LONGEST = 100_000; // characters of a text that are shown at once
const PIECE = 10_000;

// The address of what is shown. A document without an address of its own, such as a blob in a frame, cannot change its
// fragment, so that the page keeps it here.
const isAddressed = /^(https?|file):$/.test(location.protocol);
let kept = isAddressed ? "" : location.hash;
const fragment = () => (isAddressed ? location.hash : kept);

/** @type {number | undefined} */
let silence;
/** @type {Page} */
const page = {
  parts: [],
  title: document.title,
  facts: {},
  el,
  clean: assetq.clean,
  block: (name) => assetq.block(name),

  // Opens a part without showing it, as large as `width` by `height`, for a picture of it. The user may come to it meanwhile.
  async prepare(part, width, height) {
    if (!part.element) {
      const element = open(part);
      element.classList.add("unseen");
      Object.assign(element.style, { width: `${width}px`, height: `${height}px` });
    }
    await part.opened;
    return part.view;
  },
  prepared(part) {
    part.element?.classList.remove("unseen");
    part.element?.removeAttribute("style");
    if (part.element) part.element.hidden = current !== part;
  },

  // The address of a part: `#table=models&row=12`.
  link(id, params = {}) {
    const more = Object.entries(params).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
    return "#" + encodeURIComponent(id).replace(/%3D/g, "=").replace(/%2F/g, "/") + more.join("");
  },

  isAddressed,

  go(id, params = {}) {
    page.follow(page.link(id, params));
  },

  // Shows what a link of `page.link` leads to.
  follow(link) {
    if (isAddressed) {
      location.hash = link;
    } else {
      kept = link;
      show();
    }
  },

  // Puts the state of the current view into the address; with a step to go back if `isStep`.
  hold(isStep = false) {
    if (!current?.view?.state || current.isOpening) return;
    const link = page.link(current.id, current.view.state());
    if (current.item) current.item.href = link;
    // The browser reports a new address later: an address that is not shown yet must not be replaced.
    if (fragment() !== shown || link === shown) return;
    if (isAddressed) history[isStep ? "pushState" : "replaceState"](null, "", link);
    else kept = link;
    shown = fragment();
  },

  // Begins `element` with the reason why something in it is not shown; the same reason is given once.
  fault(element, error) {
    const text = `This is not complete: ${assetq.messageOf(error)}.`;
    if ([...element.children].some((child) => child.classList.contains("failed") && child.textContent === assetq.clean(text))) return;
    element.prepend(el("p", { class: "note fault failed", role: "alert" }, text));
  },

  // Waits for `work`. If it fails, `element` begins with the reason, and the result is undefined.
  async attempt(element, work) {
    try {
      return await work;
    } catch (error) {
      page.fault(element, error);
    }
  },

  // A text, or of a long one the beginning, with a button for all of it. Browsers lay pieces out as they come into view.
  long(text) {
    if (text.length <= LONGEST) return text;
    const all = el("span", { class: "long" }, text.slice(0, LONGEST), el("button", { onclick: () => {
      const pieces = Array.from({ length: Math.ceil(text.length / PIECE) }, (_, n) => el("span", {}, text.slice(n * PIECE, (n + 1) * PIECE)));
      all.replaceChildren(...pieces);
    } }, `… show all ${many(text.length)} characters`));
    return all;
  },

  // A line about what was just done.
  say(text) {
    const say = $("say");
    say.textContent = assetq.clean(text);
    say.classList.add("shown");
    clearTimeout(silence);
    silence = setTimeout(() => say.classList.remove("shown"), 4000);
  },

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Not every browser has one for pages from a disk.
      const area = el("textarea", { class: "aside" });
      area.value = text;
      document.body.append(area);
      area.select();
      const copied = document.execCommand("copy");
      area.remove();
      if (!copied) return page.say("this browser does not let a page copy");
    }
    page.say(text.length > 60 ? "copied" : `copied: ${text}`);
  },

  save(name, blob) {
    const link = el("a", { download: name.replace(/[^\w.\- ]+/g, "_") });
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  },

  // A row of one of the page's tables as pairs of a column and a text; null if the page lacks it.
  row: async () => null,
  rowLink: () => null,
  // Links from a row of a table to the views that show it as a shape: pairs of a title and a link.
  shapeLinks: (table, row) => page.parts.flatMap((part) => kindOf(part).links?.(part, table, row, page) ?? []),
};
assetq.page = page;

/** @type {(part: Part) => Kind<Part>} */
const kindOf = (part) => assetq.kinds[part.kind];

/** @type {Part | null} */
let current = null;
// The address that is shown.
let shown = "";

// The part and the parameters of the address. An empty or unknown address means the first part.
/** @type {() => [Part | undefined, URLSearchParams]} */
const address = () => {
  const [id, ...rest] = fragment().slice(1).split("&");
  let name = id;
  try {
    name = decodeURIComponent(id);
  } catch {
    // A text after the `#` that no page wrote.
  }
  const part = page.parts.find((part) => part.id === name);
  if (!part && name) {
    const near = assetq.nearest(name, page.parts.map((part) => part.id));
    page.say(`This page has no ${name}${near ? `; did you mean ${near}?` : "."}`);
  }
  return [part ?? page.parts.find((part) => !part.meta.moved) ?? page.parts[0], new URLSearchParams(part ? rest.join("&") : "")];
};

// Begins to open a part, and gives its element.
/** @type {(part: Part) => HTMLElement} */
const open = (part) => {
  const element = (part.element = el("section", { class: `part ${part.kind}`, "aria-label": part.title }));
  main.append(element);
  part.opened = (async () => { part.view = await kindOf(part).open(element, part, page); })();
  return element;
};

const show = async () => {
  const asked = (shown = fragment());
  const [part, params] = address();
  if (!part) return;
  if (current !== part) {
    current?.view?.hide?.();
    for (const other of page.parts) {
      if (other.element) other.element.hidden = other !== part;
      other.item?.removeAttribute("aria-current");
      if (other.item) other.item.tabIndex = other === part ? 0 : -1;
    }
    current = part;
    document.title = part === page.parts[0] ? page.title : `${words(assetq.clean(part.title))} · ${page.title}`;
    part.item?.setAttribute("aria-current", "page");
    part.item?.scrollIntoView({ block: "nearest" });
  }
  unfold(false);
  part.isOpening = true;
  page.prepared(part);
  const element = part.element ?? open(part);
  try {
    await part.opened;
  } catch (error) {
    page.fault(element, error);
  }
  // A part that opens slowly shows the newest address only.
  if (current !== part || shown !== asked) return;
  await page.attempt(element, part.view?.show?.(params));
  if (shown !== asked) return;
  part.isOpening = false;
  page.hold();
};

const unfold = (/** @type {boolean} */ open) => {
  document.body.classList.toggle("menu", open);
  $("menu").setAttribute("aria-expanded", String(open));
};

// Light or dark: the system's choice, until the user chooses.
const KEY = "assetq-theme";
const dark = () =>
  (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const remembered = (/** @type {string | undefined} */ value = undefined) => {
  try {
    if (value) localStorage.setItem(KEY, value);
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
};
const theme = (/** @type {string | null} */ name = null) => {
  if (name === "dark" || name === "light") document.documentElement.dataset.theme = name;
  document.dispatchEvent(new Event("assetq-theme"));
};

// Errors of the file, before everything else.
const damage = (/** @type {{ count: number, errors: string[] }} */ { errors, count }) => {
  const more = count > errors.length ? el("p", {}, `… and ${many(count - errors.length)} more`) : null;
  const list = el("ul", {}, errors.map((text) => el("li", {}, text)));
  return el("details", { class: "damage", open: true }, el("summary", {}, `This file is damaged: ${many(count)} ${count === 1 ? "error" : "errors"}`), list, more);
};

// The parts are one stop of the Tab key; arrow keys go from one to the next.
/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
const walk = (/** @type {KeyboardEvent} */ event) => {
  const by = STEPS[event.key];
  if (!by) return;
  const at = page.parts.findIndex(({ item }) => item === event.target) + by;
  page.parts[Math.min(Math.max(0, at), page.parts.length - 1)].item?.focus();
  event.preventDefault();
};

const start = () => {
  Object.assign(page, JSON.parse($("parts").textContent ?? ""));
  $("loading").remove();
  if (page.facts.damage) main.append(damage(page.facts.damage));
  const files = page.parts.find((part) => part.kind === "table" && part.id === "table=files" && part.meta.columns.some(({ name }) => name === "path"));
  if (files?.kind === "table") page.parts.splice(page.parts.indexOf(files), 0, { id: "folders", kind: "folders", title: "Folders", meta: { of: files } });
  if (page.parts.filter((part) => part.kind === "table").length > 1) {
    page.parts.push({ id: "search", kind: "search", title: "Search all tables", meta: {} });
  }
  if (page.parts.some(({ kind }) => kind === "diff")) page.parts.unshift({ id: "changes", kind: "summary", title: "What changed", meta: {} });
  if (page.facts.about) page.parts.unshift({ id: "about", kind: "about", title: "Overview", meta: page.facts.about });
  theme(remembered());
  $("theme").addEventListener("click", () => theme(remembered(dark() ? "light" : "dark") ?? (dark() ? "light" : "dark")));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());
  // The page around this one chooses for both.
  addEventListener("message", ({ data }) => theme(data));
  $("menu").addEventListener("click", () => unfold(!document.body.classList.contains("menu")));
  for (const part of page.parts) {
    const { count } = part.meta;
    const note = count === undefined ? null : el("small", {}, many(count));
    part.item = el("a", { href: page.link(part.id), class: part.kind, title: assetq.clean(part.title), tabindex: "-1" }, el("span", {}, part.kind === "table" ? words(part.title) : part.title), note);
    $("parts-of-page").append(part.item);
  }
  $("parts-of-page").addEventListener("keydown", walk);
  document.body.classList.toggle("single", page.parts.length < 2);
  addEventListener("hashchange", show);
  if (!isAddressed) addEventListener("click", (event) => {
    const link = /** @type {Element} */ (event.target).closest?.("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    page.follow(link.getAttribute("href") ?? "");
  });
  // Work that no part awaits, such as a mesh that is decoded while another is shown.
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    page.fault(current?.element ?? main, event.reason);
  });
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /** @type {Element} */ (event.target).closest?.("input, textarea, select");
    if (event.key === "Escape") {
      unfold(false);
      if (typing) /** @type {HTMLElement} */ (document.activeElement).blur();
    } else if (typing) {
      return;
    } else if (event.key === "/") {
      /** @type {HTMLElement | null | undefined} */ (current?.element?.querySelector("input[type=search]"))?.focus();
      event.preventDefault();
    } else if (current && (event.key === "[" || event.key === "]")) {
      const next = page.parts[page.parts.indexOf(current) + (event.key === "[" ? -1 : 1)];
      if (next) page.go(next.id);
    }
  });
  if (page.parts.length === 0) main.append(el("p", {}, "There is nothing to show."));
  else show();
};
// The loader runs once the document is there. The scripts that follow this one run before.
queueMicrotask(start);
