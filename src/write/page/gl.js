// Solids on a canvas by WebGL 2: each is drawn at all of its places by one call. What lies under a point is found by drawing
// numbers instead of colours, into one pixel.
const shapes = (assetq.shapes ??= {});
const NONE = 0xffffffff;

// A program is made of these with what its models need: PLATES have numbers and layers by vertex, CUT leaves out dots,
// NORMALS are in the file, PALETTE has colours by number, IMAGE has colours by texture coordinates.
const VERTEX = `
  precision highp float; precision highp int; precision highp sampler2D;
  layout(location = 0) in vec3 position;
  layout(location = 1) in vec2 folded;
  layout(location = 2) in uvec2 plate;
  layout(location = 3) in vec3 m0; layout(location = 4) in vec3 m1;
  layout(location = 5) in vec3 m2; layout(location = 6) in vec3 m3;
  uniform mat4 view; uniform vec3 low, size, eye; uniform uint first, stride, hidden, chosen, under;
  uniform vec4 colour; uniform bool isFlat; uniform sampler2D palette;
  out vec3 lit; out vec3 at; out float others; flat out uint id;
  #ifdef IMAGE
    layout(location = 7) in vec2 uv; uniform vec4 uvRange; out vec2 coordinates;
  #endif
  void main() {
    #ifdef IMAGE
      coordinates = mix(uvRange.xy, uvRange.zw, uv);
    #endif
    vec3 p = low + position * size;
    p = m0 * p.x + m1 * p.y + m2 * p.z + m3;
    gl_Position = view * vec4(p, 1.0);
    uint number = first + uint(gl_InstanceID) * stride;
    #ifdef PLATES
      number += plate.x;
      if ((hidden >> min(plate.y, 31u) & 1u) == 1u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    #endif
    #if defined(CUT) || !defined(NORMALS)
      at = p;
    #endif
    #ifdef NUMBERS
      id = number;
    #else
      vec3 base = colour.rgb;
      #ifdef IMAGE
        base = vec3(1.0);
      #endif
      #ifdef PALETTE
        base = texelFetch(palette, ivec2(int(number & 1023u), int(number >> 10)), 0).rgb;
      #endif
      float light = 1.0;
      #ifdef NORMALS
        vec3 n = vec3(folded, 1.0 - abs(folded.x) - abs(folded.y));
        if (n.z < 0.0) n.xy = (1.0 - abs(n.yx)) * vec2(n.x < 0.0 ? -1.0 : 1.0, n.y < 0.0 ? -1.0 : 1.0);
        n = normalize(mat3(m0, m1, m2) * n);
        if (!isFlat) light = 0.5 + 0.35 * abs(dot(n, eye)) + 0.15 * max(n.y * sign(dot(n, eye)), 0.0);
      #endif
      lit = base * light;
      others = number == chosen ? 0.0 : 1.0;
      if (number == chosen) lit = mix(lit, vec3(1.0, 0.55, 0.0), 0.75);
      else if (number == under) lit = mix(lit, vec3(1.0), 0.35);
    #endif
  }`;
const FRAGMENT = `
  precision highp float; precision highp int;
  in vec3 lit; in vec3 at; in float others; flat in uint id;
  uniform vec4 section, colour; uniform vec3 eye; uniform bool isFlat, seeThrough;
  out vec4 result;
  #ifdef IMAGE
    in vec2 coordinates; uniform sampler2D image;
  #endif
  void main() {
    #ifdef CUT
      if (dot(section.xyz, at) > section.w) discard;
    #endif
    #ifdef NUMBERS
      result = vec4(uvec4(id, id >> 8, id >> 16, id >> 24) & 255u) / 255.0;
    #else
      #ifdef CUT
        if (seeThrough && others > 0.5 && (int(gl_FragCoord.x) % 3 != 0 || int(gl_FragCoord.y) % 3 != 0)) discard;
      #endif
      float light = isFlat || gl_FrontFacing ? 1.0 : 0.8;
      #ifndef NORMALS
        if (!isFlat) light *= 0.5 + 0.5 * abs(dot(normalize(cross(dFdx(at), dFdy(at))), eye));
      #endif
      vec3 base = vec3(1.0);
      #ifdef IMAGE
        vec4 texel = texture(image, coordinates);
        if (texel.a < 0.25) discard;
        base = texel.rgb;
      #endif
      result = vec4(lit * base * light * colour.a, colour.a);
    #endif
  }`;
