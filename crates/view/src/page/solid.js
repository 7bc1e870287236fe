// Solids out of a block: the bytes that src/write/page/scene.rs packed, as arrays that a GPU takes.
/** @type {Shapes} */
const shapes = assetq.shapes;

// Differences of 16 bits, folded, low bytes first, into every fourth number of `out` from `at` on, or as `step` says.
/** @type {(bytes: Uint8Array, start: number, count: number, out: Uint16Array, at: number, step?: number) => void} */
const positions = (bytes, start, count, out, at, step = 4) => {
  let value = 0;
  for (let i = 0; i < count; i++) {
    const folded = bytes[start + i] | (bytes[start + count + i] << 8);
    value = (value + ((folded >> 1) ^ -(folded & 1))) & 0xffff;
    out[i * step + at] = value;
  }
};

// `vertices`: 8 bytes each: three positions of 16 bits, and two bytes of an octahedral normal. `indices` is null where
// each three vertices are a triangle. `plates`: for each vertex the number of its plate and its layer. `joints` is null where
// vertices hang on none.
shapes.unpack = (part, bytes) => {
  const count = part.vertices;
  let at = part.at;
  const words = new Uint16Array(count * 4);
  for (let axis = 0; axis < 3; axis++) {
    positions(bytes, at, count, words, axis);
    at += count * 2;
  }
  const vertices = new Uint8Array(words.buffer);
  if (part.normals) {
    for (let side = 0; side < 2; side++) {
      let value = 0;
      for (let i = 0; i < count; i++) {
        value = (value + bytes[at + i]) & 0xff;
        vertices[i * 8 + 6 + side] = value;
      }
      at += count;
    }
  }
  let indices = null;
  if (part.indexed) {
    indices = new Uint32Array(part.triangles * 3);
    let before = 0;
    for (let i = 0; i < indices.length; i++) {
      let [folded, shift, byte] = [0, 0, 0];
      do {
        byte = bytes[at++];
        folded |= (byte & 0x7f) << shift;
        shift += 7;
      } while (byte & 0x80);
      before = (before + ((folded >>> 1) ^ -(folded & 1))) >>> 0;
      indices[i] = before;
    }
  }
  let uvs = null;
  if (part.uvs) {
    uvs = new Uint16Array(count * 2);
    for (let axis = 0; axis < 2; axis++) {
      positions(bytes, at, count, uvs, axis, 2);
      at += count * 2;
    }
  }
  // Three joints and three weights, a fourth of each being 0.
  const joints = part.rig === undefined ? null : new Uint8Array(count * 8);
  for (let nth = 0; joints && nth < 6; nth++) {
    for (let i = 0; i < count; i++) joints[i * 8 + nth + (nth > 2 ? 1 : 0)] = bytes[at++];
  }
  return { vertices, words, indices, uvs, joints, plates: part.plates ? plates(part.plates, count) : null };
};

/** @type {(plates: number[], count: number) => Uint32Array} */
const plates = (plates, count) => {
  const all = new Uint32Array(count * 2);
  let vertex = 0;
  for (let plate = 0; plate * 3 < plates.length; plate++) {
    const [, layer, triangles] = plates.slice(plate * 3, plate * 3 + 3);
    for (const end = vertex + triangles * 3; vertex < end; vertex++) all.set([plate, layer], vertex * 2);
  }
  return all;
};

// Where vertex `i` is.
shapes.position = (part, words, i) =>
  [0, 1, 2].map((axis) => part.min[axis] + (words[i * 4 + axis] / 65535) * (part.max[axis] - part.min[axis]));

// Triangles of a grid with such cells: of all vertices in a cell, and of one plate, the first stands for the others.
shapes.coarse = (part, { words, indices, plates }, cell) => {
  const steps = part.max.map((v, i) => Math.max(1, Math.min(65536, Math.round((cell / Math.max(v - part.min[i], cell / 65536)) * 65536))));
  const stands = new Uint32Array(part.vertices);
  const known = new Map();
  for (let i = 0; i < part.vertices; i++) {
    let key = plates ? plates[i * 2] : 0;
    for (let axis = 0; axis < 3; axis++) key = key * 512 + Math.min(511, Math.floor(words[i * 4 + axis] / steps[axis]));
    const first = known.get(key);
    if (first === undefined) known.set(key, i);
    stands[i] = first ?? i;
  }
  const corners = [];
  for (let i = 0; i < part.triangles * 3; i += 3) {
    const [a, b, c] = [stands[indices ? indices[i] : i], stands[indices ? indices[i + 1] : i + 1], stands[indices ? indices[i + 2] : i + 2]];
    if (a !== b && b !== c && c !== a) corners.push(a, b, c);
  }
  return new Uint32Array(corners);
};

// The two ends of each edge of each triangle.
shapes.edges = (part, indices) => {
  const corners = part.triangles * 3;
  const lines = new Uint32Array(corners * 2);
  for (let i = 0; i < corners; i++) {
    const next = i % 3 === 2 ? i - 2 : i + 1;
    lines[i * 2] = indices ? indices[i] : i;
    lines[i * 2 + 1] = indices ? indices[next] : next;
  }
  return lines;
};

// The channels of a colour of a style, from 0 to 1.
shapes.channels = (css) => {
  const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext("2d"));
  pen.fillStyle = css;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data.subarray(0, 3)].map((c) => c / 255);
};

// A colour for each of some numbers: equally light, with hues as far apart as can be.
shapes.colours = (count) => Array.from({ length: count }, (_, i) => shapes.channels(`oklch(0.74 0.12 ${(i / count) * 360})`));

// A measure, rounded to four digits; counts are exact.
shapes.number = (value) => (value ?? 0).toLocaleString("en", { maximumSignificantDigits: 4 });

shapes.css = (colour) => `rgb(${colour.slice(0, 3).map((c) => Math.round(c * 255)).join(" ")})`;
