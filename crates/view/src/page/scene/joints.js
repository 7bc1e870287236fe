// Joints of skinned meshes: each turns around its axes, with the vertices that hang on it and the joints below it.
const shapes = (assetq.shapes ??= {});
const { add, dot, cross } = shapes;
const AXES = ["x", "y", "z"];
const MOST = 256; // joints that vertices can name
const REST = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]];

// Matrices are four columns of three numbers.
const turned = (m, v) => [0, 1, 2].map((i) => m[0][i] * v[0] + m[1][i] * v[1] + m[2][i] * v[2]);
const after = (m, first) => first.map((column, i) => (i < 3 ? turned(m, column) : add(turned(m, column), m[3])));

// A turn around an axis through a point.
const turn = (axis, point, degrees) => {
  const [angle, length] = [(degrees * Math.PI) / 180, Math.hypot(...axis) || 1];
  const [a, s, c] = [axis.map((v) => v / length), Math.sin(angle), Math.cos(angle)];
  const columns = REST.slice(0, 3).map((v) => add(add(v.map((x) => x * c), cross(a, v), s), a, dot(a, v) * (1 - c)));
  return [...columns, add(point, turned(columns, point), -1)];
};

shapes.Jointed = (Base) => class extends Base {
  // Joints of one name turn together, as each level of detail and each file has joints of its own.
  findJoints() {
    this.rigs = (this.meta.rigs ?? []).map((joints) => ({ joints, pose: null }));
    const depth = (joints, { parent }) => (parent === null ? 0 : 1 + depth(joints, joints[parent]));
    const all = this.rigs.flatMap(({ joints }) => joints.map((joint) => [depth(joints, joint), joint.name]));
    this.joints = [...new Set(all.sort(([a], [b]) => a - b).map(([, name]) => name))];
    // For each joint that was turned, by number, degrees around its axes.
    this.turns = new Map();
  }

  jointList() {
    const { el } = this.page;
    if (!this.joints.length) return null;
    const names = this.joints.map((name, i) => [String(i), this.page.clean(name)]);
    this.joint = this.select("Joint", names, () => this.showJoint(Number(this.joint.value)));
    this.turnAxis = this.select("Axis of the joint", AXES.map((axis) => [axis, `around ${axis}`]), () => this.showTurn());
    this.angle = el("input", { type: "range", min: "-180", max: "180", value: "0", "aria-label": "Angle of the joint in degrees", oninput: () => {
      this.setTurn(Number(this.joint.value), this.turnAxis.value, Number(this.angle.value));
      this.pose();
    } });
    this.degrees = el("output");
    const rest = el("button", { title: "Put all joints back", onclick: () => (this.turns.clear(), this.pose()) }, "At rest");
    this.showJoint(Math.max(this.joints.indexOf("Rotate_Y"), 0));
    return el("div", { class: "scene-space scene-joints", role: "group", "aria-label": "Joints" }, this.joint, this.turnAxis, this.angle, this.degrees, rest);
  }

  // Shows the turn of a joint. The last letter of its name may be its axis, as in Rotate_Y.
  showJoint(number) {
    this.joint.value = String(number);
    this.turnAxis.value = /_([xyz])$/i.exec(this.joints[number])?.[1].toLowerCase() ?? this.turnAxis.value;
    this.showTurn();
  }

  showTurn() {
    this.angle.value = this.turns.get(Number(this.joint.value))?.[AXES.indexOf(this.turnAxis.value)] ?? 0;
    this.degrees.textContent = `${this.angle.value}°`;
  }

  setTurn(number, axis, degrees) {
    const turns = this.turns.get(number) ?? [0, 0, 0];
    turns[AXES.indexOf(axis)] = degrees;
    this.turns.set(number, turns);
  }

  // Moves all vertices to where the joints put them.
  pose() {
    const isTurned = [...this.turns.values()].flat().some((degrees) => degrees !== 0);
    for (const rig of this.rigs) {
      const known = [];
      const matrix = (number) => {
        const { name, parent, rest } = rig.joints[number];
        const turns = this.turns.get(this.joints.indexOf(name)) ?? [];
        return (known[number] ??= turns.reduce((m, degrees, axis) => after(m, turn(rest[axis], rest[3], degrees)), parent === null ? REST : matrix(parent)));
      };
      rig.pose = isTurned ? Float32Array.from(rig.joints.slice(0, MOST).flatMap((_, number) => matrix(number).flat())) : null;
    }
    // Armour hides the meshes, and does not turn.
    if (isTurned && !this.models.some((model) => model.rig && this.isWanted(model))) this.showOnly("mesh");
    this.showTurn();
    this.rebound();
    this.holdSoon();
  }

  // The turns for the address: 1y30,2x-15.
  turnsText() {
    return [...this.turns].flatMap(([number, turns]) => turns.flatMap((degrees, axis) => (degrees ? `${number}${AXES[axis]}${degrees}` : []))).join();
  }

  showTurns(text) {
    if (!this.joints.length || text === this.turnsText()) return;
    this.turns.clear();
    for (const [, number, axis, degrees] of text.matchAll(/(\d+)([xyz])(-?\d+)/g)) {
      if (Number(number) < this.joints.length) {
        this.setTurn(Number(number), axis, Math.max(-180, Math.min(180, Number(degrees))));
        [this.joint.value, this.turnAxis.value] = [number, axis];
      } else {
        this.page.say(`There is no joint ${number} here`);
      }
    }
    this.pose();
  }
};