const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]];

// Where drawing takes the computer's own processor, edges are not smoothed.
const isSoftware = () => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
};

const program = (gl, needs) => {
  const made = gl.createProgram();
  const head = `#version 300 es\n${needs.split(" ").filter(Boolean).map((need) => `#define ${need}\n`).join("")}`;
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, head + text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(made).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`${gl.getProgramInfoLog(made)} ${logs.join(" ")}`);
  }
  const names = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
    const { name } = gl.getActiveUniform(made, i);
    names[name] = gl.getUniformLocation(made, name);
  }
  return { made, names };
};

// Draws `models`: { part, solid, colour, twoSided, matrices, first, stride, isShown, isFlat, lines }.
shapes.Renderer = class {
  models = [];
  section = [0, 0, 0, 1];
  hidden = 0;
  chosen = NONE;
  under = NONE;
  wireframe = false;
  seeThrough = false;
  draft = 0;
  // How slow frames are that follow each other: from 0 to 3.
  slowness = 0;
  // Colours by number, where there are any: 1024 a line.
  palette = null;
  bounds = { min: [-1, -1, -1], max: [1, 1, 1] };

  // null where the browser has no WebGL 2.
  static on(canvas, changed) {
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: !isSoftware(), powerPreference: "high-performance" });
    return gl && new shapes.Renderer(canvas, gl, changed);
  }

  constructor(canvas, gl, changed) {
    Object.assign(this, { canvas, gl });
    this.start();
    canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      for (const model of this.models) model.gpu = null;
      this.start();
      changed();
    });
  }

  start() {
    const { gl } = this;
    this.programs = new Map();
    this.textures = null;
    this.paletteTexture = null;
    this.pixel = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pixel);
    for (const [at, format] of [[gl.COLOR_ATTACHMENT0, gl.RGBA8], [gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24]]) {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, 1, 1);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, at, gl.RENDERBUFFER, buffer);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  upload(model) {
    const { gl } = this;
    const { solid, matrices } = model;
    const gpu = (model.gpu = { vao: gl.createVertexArray(), lines: null, indices: null });
    const buffer = (data, target = gl.ARRAY_BUFFER) => {
      const made = gl.createBuffer();
      gl.bindBuffer(target, made);
      gl.bufferData(target, data, gl.STATIC_DRAW);
      return { buffer: made, count: data.length };
    };
    gl.bindVertexArray(gpu.vao);
    buffer(solid.vertices);
    // Four numbers, of which the program reads three: most drivers have to copy vertices of three such numbers.
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 4, gl.UNSIGNED_SHORT, true, 8, 0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 2, gl.BYTE, true, 8, 6);
    if (solid.plates) {
      buffer(solid.plates);
      gl.enableVertexAttribArray(2);
      gl.vertexAttribIPointer(2, 2, gl.UNSIGNED_INT, 8, 0);
    }
    if (solid.uvs) {
      buffer(solid.uvs);
      gl.enableVertexAttribArray(7);
      gl.vertexAttribPointer(7, 2, gl.UNSIGNED_SHORT, true, 4, 0);
    }
    if (model.image && solid.uvs) gpu.image = this.texture(model.image);
    if (matrices) {
      buffer(matrices);
      for (let i = 0; i < 4; i++) {
        gl.enableVertexAttribArray(3 + i);
        gl.vertexAttribPointer(3 + i, 3, gl.FLOAT, false, 48, i * 12);
        gl.vertexAttribDivisor(3 + i, 1);
      }
    }
    if (solid.indices) gpu.indices = buffer(solid.indices, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindVertexArray(null);
    gpu.buffer = buffer;
    gpu.ELEMENTS = gl.ELEMENT_ARRAY_BUFFER;
  }

  // The texture of an image, which models share.
  texture(image) {
    const { gl } = this;
    this.textures ??= new Map();
    if (!this.textures.has(image)) {
      const made = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, made);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
      gl.generateMipmap(gl.TEXTURE_2D);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
      this.textures.set(image, made);
    }
    return this.textures.get(image);
  }

  // Makes the canvas as many pixels as the screen has there; fewer where it moves and drawing is slow.
  resize() {
    const scale = Math.min(devicePixelRatio || 1, 2) * [1, 1, 0.75, 0.5][this.draft];
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map((v) => Math.max(1, Math.round(v * scale)));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
  }

  view(camera) {
    const { min, max } = this.bounds;
    const middle = min.map((v, i) => (v + max[i]) / 2);
    const world = Math.hypot(...min.map((v, i) => (max[i] - v) / 2)) * 1.01;
    return camera.matrix(shapes.aspect(this.canvas), middle, world);
  }

  // Draws a frame. Of many that follow each other those after slow ones are drafts, of fewer triangles and dots. What stays
  // on the screen is none.
  draw(camera, moves = false) {
    const { gl, canvas } = this;
    if (gl.isContextLost()) return;
    this.draft = moves ? this.slowness : 0;
    this.resize();
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const shown = this.models.filter((model) => model.isShown && model.solid);
    const view = this.view(camera);
    const { eye } = camera.axes();
    this.pass("", view, eye, shown.filter((model) => model.colour[3] >= 1), false);
    // What is seen through comes last, and hides nothing behind it.
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.pass("", view, eye, shown.filter((model) => model.colour[3] < 1), false);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    this.pass("", view, eye, shown.filter((model) => model.lines && !this.wireframe), true);
  }

  // Notes how long a frame took that followed another one at once.
  took(milliseconds) {
    this.slow = milliseconds > 36 ? (this.slow ?? 0) + 1 : 0;
    if (this.slow < 3 || this.slowness === 3) return;
    this.slowness++;
    this.slow = 0;
  }

  // The program for a model, ready to draw it.
  use(extra, model, view, eye) {
    const { gl } = this;
    const cuts = this.section.some((v, i) => i < 3 && v !== 0) || (this.seeThrough && !extra);
    const usesPalette = this.palette && !extra;
    const usesImage = model.gpu?.image && !extra && !usesPalette && !this.wireframe;
    const needs = [extra, usesImage && "IMAGE", model.solid.plates && "PLATES", cuts && "CUT", model.part.normals && "NORMALS", usesPalette && "PALETTE"].filter(Boolean).join(" ");
    if (!this.programs.has(needs)) this.programs.set(needs, program(gl, needs));
    const found = this.programs.get(needs);
    if (this.current === found) return found.names;
    this.current = found;
    const { made, names } = found;
    gl.useProgram(made);
    gl.uniformMatrix4fv(names.view, false, view);
    gl.uniform3fv(names.eye ?? null, eye);
    gl.uniform4fv(names.section ?? null, this.section);
    for (const name of ["chosen", "under", "hidden"]) gl.uniform1ui(names[name] ?? null, this[name]);
    gl.uniform1i(names.seeThrough ?? null, this.seeThrough);
    if (usesPalette) this.usePalette();
    return names;
  }

  pass(extra, view, eye, models, linesToo) {
    const { gl } = this;
    this.current = null;
    for (const model of models) {
      const { part, solid } = model;
      if (!model.gpu) this.upload(model);
      const { gpu } = model;
      const names = this.use(extra, model, view, eye);
      const isLines = (this.wireframe || linesToo) && !extra;
      gl.uniform3fv(names.low, part.min);
      gl.uniform3fv(names.size, part.max.map((v, i) => v - part.min[i]));
      if (names.image) {
        gl.bindTexture(gl.TEXTURE_2D, gpu.image);
        gl.uniform4f(names.uvRange, ...part.uvs[0], ...part.uvs[1]);
      }
      gl.uniform1ui(names.first ?? null, model.first);
      gl.uniform1ui(names.stride ?? null, model.stride);
      gl.uniform4fv(names.colour ?? null, isLines ? [...model.colour.slice(0, 3), 1] : model.colour);
      gl.uniform1i(names.isFlat ?? null, isLines || !!model.isFlat);
      gl.bindVertexArray(gpu.vao);
      // Values of attributes that no array has belong to no model.
      if (!solid.plates) gl.vertexAttribI4ui(2, 0, 0, 0, 0);
      if (!model.matrices) IDENTITY.forEach((column, i) => gl.vertexAttrib3fv(3 + i, column));
      const places = model.matrices ? model.matrices.length / 12 : 1;
      const culls = !model.twoSided && !model.matrices && this.section.every((v, i) => i === 3 || !v);
      gl[culls ? "enable" : "disable"](gl.CULL_FACE);
      const indices = isLines ? this.edges(model) : this.draft && !(extra && solid.plates) ? this.coarse(model) : solid.indices && gpu.indices;
      if (indices) {
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices.buffer);
        gl.drawElementsInstanced(isLines ? gl.LINES : gl.TRIANGLES, indices.count, gl.UNSIGNED_INT, 0, places);
      } else {
        gl.drawArraysInstanced(gl.TRIANGLES, 0, part.triangles * 3, places);
      }
    }
    gl.bindVertexArray(null);
  }

  edges({ part, solid, gpu }) {
    solid.lines ??= shapes.edges(part, solid.indices);
    return (gpu.lines ??= gpu.buffer(solid.lines, gpu.ELEMENTS));
  }

  // The triangles for a draft: corners in one cell of a grid over all there is are one corner.
  coarse({ part, solid, gpu }) {
    const { min, max } = this.bounds;
    const cell = Math.max(...max.map((v, i) => v - min[i])) / [0, 256, 128, 72][this.draft];
    gpu.coarse ??= [];
    gpu.coarse[this.draft] ??= part.triangles < 64 && solid.indices ? gpu.indices : gpu.buffer(shapes.coarse(part, solid, cell), gpu.ELEMENTS);
    return gpu.coarse[this.draft];
  }

  // Gives the program the colours by number.
  usePalette() {
    const { gl, palette } = this;
    if (this.paletteTexture?.of !== palette) {
      if (this.paletteTexture) gl.deleteTexture(this.paletteTexture.made);
      this.paletteTexture = { of: palette, made: gl.createTexture() };
      gl.bindTexture(gl.TEXTURE_2D, this.paletteTexture.made);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1024, palette.length / 4096, 0, gl.RGBA, gl.UNSIGNED_BYTE, palette);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    gl.bindTexture(gl.TEXTURE_2D, this.paletteTexture.made);
  }

  // The number at a point of the page, or null. Where drawing is slow, meshes are sought roughly, but not what is pressed.
  pick(camera, x, y, isPressed) {
    const { gl, canvas } = this;
    const box = canvas.getBoundingClientRect();
    if (x < box.left || y < box.top || x >= box.right || y >= box.bottom || gl.isContextLost()) return null;
    // The view, moved and enlarged until that point fills it.
    const [nx, ny] = [((x - box.left + 0.5) / box.width) * 2 - 1, 1 - ((y - box.top + 0.5) / box.height) * 2];
    const m = this.view(camera);
    for (let column = 0; column < 16; column += 4) {
      m[column] = (m[column] - nx * m[column + 3]) * box.width;
      m[column + 1] = (m[column + 1] - ny * m[column + 3]) * box.height;
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pixel);
    gl.viewport(0, 0, 1, 1);
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.draft = isPressed ? 0 : this.slowness && 1;
    this.pass("NUMBERS", m, [0, 0, 1], this.models.filter((model) => model.isShown && model.solid), false);
    const found = new Uint8Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    const number = new DataView(found.buffer).getUint32(0, true);
    return number === NONE ? null : number;
  }
};
shapes.NONE = NONE;
shapes.aspect = (canvas) => (canvas.clientWidth || 4) / (canvas.clientHeight || 3);

