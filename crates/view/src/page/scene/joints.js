// Joints of skinned meshes: each turns around its axes, with the vertices that hang on it and the joints below it.
const { el } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const { add, dot, cross } = shapes;
const AXES = ["x", "y", "z"];
const MOST = 256; // joints that vertices can name
const REST = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]];

// Matrices are four columns of three numbers.
/** @type {(m: Point[], v: Point) => Point} */
const turned = (m, v) => [0, 1, 2].map((i) => m[0][i] * v[0] + m[1][i] * v[1] + m[2][i] * v[2]);
/** @type {(m: Point[], first: Point[]) => Point[]} */
const after = (m, first) => first.map((column, i) => (i < 3 ? turned(m, column) : add(turned(m, column), m[3])));

// A turn around an axis through a point.
/** @type {(axis: Point, point: Point, degrees: number) => Point[]} */
const turn = (axis, point, degrees) => {
  const [angle, length] = [(degrees * Math.PI) / 180, Math.hypot(...axis) || 1];
  const [a, s, c] = [axis.map((v) => v / length), Math.sin(angle), Math.cos(angle)];
  const columns = REST.slice(0, 3).map((v) => add(add(v.map((x) => x * c), cross(a, v), s), a, dot(a, v) * (1 - c)));
  return [...columns, add(point, turned(columns, point), -1)];
};

// The names of joints, those at the top first. Joints of one name turn together, as each level of detail and each file has joints of its own.
shapes.jointNames = (rigs) => {
  /** @type {(joints: Joint[], joint: Joint) => number} */
  const depth = (joints, { parent }) => (parent === null ? 0 : 1 + depth(joints, joints[parent]));
  const all = rigs.flatMap(({ joints }) => joints.map((joint) => ({ depth: depth(joints, joint), name: joint.name })));
  return [...new Set(all.sort((a, b) => a.depth - b.depth).map(({ name }) => name))];
};

// The matrices to where turned joints put vertices; null at rest.
shapes.pose = ({ joints }, names, turns) => {
  if (!Object.keys(turns).length) return null;
  /** @type {Point[][]} */
  const known = [];
  /** @type {(number: number) => Point[]} */
  const matrix = (number) => {
    const { name, parent, rest } = joints[number];
    const by = AXES.map((axis) => turns[names.indexOf(name) + axis] ?? 0);
    return (known[number] ??= by.reduce((m, degrees, axis) => (degrees ? after(m, turn(rest[axis], rest[3], degrees)) : m), parent === null ? REST : matrix(parent)));
  };
  return Float32Array.from(joints.slice(0, MOST).flatMap((_, number) => matrix(number).flat()));
};

// Controls that turn one joint at a time.
shapes.jointList = ({ joints, models }, store) => {
  if (!joints.length) return null;
  const key = () => joint.value + axis.value;
  const set = (/** @type {SceneState["turns"]} */ turns) => {
    // Armour hides the meshes, and does not turn.
    const isSeen = !Object.keys(turns).length || models.some((model) => model.rig && shapes.isWanted(store.now, model));
    store.change({ turns, ...(!isSeen && { only: null, parts: new Set(models.filter(({ part }) => part.kind === "mesh").map(({ index }) => index)) }) });
  };
  const show = () => {
    angle.value = String(store.now.turns[key()] ?? 0);
    degrees.textContent = `${angle.value}°`;
  };
  // Shows a joint. The last letter of its name may be its axis, as in Rotate_Y.
  const pick = () => {
    axis.value = /_([xyz])$/i.exec(joints[Number(joint.value)])?.[1].toLowerCase() ?? axis.value;
    show();
  };
  const joint = shapes.select("Joint", joints.map((name, i) => [String(i), assetq.clean(name)]), pick);
  const axis = shapes.select("Axis of the joint", AXES.map((name) => [name, `around ${name}`]), show);
  const degrees = el("output");
  const angle = el("input", { type: "range", min: "-180", max: "180", value: "0", "aria-label": "Angle of the joint in degrees", oninput: () => {
    const { [key()]: _, ...others } = store.now.turns;
    set(angle.value === "0" ? others : { ...others, [key()]: Number(angle.value) });
  } });
  joint.value = String(Math.max(joints.indexOf("Rotate_Y"), 0));
  pick();
  store.listen((now, before) => {
    if (now.turns === before.turns) return;
    // Turns that an address names: their last one is picked.
    const [, number, around] = /(\d+)([xyz])$/.exec(Object.keys(now.turns).at(-1) ?? "") ?? [];
    if (number && !(key() in now.turns) && !Object.keys(before.turns ?? {}).length) [joint.value, axis.value] = [number, around];
    show();
  });
  return el("div", { class: "scene-space scene-joints", role: "group", "aria-label": "Joints" }, joint, axis, angle, degrees, el("button", { title: "Put all joints back", onclick: () => set({}) }, "At rest"));
};
