// The ruler of a scene: distances between pairs of points, shown until they are cleared.
const shapes = (assetq.shapes ??= {});
const { add } = shapes;
const MOST = 12; // distances that are shown at once

// Adds `measure`, `rulePoint` and `drawRule` to a class of scenes.
shapes.Measuring = (Base) => class extends Base {
  // Pairs of points; of the last pair the second may be missing. `null` before anything was measured.
  rulerPoints = [];
  isMeasuring = false;

  // Begins to measure, or ends it. What was measured stays.
  measure() {
    this.isMeasuring = !this.isMeasuring;
    this.ruler.setAttribute("aria-pressed", String(this.isMeasuring));
    if (this.isMeasuring) this.page.say("Press two points; Escape ends, and again clears");
    else if (this.rulerPoints.length % 2) this.rulerPoints.pop();
    this.drawRule();
  }

  clearRule() {
    this.rulerPoints = [];
    this.drawRule();
  }

  rulePoint(x, y) {
    const point = this.renderer.locate(this.camera, x, y);
    if (!point) return;
    this.rulerPoints.push(point);
    if (this.rulerPoints.length > 2 * MOST) this.rulerPoints.splice(0, 2);
    this.drawRule();
    if (this.rulerPoints.length % 2) return;
    const [from, to] = this.rulerPoints.slice(-2);
    const across = add(to, from, -1);
    const axes = ["across", "up", "along"].map((name, i) => `${this.length(Math.abs(across[i]))} ${name}`);
    this.page.say(`${this.length(Math.hypot(...across))}: ${axes.join(", ")}`);
  }

  // Lays the ruler over the canvas.
  drawRule() {
    const { el } = this.page;
    const points = this.rulerPoints.map((point) => this.renderer.project(this.camera, point));
    // In shares of the canvas, as paper has another size.
    const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const at = (element, [x, y], more = {}) => (Object.assign(element.style, { left: `${(x / wide) * 100}%`, top: `${(y / high) * 100}%`, ...more }), element);
    this.rule.replaceChildren(...points.map((point) => at(el("i", { class: "end" }), point)));
    for (let i = 0; i + 1 < points.length; i += 2) {
      const [a, b] = points.slice(i, i + 2);
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
      const text = this.length(Math.hypot(...add(this.rulerPoints[i + 1], this.rulerPoints[i], -1)));
      this.rule.append(at(el("i", { class: "stroke" }), a, { width: `${(Math.hypot(dx, dy) / wide) * 100}%`, transform: `rotate(${Math.atan2(dy, dx)}rad)` }),
        at(el("b", {}, text), [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]));
    }
  }
};