// The canvas on a page of its own, with a title and a legend of [text, colour], as a PNG.
shapes.picture = (canvas, title, legend, page) => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const scale = canvas.width / Math.max(canvas.clientWidth, 1);
  const columns = Math.max(1, Math.floor(canvas.width / scale / 240));
  const lines = Math.ceil(legend.length / columns);
  const out = document.createElement("canvas");
  [out.width, out.height] = [canvas.width, Math.round(canvas.height + (lines * 20 + (lines ? 16 : 0)) * scale)];
  const pen = out.getContext("2d");
  pen.fillStyle = colour("--bg") || "#fff";
  pen.fillRect(0, 0, out.width, out.height);
  pen.drawImage(canvas, 0, 0);
  pen.scale(scale, scale);
  pen.font = "13px system-ui, sans-serif";
  pen.fillStyle = colour("--fg") || "#000";
  pen.fillText(title, 12, 22);
  legend.forEach(([text, fill], i) => {
    const [x, y] = [12 + (i % columns) * 240, canvas.height / scale + 20 + Math.floor(i / columns) * 20];
    pen.fillStyle = shapes.css(fill);
    pen.fillRect(x, y - 11, 12, 12);
    pen.fillStyle = colour("--fg") || "#000";
    pen.fillText(text, x + 18, y, 215);
  });
  out.toBlob((blob) => blob && page.save(`${title.replace(/[^\w.-]+/g, "_").slice(0, 60) || "picture"}.png`, blob), "image/png");
};
