// The first part of a page of a file: what the file is, what is in it, and where to begin.
const { el, many, words } = assetq;
const SHOWN = 48;

const plural = (/** @type {number} */ count, /** @type {string} */ one, all = `${one}s`) => `${many(count)} ${count === 1 ? one : all}`;

// The contents of a part, in words and numbers.
/** @type {{ [K in keyof Kinds]?: (part: PartOfKind<K>) => string[] }} */
const contents = {
  scene({ meta: { parts } }) {
    const of = (/** @type {string} */ kind) => parts.filter((part) => part.kind === kind);
    const plates = of("armor").reduce((sum, part) => sum + (part.plates?.length ?? 0) / 3, 0);
    const levels = new Set(parts.flatMap((part) => part.lods ?? [])).size;
    /** @type {[number, string, string?][]} */
    const all = [[of("mesh").length, "mesh", "meshes"], [plates, "plate"], [of("hull").length, "hull"], [of("zone").length, "hit box", "hit boxes"], [levels, "level of detail", "levels of detail"]];
    return all.filter(([count]) => count > 0).map(([count, one, all]) => plural(count, one, all));
  },
  map: ({ meta }) => [plural(meta.count, "box", "boxes"), `${plural(meta.kinds.length, "type")}`],
  image: ({ meta: { levels: [first, ...others], layers, format } }) =>
    [`${many(first.width)} × ${many(first.height)}`, format, plural(others.length + 1 - (Math.min(layers, 16) - 1), "level"), ...(layers > 1 ? [plural(layers, "layer")] : [])],
  table: ({ meta }) => [`${many(meta.rows)}${meta.more ? ` of ${meta.more.of === null ? "more" : many(meta.more.of)}` : ""} ${meta.rows === 1 ? "row" : "rows"}`, plural(meta.columns.length, "column")],
  tree: () => ["unfolds branch by branch"],
  folders: ({ meta }) => [plural(meta.of.meta.rows, "file")],
};
/** @type {<K extends keyof Kinds>(part: PartOfKind<K>) => string[]} */
const contentsOf = (part) => contents[part.kind]?.(part) ?? [];
/** @type {Partial<Record<keyof Kinds, string>>} */
const CALLS = { scene: "Shapes in 3D", map: "The map", image: "The texture", folders: "The tree of folders" };

const fullTables = (/** @type {Part[]} */ parts) => parts.filter((part) => part.kind === "table").filter(({ meta }) => meta.rows > 0);

// Up to three parts to begin with: what is drawn, then graphs, then the tables that people look for, the main one and the largest.
const starts = (/** @type {Part[]} */ parts) => {
  const of = (/** @type {string[]} */ ...kinds) => parts.filter(({ kind, meta }) => kinds.includes(kind) && !meta.moved);
  const full = fullTables(parts);
  const [main, ...tables] = full;
  const sought = full.filter(({ meta }) => meta.isSought);
  const largest = tables.toSorted((a, b) => b.meta.rows - a.meta.rows);
  const all = [...of("scene", "map", "image", "folders", "tree").slice(0, 2), ...sought, ...(main ? [main] : []), ...largest];
  return [...new Set(all)].slice(0, 3);
};

// A picture of the first part that is drawn, which leads to it. The page shows everything else first.
const still = (assetq.still = (page) => {
  const part = page.parts.find(({ kind }) => ["scene", "map", "image"].includes(kind));
  if (!part) return null;
  const box = el("a", { class: "still", href: page.link(part.id), "aria-label": CALLS[part.kind] });
  const legend = el("div", { class: "still-legend" });
  const all = el("figure", {}, box, legend);
  const draw = async () => {
    const { clientWidth, clientHeight } = box;
    if (!clientWidth || page.parts.some((one) => one !== part && one.isOpening)) return;
    const view = await page.prepare(part, clientWidth, clientHeight);
    const found = await view?.still?.();
    if (part.element?.classList.contains("unseen")) page.prepared(part);
    if (!found) return all.remove();
    found.canvas.setAttribute("aria-hidden", "true");
    box.append(found.canvas);
    legend.append(...found.legend);
    all.dataset.drawn = "1";
  };
  requestAnimationFrame(() => setTimeout(() => page.attempt(all, draw())));
  return all;
});

/** @type {KindOf<"about">} */
assetq.kinds.about = {
  open(element, { meta }, page) {
    const tables = fullTables(page.parts);
    const item = (/** @type {[string, string]} */ [name, text]) => [el("dt", {}, words(name)), el("dd", {}, text)];
    const call = (/** @type {Part} */ part) => el("a", { class: "start", href: page.link(part.id) },
      el("b", {}, (page.parts.filter(({ kind }) => kind === part.kind).length === 1 && CALLS[part.kind]) || words(part.title)), el("span", {}, contentsOf(part).join(" · ")));
    const count = (/** @type {PartOfKind<"table">} */ part) => el("li", {}, el("a", { href: page.link(part.id), title: part.meta.table }, el("b", {}, many(part.meta.rows)), ` ${words(part.meta.table)}`));
    const [first] = meta.endings;
    const ending = (/** @type {AboutMeta["endings"][0]} */ { name, count, bytes }) => {
      const share = el("i", { class: "share" });
      share.style.width = `${((count / first.count) * 100).toFixed(1)}%`;
      return el("a", { class: "facet", href: page.link("table=files", { q: `path:.${name}` }) }, share, el("span", {}, name || "(none)"), el("small", {}, many(count)), el("small", {}, bytes));
    };
    const { verify } = meta;
    const box = (/** @type {string} */ title, /** @type {(Child | Child[])[]} */ ...children) => el("section", {}, el("h2", {}, title), ...children);
    // Beside the picture, unless tables are below it: a ship has none.
    const about = box(verify ? "File" : meta.what, el("dl", {}, meta.facts.flatMap(item)));
    element.append(el("div", { class: "overview", tabindex: "0", role: "region", "aria-label": "What is in the file" },
      el("p", { class: "headline" }, [meta.what, meta.game].filter(Boolean).join(" · ")),
      el("div", { class: "first" }, still(page), el("div", {}, box("Look at", el("div", { class: "starts" }, starts(page.parts).map(call))), !tables.length && about)),
      verify && box("Checks", el("p", { class: verify.isOk === false ? "verdict fault" : "verdict" }, verify.text, " ", el("code", {}, verify.command))),
      first && box("Files by type", el("div", { class: "endings" }, meta.endings.map(ending))),
      tables.length > 1 && box("In it", el("ul", { class: "counts" }, tables.slice(0, SHOWN).map(count),
        tables.length > SHOWN && el("li", {}, el("a", { href: page.link("search") }, `… and ${many(tables.length - SHOWN)} more tables`)))),
      tables.length > 0 && about));
  },
};
