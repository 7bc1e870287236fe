// Armour as a tree: zones of the ship, their parts of one material, and plates, each with its number of plates and their thickness. What is
// selected is chosen in the scene, and what is chosen there is selected.
const { el, many } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const PORTION = 300; // plates that are laid out at once
const OPEN = 60; // parts that are laid out at first, at most

shapes.armourTree = (contents, store, box, ticks, choose) => {
  /** @type {Map<ArmourNode, { element: HTMLElement, swatch: HTMLElement, thick: HTMLElement, input?: HTMLInputElement }>} */
  const rows = new Map();
  /** @type {Set<Model>} */
  let found = new Set();
  /** @type {(all: ArmourNode[]) => HTMLElement[]} */
  const lay = (all) => branches.portion(all.filter(({ models }) => models.some((model) => found.has(model))), PORTION, (node) => {
    const { name, whole, above, models, plates, below } = node;
    const swatch = el("i", { class: "scene-swatch" });
    const thick = el("span", { class: "scene-count" });
    const tick = whole && box(name, models);
    const element = branches.item(node, above, below.length > 0, tick?.input, swatch, el("span", { class: "name", title: assetq.clean(name) }, name),
      whole && plates.length > 1 && el("span", { class: "count" }, many(plates.length)), thick);
    if (tick) [tick.item, tick.input.tabIndex] = [element, -1];
    rows.set(node, { element, swatch, thick, input: tick?.input });
    paint(node, store.now);
    return element;
  });
  // The colours of all plates, and their thickness.
  const paint = (/** @type {ArmourNode} */ node, /** @type {SceneState} */ now) => {
    const { element, swatch, thick } = rows.get(node) ?? {};
    if (!element || !swatch || !thick) return;
    const colours = shapes.coloursOf(contents, now, node.plates);
    const stripes = colours.map((colour, i) => `${colour} ${(i / colours.length) * 100}% ${((i + 1) / colours.length) * 100}%`);
    swatch.style.background = `linear-gradient(to right, ${stripes.join(", ")})`;
    const text = shapes.thickOf(contents, node.plates, now.use);
    thick.textContent = text.replace(" to ", "–");
    const count = node.whole ? `${many(node.plates.length)} ${node.plates.length === 1 ? "plate" : "plates"}` : "plate";
    element.setAttribute("aria-description", [count, text].filter(Boolean).join(", "));
  };
  /** @type {Branches<ArmourNode>} */
  const branches = new assetq.Branches("zones, parts and plates of the armour", "scene-zones", {
    fill(node, group) {
      group.append(...lay(node.below));
      ticks();
    },
    choose: (node) => choose(node, false),
    acts: { Enter: (node) => choose(node, true), " ": (node) => rows.get(node)?.input?.click() },
  });
  const mark = (/** @type {SceneState} */ now) => {
    const node = contents.nodeOf(now);
    for (const one of [node?.above?.above, node?.above]) if (one) branches.turn(one, true);
    branches.mark(node);
  };
  store.listen((now, before) => {
    if (now.by !== before.by || now.use !== before.use) for (const node of rows.keys()) paint(node, now);
    if (now.chosen === null || now.chosen !== before.chosen || now.whole !== before.whole) mark(now);
  });
  return {
    tree: branches.tree,
    lay(models) {
      found = new Set(models);
      rows.clear();
      branches.clear();
      branches.tree.append(...lay(contents.regions));
      if (models.length <= OPEN) for (const zone of contents.regions) branches.turn(zone, true);
      mark(store.now);
    },
  };
};
