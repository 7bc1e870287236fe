// The eye: where it is, and how a mouse, fingers and keys move it.
/** @type {Shapes} */
const shapes = (assetq.shapes = /** @type {any} */ ({}));
const FIELD = 0.65; // Radians from the lower edge of the view to the upper one.
const STEP = 0.08;
/** @type {Record<string, number[]>} */
const ARROWS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
/** @type {Record<string, number>} */
const ZOOMS = { "+": 1 / 1.15, "=": 1 / 1.15, "-": 1.15, PageUp: 1 / 1.15, PageDown: 1.15 };

/** @type {Shapes["add"]} */
const add = (a, b, times = 1) => a.map((v, i) => v + b[i] * times);
/** @type {Shapes["dot"]} */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/** @type {Shapes["cross"]} */
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
Object.assign(shapes, { add, dot, cross });

// The box around nothing.
shapes.nowhere = () => ({ min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] });

// Makes a box contain a point.
shapes.extend = ({ min, max }, point) => point.forEach((v, i) => ([min[i], max[i]] = [Math.min(min[i], v), Math.max(max[i], v)]));

shapes.radius = ({ min, max }) => Math.max(Math.hypot(...add(max, min, -1)) / 2, 1e-4);

// An eye that circles around a point. `yaw` 0 looks from +z, and `pitch` lifts the eye.
class Camera {
  /** @type {Point} */
  target = [0, 0, 0];
  radius = 1;
  distance = 3;
  yaw = -0.9;
  pitch = 0.35;

  // Shows all of some points, which are in a box, on a screen with this aspect ratio: as large as possible, in the middle.
  /** @type {(min: Point, max: Point, aspect: number, points?: Point[]) => void} */
  fit(min, max, aspect, points) {
    const middle = min.map((v, i) => (v + max[i]) / 2);
    const half = min.map((v, i) => (max[i] - v) / 2);
    this.radius = shapes.radius({ min, max });
    const { right, up, eye } = this.axes();
    const [fx, fy] = this.factors(aspect).map((f) => f / 0.94);
    // How far the eye must be for the point that is farthest to each side, if the target is in the middle.
    const sides = [-Infinity, -Infinity, -Infinity, -Infinity];
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => middle.map((v, i) => v + (c >> i & 1 ? half[i] : -half[i])));
    for (const point of points?.length ? points : corners) {
      const by = add(point, middle, -1);
      const [x, y, z] = [dot(right, by) * fx, dot(up, by) * fy, dot(eye, by)];
      [x, -x, y, -y].forEach((side, i) => (sides[i] = Math.max(sides[i], z + side)));
    }
    const [e, w, n, s] = sides;
    this.distance = Math.max((e + w) / 2, (n + s) / 2, this.radius * 0.01);
    this.target = add(add(middle, right, (e - w) / (2 * fx)), up, (n - s) / (2 * fy));
  }

  // How much farther a point must be than it is to the right, and than it is up, to be on the edge of the screen.
  /** @param {number} aspect */
  factors(aspect) {
    const f = 1 / Math.tan(FIELD / 2);
    return aspect < 1 ? [f, f * aspect] : [f / aspect, f];
  }

  // Directions to the right, up, and to the eye.
  axes() {
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    const eye = [sy * cp, sp, cy * cp];
    const right = [cy, 0, -sy];
    return { right, up: cross(eye, right), eye };
  }

  // The matrix from the world to a screen with this aspect ratio. `world` is the radius of the whole scene,
  // and `middle` its middle, so that nothing is clipped.
  /** @type {(aspect: number, middle: Point, world: number) => ViewMatrix} */
  matrix(aspect, middle, world) {
    const { right, up, eye } = this.axes();
    const at = add(this.target, eye, this.distance);
    const deep = dot(eye, add(at, middle, -1));
    const far = Math.max(deep + world, this.distance * 0.1);
    const near = Math.max(deep - world, far / 20000, this.distance / 500);
    const [fx, fy] = this.factors(aspect);
    const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
    const m = new Float32Array(16);
    for (let i = 0; i < 3; i++) m.set([right[i] * fx, up[i] * fy, eye[i] * a, -eye[i]], i * 4);
    m.set([-dot(right, at) * fx, -dot(up, at) * fy, -dot(eye, at) * a + b, dot(eye, at)], 12);
    // A depth `z` of the screen from -1 to 1 is `b / (z + a)` away from the eye; `pixel` is the height of the view at distance 1.
    return Object.assign(m, { depth: [a, b], pixel: 2 * Math.tan(FIELD / 2) });
  }

  /** @type {(dx: number, dy: number) => void} */
  turn(dx, dy) {
    this.yaw -= dx;
    this.pitch = Math.max(-1.57, Math.min(1.57, this.pitch + dy));
  }

  // Moves sideways, in heights of the view.
  /** @type {(dx: number, dy: number) => void} */
  pan(dx, dy) {
    const { right, up } = this.axes();
    const size = 2 * this.distance * Math.tan(FIELD / 2);
    this.target = add(add(this.target, right, -dx * size), up, dy * size);
  }

  /** @param {number} factor */
  zoom(factor) {
    this.distance = Math.max(this.radius / 2000, Math.min(this.radius * 50, this.distance * factor));
  }

  /** @type {(yaw: number, pitch: number) => void} */
  look(yaw, pitch) {
    Object.assign(this, { yaw, pitch });
  }

  // The camera as six numbers, and back; invalid ones change nothing.
  get eye() { return [this.yaw, this.pitch, this.distance, ...this.target].map((v) => Number(v.toPrecision(6))); }
  set eye(all) {
    if (all.length !== 6 || !all.every(Number.isFinite) || all[2] <= 0) return;
    [this.yaw, this.pitch, this.distance] = all;
    this.target = all.slice(3);
  }
}
/** @typedef {typeof Camera} CameraClass */
shapes.Camera = Camera;

