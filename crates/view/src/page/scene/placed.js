// How a scene stands in space: the grid and the scale, parts that are moved apart or alone, and cuts.
const { el } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const CUTS = [["", "No cut"], ["0", "Cut the side"], ["1", "Cut the top"], ["2", "Cut the front"]];

// Everything outside of parts: the grid, and how far parts are moved apart.
shapes.spaceList = (contents, store, isolate) => {
  const grid = shapes.check("Grid", "A grid below, with the scale and the axes (G)", (isOn) => store.change({ grid: isOn }));
  const all = el("button", { title: "Show what was shown before (I)", onclick: () => isolate(null) }, "Show all again");
  const apart = el("input", { type: "range", min: "0", max: "100", value: "0", "aria-label": "Move parts apart", oninput: ({ currentTarget }) => store.change({ apart: Number(currentTarget.value) }) });
  store.listen((now) => {
    [grid.input.checked, all.hidden, apart.value] = [now.grid, !now.only, String(now.apart)];
  });
  return el("div", { class: "scene-space" }, grid.label, contents.isMovable && el("label", { class: "scene-check", title: "Move parts away from the middle" }, "Explode ", apart), all);
};

// Moves each part away from the middle of all, by a share of its distance to it.
shapes.spread = ({ models }, apart) => {
  const all = shapes.nowhere();
  for (const { part } of models) [part.min, part.max].forEach((point) => shapes.extend(all, point));
  for (const model of models) {
    const { min, max } = model.part;
    model.shift = apart ? [0, 1, 2].map((i) => ((min[i] + max[i] - all.min[i] - all.max[i]) / 2) * (apart / 100) * 1.5) : undefined;
  }
};

// The plane of a cut through a box: what is in front of it goes.
shapes.section = (cut, { min, max }) => {
  const plane = [0, 0, 0, 1];
  if (cut) [plane[cut.axis], plane[3]] = [cut.side, cutAt(cut, { min, max }) * cut.side];
  return plane;
};

/** @type {(cut: Cut, box: Box) => number} */
const cutAt = ({ axis, at }, { min, max }) => min[axis] + (max[axis] - min[axis]) * (at / 1000);

// A choice of the plane that cuts, and a slider for its place. At first the half toward the eye goes, so that the inside is seen.
shapes.cutControls = (store, camera, frame, length) => {
  const axis = shapes.select("Section plane", CUTS, (text) => {
    const way = Number(text);
    store.change({ cut: text === "" ? null : { axis: way, at: store.now.cut?.at ?? 500, side: camera.axes().eye[way] < 0 ? -1 : 1 } });
  });
  const change = (/** @type {Partial<Cut>} */ patch) => store.now.cut && store.change({ cut: { ...store.now.cut, ...patch } });
  const slider = el("input", { type: "range", min: "0", max: "1000", value: "500", "aria-label": "Where to cut", oninput: ({ currentTarget }) => change({ at: Number(currentTarget.value) }) });
  const place = el("output", { class: "scene-place" });
  const flip = el("button", { title: "Cut the other half away", onclick: () => change({ side: -(store.now.cut?.side ?? 1) }) }, "Flip");
  const bar = el("span", { class: "scene-cut" }, slider, place, flip);
  store.listen(({ cut }) => {
    [axis.value, bar.hidden] = [String(cut?.axis ?? ""), !cut];
    if (!cut) return;
    const { min, max } = frame();
    const at = cutAt(cut, frame());
    // The middle of a symmetric hull is 0 and not a rest of rounding.
    place.textContent = length(Math.abs(at) < (max[cut.axis] - min[cut.axis]) * 1e-4 ? 0 : at);
    slider.value = String(cut.at);
    slider.setAttribute("aria-valuetext", place.textContent);
  });
  return { axis, bar };
};

// Lets `draw` draw on a canvas over the picture, with as many pixels as the screen has there.
shapes.drawOver = (over, [width, height], draw) => {
  const scale = Math.min(devicePixelRatio || 1, 2);
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (over.width !== wide || over.height !== high) Object.assign(over, { width: wide, height: high });
  const pen = /** @type {Pen} */ (over.getContext("2d"));
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  draw(pen);
};
