// The ruler of a scene: distances between pairs of points, shown until they are cleared.
const { el } = assetq;
/** @type {Shapes} */
const shapes = assetq.shapes;
const { add } = shapes;
const MOST = 12; // distances that are shown at once

class Ruler {
  // Pairs of points; of the last pair the second may be missing.
  /** @type {Point[]} */
  points = [];
  isMeasuring = false;
  button = el("button", { "aria-pressed": "false", title: "Measure between two points (M)", onclick: () => this.measure() }, "Ruler");
  // The marks over the canvas.
  marks = el("div", { class: "scene-rule", "aria-hidden": "true" });

  // `project` gives the place of a point on `canvas`, and `length` the text of a length.
  /** @param {HTMLElement} canvas @param {(point: Point) => number[]} project @param {(value: number) => string} length @param {(text: string) => void} say */
  constructor(canvas, project, length, say) {
    this.canvas = canvas;
    this.project = project;
    this.length = length;
    this.say = say;
  }

  // Begins to measure, or ends it. What was measured stays.
  measure() {
    this.isMeasuring = !this.isMeasuring;
    this.button.setAttribute("aria-pressed", String(this.isMeasuring));
    if (this.isMeasuring) this.say("Press two points; Escape ends, and again clears");
    else if (this.points.length % 2) this.points.pop();
    this.draw();
  }

  clear() {
    this.points = [];
    this.draw();
  }

  /** @param {Point | null} point */
  add(point) {
    if (!point) return;
    this.points.push(point);
    if (this.points.length > 2 * MOST) this.points.splice(0, 2);
    this.draw();
    if (this.points.length % 2) return;
    const [from, to] = this.points.slice(-2);
    const across = add(to, from, -1);
    const axes = ["across", "up", "along"].map((name, i) => `${this.length(Math.abs(across[i]))} ${name}`);
    this.say(`${this.length(Math.hypot(...across))}: ${axes.join(", ")}`);
  }

  draw() {
    const points = this.points.map((point) => this.project(point));
    // In shares of the canvas, as paper has another size.
    const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
    /** @type {(element: HTMLElement, at: number[], more?: Record<string, string>) => HTMLElement} */
    const at = (element, [x, y], more = {}) => (Object.assign(element.style, { left: `${(x / wide) * 100}%`, top: `${(y / high) * 100}%`, ...more }), element);
    this.marks.replaceChildren(...points.map((point) => at(el("i", { class: "end" }), point)));
    for (let i = 0; i + 1 < points.length; i += 2) {
      const [a, b] = points.slice(i, i + 2);
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
      const text = this.length(Math.hypot(...add(this.points[i + 1], this.points[i], -1)));
      this.marks.append(at(el("i", { class: "stroke" }), a, { width: `${(Math.hypot(dx, dy) / wide) * 100}%`, transform: `rotate(${Math.atan2(dy, dx)}rad)` }),
        at(el("b", {}, text), [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]));
    }
  }
}
/** @typedef {typeof Ruler} RulerClass */
shapes.Ruler = Ruler;
