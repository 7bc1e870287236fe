// Marks that place solids in space: a grid on the ground, a scale bar, and the directions of the axes.
/** @type {Shapes} */
const shapes = assetq.shapes;
const CELLS = 24; // cells of the grid along the longer side
const BAR = 140; // the greatest length of the scale bar, in pixels
const ARM = 34; // the length of an axis on the screen

// The largest of 1, 2, 5, 10, 20, 50 … that is at most `value`.
shapes.round = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([5, 2, 1].find((step) => step * power <= value * 1.000001) ?? 1);
};

// A grid below a box, as a model of lines. `unit` is the length of a unit in metres.
shapes.grid = ({ min, max }, unit) => {
  const size = Math.max(max[0] - min[0], max[2] - min[2], 1e-6);
  const step = shapes.round((size * unit * 2.4) / CELLS) / unit;
  const margin = Math.max(2, Math.round((size * 0.15) / step));
  const low = [0, 2].map((i) => Math.floor(min[i] / step) - margin);
  const counts = [0, 2].map((i, at) => Math.ceil(max[i] / step) + margin - low[at]);
  const ends = [];
  for (let i = 0; i <= counts[0]; i++) ends.push([i / counts[0], 0], [i / counts[0], 1]);
  for (let i = 0; i <= counts[1]; i++) ends.push([0, i / counts[1]], [1, i / counts[1]]);
  const words = new Uint16Array(ends.length * 4);
  ends.forEach(([x, z], i) => ((words[i * 4] = Math.round(x * 65535)), (words[i * 4 + 2] = Math.round(z * 65535))));
  const y = min[1] - (max[1] - min[1]) * 0.01;
  const part = { vertices: ends.length, triangles: 0, indexed: false, normals: true,
    min: [low[0] * step, y, low[1] * step], max: [(low[0] + counts[0]) * step, y, (low[1] + counts[1]) * step] };
  const solid = { vertices: new Uint8Array(words.buffer), words, indices: null, plates: null, lines: Uint32Array.from(ends, (_, i) => i) };
  return { part, solid, step, first: shapes.NONE, stride: 1, twoSided: true, lines: true, isFlat: true, isShown: true, colour: [0, 0, 0, 1] };
};

// Draws the scale bar and the axes into the lower left corner of a view of `width` and `height`.
shapes.drawScale = (pen, camera, [width, height], { unit, unitName, axes, ink, paper }) => {
  const [, fy] = camera.factors(width / height);
  const pixel = (2 * camera.distance) / (fy * height) * unit;
  const length = shapes.round(BAR * pixel);
  const long = length / pixel;
  const [left, bottom] = [16, height - 30];
  Object.assign(pen, { font: "12px system-ui, sans-serif", lineJoin: "round", lineCap: "butt" });
  /** @type {(words: string, x: number, y: number, align: string) => void} */
  const text = (words, x, y, align) => {
    Object.assign(pen, { textAlign: align, textBaseline: "middle", lineWidth: 3, strokeStyle: paper, fillStyle: ink });
    pen.strokeText(words, x, y);
    pen.fillText(words, x, y);
  };
  Object.assign(pen, { lineWidth: 1.5, strokeStyle: ink });
  pen.beginPath();
  pen.moveTo(left, bottom - 5);
  pen.lineTo(left, bottom);
  pen.lineTo(left + long, bottom);
  pen.lineTo(left + long, bottom - 5);
  pen.stroke();
  const amount = length.toLocaleString("en", { maximumSignificantDigits: 3 });
  text(`${amount} ${unitName}`, left + long / 2, bottom - 12, "center");
  // The axis that points to the eye is drawn last.
  const { right, up, eye } = camera.axes();
  const origin = [left + ARM + 26, bottom - 34 - ARM];
  const arms = axes.map((name, i) => ({ name, x: right[i] * ARM, y: -up[i] * ARM, near: eye[i], colour: ["#c0392b", "#2e8b3d", "#2a64c5"][i] }));
  for (const { name, x, y, near, colour } of arms.sort((a, b) => a.near - b.near)) {
    Object.assign(pen, { lineWidth: 2.5, strokeStyle: colour, fillStyle: colour });
    pen.beginPath();
    pen.moveTo(origin[0], origin[1]);
    pen.lineTo(origin[0] + x, origin[1] + y);
    pen.stroke();
    pen.beginPath();
    pen.arc(origin[0] + x, origin[1] + y, near < -0.6 ? 2 : 3.5, 0, 7);
    pen.fill();
    // Names of axes that point to the eye or away from it would overlap.
    if (Math.hypot(x, y) > ARM * 0.3) text(name, origin[0] + x * 1.22, origin[1] + y * 1.22 + (Math.abs(x) < 6 ? Math.sign(y) * 5 : 0), Math.abs(x) < 6 ? "center" : x > 0 ? "left" : "right");
  }
};