// Follows pointers and the wheel on `canvas`: `move({ turn, pan, zoom })` says by how much, in heights of the canvas;
// `point(x, y)` where a pointer rests, and `press(x, y)` where one was pressed and not moved, in pixels of the page.
shapes.steer = (canvas, { move, point, press }) => {
  /** @type {Map<number, number[]>} */
  const fingers = new Map();
  /** @type {number[] | null} */
  let still = null;
  const place = (/** @type {MouseEvent} */ e) => [e.clientX, e.clientY];
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    canvas.focus({ preventScroll: true });
    fingers.set(e.pointerId, place(e));
    still = fingers.size === 1 && e.button === 0 ? place(e) : null;
    e.preventDefault();
  });
  canvas.addEventListener("pointermove", (e) => {
    const before = fingers.get(e.pointerId);
    const now = place(e);
    if (!before) return point(now[0], now[1]);
    const height = canvas.clientHeight || 1;
    const d = [(now[0] - before[0]) / height, (now[1] - before[1]) / height];
    if (still && Math.hypot(now[0] - still[0], now[1] - still[1]) < 4) return;
    still = null;
    if (fingers.size === 1) {
      const pans = e.buttons & 6 || e.shiftKey;
      move(pans ? { pan: d } : { turn: d });
    } else {
      const [, other] = /** @type {[number, number[]]} */ ([...fingers].find(([id]) => id !== e.pointerId));
      const apart = (/** @type {number[]} */ a) => Math.max(Math.hypot(a[0] - other[0], a[1] - other[1]), 1);
      move({ pan: [d[0] / 2, d[1] / 2], zoom: apart(before) / apart(now), at: other });
    }
    fingers.set(e.pointerId, now);
  });
  const leave = (/** @type {PointerEvent} */ e) => {
    if (fingers.delete(e.pointerId) && still && e.type === "pointerup") press(still[0], still[1]);
    still = null;
  };
  canvas.addEventListener("pointerup", leave);
  canvas.addEventListener("pointercancel", leave);
  canvas.addEventListener("pointerleave", () => fingers.size || point(-1, -1));
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const lines = e.deltaMode === 1 ? 30 : 1;
    move({ zoom: Math.exp(Math.max(-200, Math.min(200, e.deltaY * lines)) * 0.0015), at: place(e) });
  }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const arrow = ARROWS[e.key];
    const zoom = ZOOMS[e.key];
    if (arrow) move(e.shiftKey ? { pan: arrow } : { turn: arrow });
    else if (zoom) move({ zoom });
    else return;
    e.preventDefault();
  });
};

// Applies a `move` of `steer` to a camera.
shapes.follow = (camera, { turn, pan, zoom }) => {
  if (turn) camera.turn(turn[0] * 3, turn[1] * 3);
  if (pan) camera.pan(pan[0], pan[1]);
  if (zoom) camera.zoom(zoom);
};
