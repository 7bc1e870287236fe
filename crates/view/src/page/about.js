// The first part of a page of a file: what the file is, what is in it, and where to begin.
const { el, many, words } = assetq;
const SHOWN = 48;

const plural = (count, one, all = `${one}s`) => `${many(count)} ${count === 1 ? one : all}`;

// The contents of a part, in words and numbers.
const contents = {
  scene({ meta: { parts, metres, min } }) {
    const of = (kind) => parts.filter((part) => part.kind === kind);
    const plates = of("armor").reduce((sum, part) => sum + part.plates.length / 3, 0);
    const levels = new Set(parts.flatMap((part) => part.lods ?? [])).size;
    const all = [[of("mesh").length, "mesh", "meshes"], [plates, "plate"], [of("hull").length, "hull"], [of("zone").length, "hit box", "hit boxes"], [levels, "level of detail", "levels of detail"]];
    return all.filter(([count]) => count > 0).map(([count, ...names]) => plural(count, ...names));
  },
  map: ({ meta }) => [plural(meta.count, "box", "boxes"), `${plural(meta.kinds.length, "type")}`],
  image: ({ meta: { levels: [first, ...others], layers, format } }) =>
    [`${many(first.width)} × ${many(first.height)}`, format, plural(others.length + 1 - (Math.min(layers, 16) - 1), "level"), ...(layers > 1 ? [plural(layers, "layer")] : [])],
  table: ({ meta }) => [`${many(meta.rows)}${meta.more ? ` of ${meta.more.of === null ? "more" : many(meta.more.of)}` : ""} ${meta.rows === 1 ? "row" : "rows"}`, plural(meta.columns.length, "column")],
  tree: () => ["unfolds branch by branch"],
  folders: ({ meta }) => [plural(meta.of.meta.rows, "file")],
};
const CALLS = { scene: "Shapes in 3D", map: "The map", image: "The texture", folders: "The tree of folders" };

// Up to three parts to begin with: what is drawn, then graphs, then the main table and the largest others.
const starts = (parts) => {
  const of = (...kinds) => parts.filter(({ kind, meta }) => kinds.includes(kind) && !meta?.moved);
  const [main, ...tables] = of("table").filter(({ meta }) => meta.rows > 0);
  const largest = tables.toSorted((a, b) => b.meta.rows - a.meta.rows);
  return [...of("scene", "map", "image", "folders", "tree").slice(0, 2), ...(main ? [main] : []), ...largest].slice(0, 3);
};

assetq.kinds.about = {
  open(element, { meta }, page) {
    const tables = page.parts.filter((part) => part.kind === "table" && part.meta.rows > 0);
    const item = ([name, text]) => [el("dt", {}, words(name)), el("dd", {}, text)];
    const call = (part) => el("a", { class: "start", href: page.link(part.id) },
      el("b", {}, CALLS[part.kind] ?? words(part.title)), el("span", {}, contents[part.kind]?.(part).join(" · ") ?? ""));
    const count = (part) => el("li", {}, el("a", { href: page.link(part.id), title: part.meta.table }, el("b", {}, many(part.meta.rows)), ` ${words(part.meta.table)}`));
    const [first] = meta.endings ?? [];
    const ending = ({ name, count, bytes }) => {
      const share = el("i", { class: "share" });
      share.style.width = `${((count / first.count) * 100).toFixed(1)}%`;
      return el("a", { class: "facet", href: page.link("table=files", { q: `path:.${name}` }) }, share, el("span", {}, name || "(none)"), el("small", {}, many(count)), el("small", {}, bytes));
    };
    const { verify } = meta;
    const box = (title, ...children) => el("section", {}, el("h2", {}, title), ...children);
    element.append(el("div", { class: "overview", tabindex: "0", role: "region", "aria-label": "What is in the file" },
      el("p", { class: "headline" }, [meta.what, meta.game].filter(Boolean).join(" · ")),
      box("Look at", el("div", { class: "starts" }, starts(page.parts).map(call))),
      verify && box("Checks", el("p", { class: verify.isOk === false ? "verdict fault" : "verdict" }, verify.text, " ", el("code", {}, verify.command))),
      first && box("Files by type", el("div", { class: "endings" }, meta.endings.map(ending))),
      tables.length > 1 && box("In it", el("ul", { class: "counts" }, tables.slice(0, SHOWN).map(count),
        tables.length > SHOWN && el("li", {}, el("a", { href: page.link("search") }, `… and ${many(tables.length - SHOWN)} more tables`)))),
      box("File", el("dl", {}, meta.facts.flatMap(item)))));
  },
};
