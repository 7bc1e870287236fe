// Solids on a canvas by WebGL 2: each is drawn at all of its places by one call. What lies under a point is found by drawing
// numbers instead of colours, into one pixel.
/** @type {Shapes} */
const shapes = assetq.shapes;
const NONE = 0xffffffff;

// Shader variants, selected by `#define`:
// PLATES     each vertex has the number and the layer of its plate
// CUT        leaves out what is in front of the section
// NORMALS    the file has normals
// PALETTE    colours by the number of the plate
// IMAGE      colours from an image, by texture coordinates
// SURFACE    normals, metal, roughness and occlusion from images, by texture coordinates
// SKIN       joints move the vertices
// ONLY       draws the selected parts only
// NUMBERS    draws numbers instead of colours
// DEPTH      draws depths instead of colours
const VERTEX = `
  precision highp float; precision highp int; precision highp sampler2D;
  layout(location = 0) in vec3 position;
  layout(location = 1) in vec2 folded;
  layout(location = 2) in uvec2 plate;
  layout(location = 3) in vec3 m0; layout(location = 4) in vec3 m1;
  layout(location = 5) in vec3 m2; layout(location = 6) in vec3 m3;
  uniform mat4 view; uniform vec3 low, size, eye, sun, shift; uniform uint first, stride, hidden, chosen, twin, twins, under;
  uniform vec4 colour; uniform bool isFlat; uniform sampler2D palette;
  out vec3 lit; out vec3 at; flat out uint id;
  #ifdef SURFACE
    out vec3 normal;
  #endif
  #ifdef IMAGE
    layout(location = 7) in vec2 uv; uniform vec4 uvRange; out vec2 coordinates;
  #endif
  #ifdef SKIN
    layout(location = 8) in uvec3 joints; layout(location = 9) in vec3 weights; uniform sampler2D poses;
    mat4x3 posed(uint joint) {
      vec3 c[4];
      for (int i = 0; i < 4; i++) c[i] = texelFetch(poses, ivec2(i, int(joint)), 0).xyz;
      return mat4x3(c[0], c[1], c[2], c[3]);
    }
  #endif
  void main() {
    #ifdef IMAGE
      coordinates = mix(uvRange.xy, uvRange.zw, uv);
    #endif
    vec3 p = low + position * size;
    #ifdef SKIN
      mat4x3 pose = posed(joints.x) * weights.x + posed(joints.y) * weights.y + posed(joints.z) * weights.z;
      p = pose * vec4(p, 1.0);
    #endif
    p = m0 * p.x + m1 * p.y + m2 * p.z + m3 + shift;
    gl_Position = view * vec4(p, 1.0);
    uint number = first + uint(gl_InstanceID) * stride;
    #ifdef PLATES
      number += plate.x;
      if ((hidden >> min(plate.y, 31u) & 1u) == 1u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    #endif
    bool isTwin = number - twin < twins;
    #ifdef ONLY
      if (number != chosen && !isTwin) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    #endif
    #if defined(CUT) || defined(SURFACE) || !defined(NORMALS)
      at = p;
    #endif
    id = isTwin ? chosen : number;
    vec3 base = colour.rgb;
    #ifdef IMAGE
      base = vec3(1.0);
    #endif
    #ifdef PALETTE
      vec4 own = texelFetch(palette, ivec2(int(number & 1023u), int(number >> 10)), 0);
      base = own.rgb;
      if (own.a < 0.1) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    #endif
    float light = 1.0;
    #ifdef NORMALS
      vec3 n = vec3(folded, 1.0 - abs(folded.x) - abs(folded.y));
      if (n.z < 0.0) n.xy = (1.0 - abs(n.yx)) * vec2(n.x < 0.0 ? -1.0 : 1.0, n.y < 0.0 ? -1.0 : 1.0);
      #ifdef SKIN
        n = mat3(pose) * n;
      #endif
      n = normalize(mat3(m0, m1, m2) * n);
      #ifdef SURFACE
        normal = n;
      #else
      if (dot(n, eye) < 0.0) n = -n;
      if (!isFlat) light = 0.4 + 0.12 * n.y + 0.55 * max(dot(n, sun), 0.0) + 0.12 * max(dot(n, eye), 0.0);
      #endif
    #endif
    lit = base * light;
    #ifdef SURFACE
      lit = vec3(0.0);
    #endif
    if (number == under && under != 0xffffffffu) lit = mix(lit, vec3(1.0), 0.35);
  }`;
const FRAGMENT = `
  precision highp float; precision highp int;
  in vec3 lit; in vec3 at; flat in uint id;
  uniform vec4 section, colour; uniform vec3 eye, sun; uniform bool isFlat; uniform float faded;
  out vec4 result;
  #ifdef IMAGE
    in vec2 coordinates; uniform sampler2D image;
  #endif
  #ifdef SURFACE
    in vec3 normal; uniform vec3 from; uniform sampler2D normals, metals, occlusions;
    vec3 sky(float up, float blur) { return mix(vec3(0.22, 0.21, 0.2), vec3(0.72, 0.78, 0.86), smoothstep(-blur, blur, up)); }
    // The light that a surface sends to the eye: a sun, and a sky above a floor. Colours are linear.
    vec3 shine(vec3 base) {
      vec3 dx = dFdx(at), dy = dFdy(at), v = normalize(from - at), n = normalize(normal);
      vec2 cx = dFdx(coordinates), cy = dFdy(coordinates);
      if (dot(n, v) < 0.0) n = -n;
      // The directions of both coordinates along the surface. Green of normals points against the second.
      vec3 a = cross(dy, n), b = cross(n, dx);
      vec3 t = a * cx.x + b * cy.x, s = a * cx.y + b * cy.y;
      vec3 bump = texture(normals, coordinates).xyz * 2.0 - 1.0;
      n = normalize(n + (t * bump.x - s * bump.y) * inversesqrt(max(max(dot(t, t), dot(s, s)), 1e-30)) / max(bump.z, 0.2));
      vec3 metal = texture(metals, coordinates).rgb;
      float rough = clamp(metal.g, 0.12, 1.0), free = texture(occlusions, coordinates).r;
      vec3 mirror = mix(vec3(0.04), base, metal.b), matt = base * (1.0 - metal.b), h = normalize(v + sun);
      float nv = max(dot(n, v), 1e-3), nl = max(dot(n, sun), 0.0), nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0);
      float w = rough * rough, q = nh * nh * (w * w - 1.0) + 1.0;
      float glint = w * w / (3.14159 * q * q) * 0.5 / max(mix(2.0 * nl * nv, nl + nv, w), 1e-4);
      vec3 direct = (matt / 3.14159 + glint * (mirror + (1.0 - mirror) * pow(1.0 - vh, 5.0))) * nl * 2.6;
      // How much of the sky is mirrored: Karis, "Physically Based Shading on Mobile".
      vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
      vec2 k = vec2(-1.04, 1.04) * (min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y) + r.zw;
      vec3 around = matt * sky(n.y, 1.0) + sky(reflect(-v, n).y, 0.15 + rough) * (mirror * k.x + k.y);
      return direct * mix(1.0, free, 0.5) + around * free;
    }
  #endif
  void main() {
    #ifdef CUT
      if (dot(section.xyz, at) > section.w) discard;
    #endif
    #if defined(NUMBERS)
      result = vec4(uvec4(id, id >> 8, id >> 16, id >> 24) & 255u) / 255.0;
    #elif defined(DEPTH)
      uint depth = uint(gl_FragCoord.z * 16777215.0);
      result = vec4(uvec4(depth, depth >> 8, depth >> 16, 255u) & 255u) / 255.0;
    #else
      float light = isFlat || gl_FrontFacing ? 1.0 : 0.85;
      #ifndef NORMALS
        vec3 n = normalize(cross(dFdx(at), dFdy(at)));
        if (dot(n, eye) < 0.0) n = -n;
        if (!isFlat) light *= 0.4 + 0.12 * n.y + 0.55 * max(dot(n, sun), 0.0) + 0.12 * max(dot(n, eye), 0.0);
      #endif
      vec3 base = vec3(1.0);
      #ifdef IMAGE
        vec4 texel = texture(image, coordinates);
        if (texel.a < 0.25) discard;
        base = texel.rgb;
      #endif
      float alpha = colour.a * faded;
      #ifdef SURFACE
        // From sRGB and back; bright colours are compressed.
        vec3 c = shine(pow(base, vec3(2.2)));
        c = pow(c * (1.0 + c / 4.0) / (1.0 + c), vec3(1.0 / 2.2));
        result = vec4(min(mix(c, vec3(1.0), lit), 1.0) * alpha, alpha);
      #else
        result = vec4(min(lit * base * light, 1.0) * alpha, alpha);
      #endif
    #endif
  }`;
// The overlay of a still frame: lines where numbers, depths or slopes change, shade in corners, shadows, and an outline of what is
// chosen. Depths in a plane are linear on the screen, so that their second differences show what is bent. A still has `fine` times as many
// dots in a row as the screen.
const OVER_VERTEX = `
  void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;
const OVER_HEAD = `
  precision highp float; precision highp int;
  uniform highp sampler2D depths; uniform vec2 depth, last; uniform float pixel, fine;
  float z(vec2 at) { return texelFetch(depths, ivec2(clamp(at, vec2(0.0), last)), 0).r; }
  float distant(float z) { return depth.y / (z * 2.0 - 1.0 + depth.x); }
  // How far a difference of depths is, in widths of a dot at this place.
  float unit(float far) { return 2.0 * far / abs(depth.y) / pixel; }`;
// Shade of corners and shadows, for each dot of the screen. Neighbours look into sixteen sets of directions, whose mean the overlay takes.
const SHADE_FRAGMENT = `${OVER_HEAD}
  uniform highp sampler2DShadow shadows; uniform mat4 light;
  uniform vec3 from, ahead, across, upward, sun; uniform float reach, floor, casts, grain;
  out vec4 result;
  const float TURNS[16] = float[16](0.0, 8.0, 2.0, 10.0, 12.0, 4.0, 14.0, 6.0, 3.0, 11.0, 1.0, 9.0, 15.0, 7.0, 13.0, 5.0);
  vec3 ray(vec2 at) { vec2 n = (at / (last + 1.0)) * 2.0 - 1.0; return ahead + across * n.x + upward * n.y; }
  vec3 place(vec2 at) { return from + ray(at) * distant(z(at)); }
  // The difference to the neighbour that is nearer in depth: the other one may be of another surface.
  vec3 slope(vec2 at, vec2 by, float here) {
    bool isNext = abs(z(at + by) - here) < abs(z(at - by) - here);
    return isNext ? place(at + by) - place(at) : place(at) - place(at - by);
  }
  void main() {
    vec2 at = gl_FragCoord.xy * fine;
    ivec2 cell = ivec2(gl_FragCoord.xy) & 3;
    float turn = TURNS[cell.x + cell.y * 4] / 16.0 * 3.14159, here = z(at), far = distant(here), shade = 0.0;
    if (here < 1.0) {
      float radius = clamp(reach / (far * pixel), 3.0 * fine, 48.0 * fine);
      for (int i = 0; i < 6; i++) {
        float angle = turn + float(i) * 0.5236, length = radius * (0.35 + 0.65 * fract(float(i) * 0.618 + turn));
        vec2 by = vec2(cos(angle), sin(angle)) * length;
        float deeper = (here * 2.0 - z(at + by) - z(at - by)) * unit(far) * 0.5 / length;
        shade += clamp(deeper, 0.0, 1.0) * (1.0 - smoothstep(1.5, 4.0, deeper));
      }
      shade = min(shade / 6.0 * 1.1, 0.55);
    }
    if (casts > 0.0) {
      vec3 p = vec3(0.0), way = ray(at);
      float strength = 0.0, down = (floor - from.y) / min(way.y, -1e-6);
      if (here < 1.0) {
        p = place(at);
        vec3 n = normalize(cross(slope(at, vec2(1.0, 0.0), here), slope(at, vec2(0.0, 1.0), here)));
        if (dot(n, ahead) > 0.0) n = -n;
        strength = casts * smoothstep(0.05, 0.3, dot(n, sun));
        p += n * grain * 3.0;
      } else if (way.y < 0.0 && down > 0.0) {
        p = from + way * down;
        strength = casts * 0.6;
      }
      if (strength > 0.0) {
        float lit = 0.0;
        for (int i = 0; i < 4; i++) {
          float angle = turn * 2.0 + float(i) * 1.5708;
          vec4 q = light * vec4(p, 1.0) * 0.5 + 0.5;
          lit += texture(shadows, vec3(q.xy + vec2(cos(angle), sin(angle)) * (1.0 + turn) / 2048.0, min(q.z - 0.001, 1.0)));
        }
        shade = 1.0 - (1.0 - shade) * (1.0 - strength * (1.0 - lit / 4.0));
      }
    }
    result = vec4(shade);
  }`;
const OVER_FRAGMENT = `${OVER_HEAD}
  uniform highp sampler2D numbers, shaded; uniform float shades, lines; uniform uint chosen; uniform vec3 mark;
  out vec4 result;
  uint id(vec2 by) {
    uvec4 b = uvec4(texelFetch(numbers, ivec2(clamp(gl_FragCoord.xy + by * fine, vec2(0.0), last)), 0) * 255.0 + 0.5);
    return b.x | b.y << 8 | b.z << 16 | b.w << 24;
  }
  float deep(vec2 by) { return z(gl_FragCoord.xy + by * fine); }
  void main() {
    float here = deep(vec2(0.0)), far = distant(here), unit = unit(far) / fine;
    uint own = id(vec2(0.0)), right = id(vec2(1.0, 0.0)), up = id(vec2(0.0, 1.0));
    vec2 bend = abs(vec2(deep(vec2(-1.0, 0.0)) + deep(vec2(1.0, 0.0)), deep(vec2(0.0, -1.0)) + deep(vec2(0.0, 1.0))) - 2.0 * here) * unit;
    float line = smoothstep(0.7, 2.0, max(bend.x, bend.y)) * (here < 1.0 ? 1.0 : 0.0);
    if (own != right || own != up) line = max(line, 0.55);
    // An edge goes on in some direction; where all directions bend, triangles are smaller than dots. What is thinner
    // than a line keeps its colour.
    float least = 1e9, thin = 0.0;
    vec2 ways[4] = vec2[4](vec2(2.0, 0.0), vec2(0.0, 2.0), vec2(2.0, 2.0), vec2(2.0, -2.0));
    for (int i = 0; i < 4; i++) {
      float a = deep(ways[i]) - here, b = deep(-ways[i]) - here;
      least = min(least, abs(a + b) * unit);
      thin = max(thin, min(a, b) * unit);
    }
    line *= 1.0 - 0.85 * max(smoothstep(1.0, 4.0, least), smoothstep(4.0, 12.0, thin));
    // The mean shade of the neighbours on the same surface.
    float shade = 0.0, weights = 0.0;
    if (shades > 0.0) {
      ivec2 first = ivec2(floor(gl_FragCoord.xy / fine - 0.5)) - 1, most = textureSize(shaded, 0) - 1;
      for (int i = 0; i < 16; i++) {
        ivec2 cell = clamp(first + ivec2(i & 3, i >> 2), ivec2(0), most);
        float there = z((vec2(cell) + 0.5) * fine);
        float weight = (here < 1.0) == (there < 1.0) ? max(1.0 - abs(there - here) * unit / 24.0, 0.0) : 0.0;
        shade += texelFetch(shaded, cell, 0).r * weight;
        weights += weight;
      }
      shade *= shades / max(weights, 1e-4);
    }
    result = vec4(0.0, 0.0, 0.0, 1.0 - (1.0 - shade) * (1.0 - line * lines));
    if (chosen != 0xffffffffu) {
      float near = 0.0;
      for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++) if ((id(vec2(x, y)) == chosen) != (own == chosen)) near = 1.0;
      if (near > 0.0) result = vec4(mark, 1.0);
    }
  }`;
// The width of the map of what the sun sees.
const SHADOWS = 2048;
// The most dots of a still.
const MOST_DOTS = 1 << 24;
// The texels of a surface without images: straight, rough and free.
const PLAIN = [[255, 255, 255, 255], [128, 128, 255, 255], [255, 204, 26, 255], [255, 255, 255, 255]].map((texel) => Uint8Array.from(texel));
const IMAGES = ["image", "normals", "metals", "occlusions"];
const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]];

// Where drawing takes the computer's own processor, edges are not smoothed.
const isSoftware = () => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
};

// The background of a picture on the page: red, green and blue.
const paper = () => shapes.channels(getComputedStyle(document.documentElement).getPropertyValue("--card").trim() || "#fff");

/** @type {(gl: WebGL2RenderingContext, needs: string, texts?: string[]) => GlProgram} */
const program = (gl, needs, texts = [VERTEX, FRAGMENT]) => {
  const made = gl.createProgram();
  const head = `#version 300 es\n${needs.split(" ").filter(Boolean).map((need) => `#define ${need}\n`).join("")}`;
  for (const [kind, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, texts[0]], [gl.FRAGMENT_SHADER, texts[1]]])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, head + text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = (gl.getAttachedShaders(made) ?? []).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`${gl.getProgramInfoLog(made)} ${logs.join(" ")}`);
  }
  /** @type {GlProgram["names"]} */
  const names = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
    const name = gl.getActiveUniform(made, i)?.name ?? "";
    const at = gl.getUniformLocation(made, name);
    if (at) names[name] = at;
  }
  return { made, names };
};

class Renderer {
  // Whether the quality rose after the last slow frames, and whether frames have neither lines nor shades.
  hasRisen = false;
  plain = false;

  /** @type {Drawn[]} */
  models = [];
  section = [0, 0, 0, 1];
  hidden = 0;
  chosen = NONE;
  under = NONE;
  wireframe = false;
  seeThrough = false;
  // Whether all but what is chosen fades, whatever hides it.
  fades = true;
  draft = 0;
  // How many times as many dots in a row as the screen has a picture is to have.
  enlarged = 1;
  // How many times as many dots than that are drawn, which become one: more than 1 for what stays on the screen.
  fine = 1;
  // Whether nothing moved for a while: if the processor draws, only then are stills fine.
  rests = false;
  // Whether the palette hides numbers, by an opacity of 0.
  sieves = false;
  // How roughly frames that follow each other are drawn: from 0 to 4. Slow frames raise it, and many fast ones lower it.
  slowness = 0;
  slow = 0;
  fast = 0;
  patience = 12;
  // Colours by number, if any: 1024 a line.
  /** @type {Uint8Array | null} */
  palette = null;
  /** @type {Box} */
  bounds = { min: [-1, -1, -1], max: [1, 1, 1] };
  /** @type {Point | undefined} */
  sun;
  /** @type {Point | undefined} */
  from;
  faded = 1;
  isPicking = false;
  /** @type {WebGLSync | null} */
  fence = null;
  /** @type {GlProgram | null} */
  current = null;

  // Objects of the GPU, which are lost with its context.
  /** @type {Map<string, GlProgram>} */
  programs = new Map();
  /** @type {Map<TexImageSource | Uint8Array, WebGLTexture>} */
  textures = new Map();
  /** @type {Map<Rig, { of: Float32Array | null, made: WebGLTexture }>} */
  poses = new Map();
  /** @type {{ of: Uint8Array, made: WebGLTexture } | null} */
  paletteTexture = null;
  /** @type {GlScreen | null} */
  screen = null;
  /** @type {GlProgram | null} */
  over = null;
  /** @type {GlProgram | null} */
  shade = null;
  /** @type {{ frame: WebGLFramebuffer, depths: WebGLTexture } | null} */
  sunlight = null;
  /** @type {WebGLFramebuffer | null} */
  pixel = null;

  // null where the browser has no WebGL 2.
  /** @param {HTMLCanvasElement} canvas @param {() => void} changed */
  static on(canvas, changed) {
    const software = isSoftware();
    // An opaque canvas costs the browser less to lay on the page: a third of all work, if the processor draws.
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: !software, powerPreference: "high-performance" });
    return gl && new Renderer(canvas, gl, changed, software);
  }

  /** @param {HTMLCanvasElement} canvas @param {WebGL2RenderingContext} gl @param {() => void} changed @param {boolean} software */
  constructor(canvas, gl, changed, software) {
    this.canvas = canvas;
    this.gl = gl;
    this.software = software;
    this.start();
    this.paper = paper();
    document.addEventListener("assetq-theme", () => ((this.paper = paper()), changed()));
    canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      for (const model of this.models) model.gpu = null;
      this.start();
      changed();
    });
  }

  start() {
    const { gl } = this;
    for (const made of [this.programs, this.textures, this.poses]) made.clear();
    this.paletteTexture = this.screen = this.over = this.shade = this.sunlight = null;
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

  /** @type {(model: DrawnSolid) => Gpu} */
  upload(model) {
    const { gl } = this;
    const { solid, matrices } = model;
    /** @type {Gpu["buffer"]} */
    const buffer = (data, target = gl.ARRAY_BUFFER) => {
      const made = gl.createBuffer();
      gl.bindBuffer(target, made);
      gl.bufferData(target, data, gl.STATIC_DRAW);
      return { buffer: made, count: data.length };
    };
    /** @type {Gpu} */
    const gpu = { vao: gl.createVertexArray(), lines: null, indices: null, images: null, coarse: [], buffer, ELEMENTS: gl.ELEMENT_ARRAY_BUFFER };
    gl.bindVertexArray(gpu.vao);
    buffer(solid.vertices);
    // Four numbers; the program reads three. Most drivers have to copy vertices of three such numbers.
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
    if (solid.joints) {
      buffer(solid.joints);
      gl.enableVertexAttribArray(8);
      gl.vertexAttribIPointer(8, 3, gl.UNSIGNED_BYTE, 8, 0);
      gl.enableVertexAttribArray(9);
      gl.vertexAttribPointer(9, 3, gl.UNSIGNED_BYTE, true, 8, 4);
    }
    if (model.images?.[0] && solid.uvs) gpu.images = model.images.map((image, i) => this.texture(image ?? PLAIN[i]));
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
    return gpu;
  }

  // The texture of an image, which models share.
  /** @param {TexImageSource | Uint8Array} image */
  texture(image) {
    const { gl } = this;
    let made = this.textures.get(image);
    if (!made) {
      made = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, made);
      if (image instanceof Uint8Array) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, image);
      else gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
      gl.generateMipmap(gl.TEXTURE_2D);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
      this.textures.set(image, made);
    }
    return made;
  }

  // Makes the canvas as many dots as the screen has there; fewer where it moves and drawing is slow, and more for a still, which the
  // browser scales down.
  /** @param {boolean} isStill */
  resize(isStill) {
    const scale = Math.min(devicePixelRatio || 1, 2) * [1, 1, 0.75, 0.5, 0.4][this.draft] * this.enlarged;
    const most = this.gl.getParameter(this.gl.MAX_RENDERBUFFER_SIZE);
    const sides = [this.canvas.clientWidth, this.canvas.clientHeight];
    const least = Math.min(scale, most / Math.max(...sides));
    const fits = isStill ? Math.max(least, Math.min(scale * 2, most / Math.max(...sides), Math.sqrt(MOST_DOTS / (sides[0] * sides[1] || 1)))) : least;
    this.fine = fits / least;
    const [width, height] = sides.map((v) => Math.max(1, Math.round(v * fits)));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
  }

  /** @param {Camera} camera */
  view(camera) {
    const { min, max } = this.bounds;
    const middle = min.map((v, i) => (v + max[i]) / 2);
    const world = Math.hypot(...min.map((v, i) => (max[i] - v) / 2)) * 1.01;
    return camera.matrix(shapes.aspect(this.canvas), middle, world);
  }

  // The models that are shown and decoded.
  get shown() { return /** @type {DrawnSolid[]} */ (this.models.filter((model) => model.isShown && model.solid)); }

  // Draws by `draw` a picture of `times` as many dots in a row as the screen has.
  /** @type {(times: number, draw: () => void) => void} */
  finest(times, draw) {
    [this.enlarged, this.rests] = [times, true];
    draw();
    [this.enlarged, this.rests] = [1, false];
  }

  // Draws a frame. Frames that follow each other are drafts if drawing is slow: of fewer triangles and dots. What stays on
  // the screen is no draft, and gets lines and shades.
  /** @param {Camera} camera */
  draw(camera, moves = false) {
    const { gl, canvas } = this;
    if (gl.isContextLost()) return;
    this.draft = moves ? this.slowness : 0;
    const isStill = !moves && !this.plain && !this.wireframe && (this.rests || !this.software);
    this.resize(isStill);
    const began = performance.now();
    gl.viewport(0, 0, canvas.width, canvas.height);
    const [red, green, blue] = this.paper;
    gl.clearColor(red, green, blue, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const shown = this.shown;
    const view = this.view(camera);
    const { eye, right, up } = camera.axes();
    this.sun = [0, 1, 2].map((i) => (0.55 * eye[i] + 0.75 * up[i] - 0.45 * right[i]) / 1.034);
    this.from = camera.target.map((v, i) => v + eye[i] * camera.distance);
    const isFaded = this.chosen !== NONE && this.fades;
    const isGlass = isFaded || this.seeThrough;
    this.faded = isFaded ? 0.14 : this.seeThrough ? 0.35 : 1;
    if (!isGlass) this.pass("", view, eye, shown.filter((model) => model.colour[3] >= 1), false);
    // Transparent parts are drawn last, and hide nothing.
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.pass("", view, eye, isGlass ? shown : shown.filter((model) => model.colour[3] < 1), false);
    gl.depthMask(true);
    this.faded = 1;
    if (isGlass && this.chosen !== NONE) {
      gl.clear(gl.DEPTH_BUFFER_BIT);
      this.pass("ONLY", view, eye, shown, false);
    }
    gl.disable(gl.BLEND);
    this.pass("", view, eye, shown.filter((model) => model.lines && !this.wireframe), true);
    const isWhole = !moves || (this.slowness === 0 && !this.software);
    if (isWhole && !this.plain) this.drawOver(view, camera, shown, isGlass, isStill);
    if (moves) this.measure(began);
  }

  // Draws lines, shades and the outline of what is chosen over a frame; over a still one also shadows.
  /** @type {(view: ViewMatrix, camera: Camera, shown: DrawnSolid[], isGlass: boolean, isStill: boolean) => void} */
  drawOver(view, camera, shown, isGlass, isStill) {
    const { gl, canvas } = this;
    const { eye, right, up } = camera.axes();
    const [from, sun] = [this.from ?? eye, this.sun ?? eye];
    const [width, height] = [canvas.width, canvas.height];
    const isFit = this.screen && this.screen.width === width && this.screen.height === height && this.screen.fine === this.fine;
    const { frame, shadeFrame, cells, depths, numbers, shaded } = (this.screen = (isFit && this.screen) || this.makeScreen(width, height));
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.pass("NUMBERS", view, eye, shown.filter((model) => !model.lines), false);
    if (isGlass && this.chosen !== NONE) {
      gl.clear(gl.DEPTH_BUFFER_BIT);
      this.pass("NUMBERS ONLY", view, eye, shown, false);
    }
    const { min, max } = this.bounds;
    const hasShades = !isGlass && !this.wireframe;
    const casters = hasShades && isStill && sun[1] > 0.15 ? shown.filter((model) => !model.lines && !model.isFlat && model.colour[3] >= 1) : [];
    const light = casters.length ? this.drawShadows(casters, sun) : null;
    gl.disable(gl.DEPTH_TEST);
    if (hasShades) {
      this.shade ??= program(gl, "", [OVER_VERTEX, SHADE_FRAGMENT]);
      gl.bindFramebuffer(gl.FRAMEBUFFER, shadeFrame);
      gl.viewport(0, 0, cells[0], cells[1]);
      const names = this.useOver(this.shade, view, { depths, shadows: this.sunlight?.depths ?? null });
      const [fx, fy] = camera.factors(shapes.aspect(canvas));
      /** @type {Record<string, Point>} */
      const ways = { from, ahead: eye.map((v) => -v), across: right.map((v) => v / fx), upward: up.map((v) => v / fy), sun };
      for (const [name, way] of Object.entries(ways)) gl.uniform3fv(names[name] ?? null, way);
      gl.uniform1f(names.reach, Math.hypot(...max.map((v, i) => v - min[i])) * 0.02);
      gl.uniform1f(names.floor, min[1]);
      gl.uniform1f(names.casts, light ? 0.4 : 0);
      gl.uniform1f(names.grain, light?.grain ?? 0);
      gl.uniformMatrix4fv(names.light, false, light?.matrix ?? view);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      gl.viewport(0, 0, width, height);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.over ??= program(gl, "", [OVER_VERTEX, OVER_FRAGMENT]);
    const names = this.useOver(this.over, view, { depths, numbers, shaded });
    gl.uniform1f(names.shades, hasShades ? 1 : 0);
    gl.uniform1f(names.lines, this.wireframe ? 0 : isGlass ? 0.25 : 0.5);
    gl.uniform1ui(names.chosen, this.chosen);
    gl.uniform3f(names.mark, 1, 0.1, 0.7);
    gl.enable(gl.BLEND);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    this.current = null;
  }

  // Begins a pass over the whole screen with these textures.
  /** @type {(program: GlProgram, view: ViewMatrix, textures: Record<string, WebGLTexture | null>) => GlProgram["names"]} */
  useOver({ made, names }, view, textures) {
    const { gl } = this;
    this.current = null;
    gl.useProgram(made);
    Object.entries(textures).forEach(([name, texture], i) => {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(names[name] ?? null, i);
    });
    gl.activeTexture(gl.TEXTURE0);
    const { width, height } = this.canvas;
    gl.uniform2f(names.depth, view.depth[0], view.depth[1]);
    gl.uniform2f(names.last, width - 1, height - 1);
    gl.uniform1f(names.pixel, view.pixel / Math.min(width, height));
    gl.uniform1f(names.fine, this.fine);
    return names;
  }

  // Draws what the sun sees of `models`. Returns the matrix from the world to it, and the width of a dot of it in the world.
  /** @type {(models: DrawnSolid[], sun: Point) => { matrix: Float32Array, grain: number }} */
  drawShadows(models, sun) {
    const { gl } = this;
    const { min, max } = this.bounds;
    const middle = min.map((v, i) => (v + max[i]) / 2);
    const radius = Math.hypot(...max.map((v, i) => v - middle[i])) || 1;
    const side = Math.hypot(sun[0], sun[2]);
    const right = side ? [sun[2] / side, 0, -sun[0] / side] : [1, 0, 0];
    const axes = [right, shapes.cross(sun, right), sun.map((v) => -v)];
    const matrix = new Float32Array(16);
    axes.forEach((axis, row) => {
      axis.forEach((v, i) => (matrix[i * 4 + row] = v / radius));
      matrix[12 + row] = -axis.reduce((sum, v, i) => sum + v * middle[i], 0) / radius;
    });
    matrix[15] = 1;
    if (!this.sunlight) {
      const frame = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      const depths = this.target(gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, gl.DEPTH_ATTACHMENT, SHADOWS, SHADOWS, gl.LINEAR);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
      this.sunlight = { frame, depths };
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.sunlight.frame);
    gl.viewport(0, 0, SHADOWS, SHADOWS);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.pass("NUMBERS", matrix, sun, models, false);
    return { matrix, grain: (2 * radius) / SHADOWS };
  }

  // A texture that passes draw into, at a place of the frame that is bound.
  /** @type {(inner: number, format: number, type: number, at: number, width: number, height: number, filter?: number) => WebGLTexture} */
  target(inner, format, type, at, width, height, filter = this.gl.NEAREST) {
    const { gl } = this;
    const made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texImage2D(gl.TEXTURE_2D, 0, inner, width, height, 0, format, type, null);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, at, gl.TEXTURE_2D, made, 0);
    return made;
  }

  /** @type {(width: number, height: number) => GlScreen} */
  makeScreen(width, height) {
    const { gl, fine } = this;
    if (this.screen) [this.screen.depths, this.screen.numbers, this.screen.shaded].forEach((made) => gl.deleteTexture(made));
    const [frame, shadeFrame] = [this.screen?.frame ?? gl.createFramebuffer(), this.screen?.shadeFrame ?? gl.createFramebuffer()];
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const numbers = this.target(gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, gl.COLOR_ATTACHMENT0, width, height);
    const depths = this.target(gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, gl.DEPTH_ATTACHMENT, width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, shadeFrame);
    const cells = [width, height].map((side) => Math.ceil(side / fine));
    const shaded = this.target(gl.R8, gl.RED, gl.UNSIGNED_BYTE, gl.COLOR_ATTACHMENT0, cells[0], cells[1]);
    return { width, height, fine, cells, frame, shadeFrame, numbers, depths, shaded };
  }

  // Measures how long the GPU takes for a frame, from the call to the end of drawing; one frame at a time.
  /** @param {number} began */
  measure(began) {
    const { gl } = this;
    const fence = this.fence ? null : gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence) return;
    this.fence = fence;
    gl.flush();
    const look = () => {
      if (gl.isContextLost()) return (this.fence = null);
      const status = gl.clientWaitSync(fence, 0, 0);
      if (status === gl.TIMEOUT_EXPIRED && performance.now() - began < 2000) return setTimeout(look, 1);
      gl.deleteSync(fence);
      this.fence = null;
      this.took(performance.now() - began);
    };
    setTimeout(look, 1);
  }

  // Notes how long a frame took to draw.
  /** @param {number} milliseconds */
  took(milliseconds) {
    this.slow = milliseconds > 30 ? this.slow + 1 : 0;
    this.fast = milliseconds < 14 ? this.fast + 1 : 0;
    if (this.slow >= 3 && this.slowness < 4) {
      // A quality that was tried and was too slow is tried again later.
      if (this.hasRisen) this.patience = Math.min(this.patience * 2, 600);
      this.slowness++;
      [this.slow, this.fast, this.hasRisen] = [0, 0, false];
    } else if (this.fast >= this.patience && this.slowness > 0) {
      this.slowness--;
      [this.slow, this.fast, this.hasRisen] = [0, 0, true];
    }
  }

  // The program for a model, ready to draw it.
  /** @type {(extra: string, model: DrawnSolid, gpu: Gpu, view: Float32Array, eye: Point) => GlProgram["names"]} */
  use(extra, model, gpu, view, eye) {
    const { gl } = this;
    const cuts = this.section.some((v, i) => i < 3 && v !== 0);
    const drawsColours = !extra || extra === "ONLY";
    const usesPalette = this.palette && model.solid.plates && (drawsColours || this.sieves);
    const usesImage = gpu.images && drawsColours && !usesPalette && !this.wireframe;
    const needs = [extra, usesImage && "IMAGE", usesImage && model.part.normals && "SURFACE", model.solid.plates && "PLATES", cuts && "CUT", model.part.normals && "NORMALS", usesPalette && "PALETTE", model.rig?.pose && "SKIN"].filter(Boolean).join(" ");
    const found = this.programs.get(needs) ?? program(gl, needs);
    this.programs.set(needs, found);
    if (this.current === found) return found.names;
    this.current = found;
    const { made, names } = found;
    gl.useProgram(made);
    gl.uniformMatrix4fv(names.view, false, view);
    gl.uniform3fv(names.eye ?? null, eye);
    gl.uniform4fv(names.section ?? null, this.section);
    for (const name of /** @type {const} */ (["chosen", "under", "hidden"])) gl.uniform1ui(names[name] ?? null, this[name]);
    gl.uniform3fv(names.sun ?? null, this.sun ?? eye);
    gl.uniform3fv(names.from ?? null, this.from ?? eye);
    gl.uniform1f(names.faded ?? null, this.faded);
    if (this.palette && usesPalette) this.usePalette(this.palette);
    return names;
  }

  /** @type {(extra: string, view: Float32Array, eye: Point, models: DrawnSolid[], linesToo: boolean) => void} */
  pass(extra, view, eye, models, linesToo) {
    const { gl } = this;
    this.current = null;
    for (const model of models) {
      const { part, solid } = model;
      if (!model.gpu) {
        model.gpu = this.upload(model);
        // The upload of images takes the place of the palette.
        this.current = null;
      }
      const { gpu } = model;
      const names = this.use(extra, model, gpu, view, eye);
      const isLines = (this.wireframe || linesToo) && (!extra || extra === "ONLY");
      gl.uniform3fv(names.low, part.min);
      gl.uniform3fv(names.shift, model.shift ?? [0, 0, 0]);
      gl.uniform3fv(names.size, part.max.map((v, i) => v - part.min[i]));
      if (names.image && gpu.images && part.uvs) {
        gpu.images.forEach((image, i) => {
          gl.activeTexture(gl.TEXTURE0 + i);
          gl.bindTexture(gl.TEXTURE_2D, image);
          gl.uniform1i(names[IMAGES[i]] ?? null, i);
        });
        gl.activeTexture(gl.TEXTURE0);
        gl.uniform4fv(names.uvRange, part.uvs.flat());
      }
      if (names.poses && model.rig?.pose) this.usePose(names.poses, model.rig, model.rig.pose);
      gl.uniform1ui(names.first ?? null, model.first);
      gl.uniform1ui(names.stride ?? null, model.stride);
      const [twin, twins] = (!this.isPicking && model.twins) || [0, 0];
      gl.uniform1ui(names.twin ?? null, twin);
      gl.uniform1ui(names.twins ?? null, twins);
      gl.uniform4fv(names.colour ?? null, isLines ? this.lineColour(model) : model.colour);
      gl.uniform1i(names.isFlat ?? null, isLines || model.isFlat ? 1 : 0);
      gl.bindVertexArray(gpu.vao);
      // Values of attributes that no array has belong to no model.
      if (!solid.plates) gl.vertexAttribI4ui(2, 0, 0, 0, 0);
      if (!model.matrices) IDENTITY.forEach((column, i) => gl.vertexAttrib3fv(3 + i, column));
      const places = model.matrices ? model.matrices.length / 12 : 1;
      const culls = !model.twoSided && !model.matrices && this.section.every((v, i) => i === 3 || !v);
      gl[culls ? "enable" : "disable"](gl.CULL_FACE);
      const indices = isLines ? this.edges(model, gpu) : this.draft && !(extra.startsWith("N") && solid.plates) ? this.coarse(model, gpu) : gpu.indices;
      if (indices) {
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices.buffer);
        gl.drawElementsInstanced(isLines ? gl.LINES : gl.TRIANGLES, indices.count, gl.UNSIGNED_INT, 0, places);
      } else {
        gl.drawArraysInstanced(gl.TRIANGLES, 0, part.triangles * 3, places);
      }
    }
    gl.bindVertexArray(null);
  }

  // The colour of lines. They are a dot wide: where several dots become one, those on the paper stand out the more.
  /** @param {DrawnSolid} model */
  lineColour({ colour, lines }) {
    return [...colour.slice(0, 3).map((c, i) => (lines ? this.paper[i] + (c - this.paper[i]) * this.fine : c)), 1];
  }

  /** @type {(model: DrawnSolid, gpu: Gpu) => GpuBuffer} */
  edges({ part, solid }, gpu) {
    solid.lines ??= shapes.edges(part, solid.indices);
    return (gpu.lines ??= gpu.buffer(solid.lines, gpu.ELEMENTS));
  }

  // The triangles for a draft: corners in one cell of a grid over all there is are one corner.
  /** @type {(model: DrawnSolid, gpu: Gpu) => GpuBuffer | null} */
  coarse({ part, solid }, gpu) {
    const { min, max } = this.bounds;
    const cell = Math.max(...max.map((v, i) => v - min[i])) / [0, 256, 128, 72, 48][this.draft];
    if (part.triangles < 64 && gpu.indices) return gpu.indices;
    gpu.coarse[this.draft] ??= gpu.buffer(shapes.coarse(part, solid, cell), gpu.ELEMENTS);
    return gpu.coarse[this.draft];
  }

  // Gives the program the colours by number.
  /** @param {Uint8Array} palette */
  usePalette(palette) {
    const { gl } = this;
    if (this.paletteTexture?.of !== palette) {
      gl.deleteTexture(this.paletteTexture?.made ?? null);
      this.paletteTexture = { of: palette, made: gl.createTexture() };
      gl.bindTexture(gl.TEXTURE_2D, this.paletteTexture.made);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1024, palette.length / 4096, 0, gl.RGBA, gl.UNSIGNED_BYTE, palette);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    gl.bindTexture(gl.TEXTURE_2D, this.paletteTexture.made);
  }

  // Gives the program the matrices of joints: a line for each, of four columns.
  /** @type {(poses: WebGLUniformLocation, rig: Rig, pose: Float32Array) => void} */
  usePose(poses, rig, pose) {
    const { gl } = this;
    const known = this.poses.get(rig) ?? { of: null, made: gl.createTexture() };
    gl.activeTexture(gl.TEXTURE0 + IMAGES.length);
    gl.bindTexture(gl.TEXTURE_2D, known.made);
    gl.uniform1i(poses, IMAGES.length);
    if (known.of !== pose) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB32F, 4, pose.length / 12, 0, gl.RGB, gl.FLOAT, pose);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      this.poses.set(rig, { ...known, of: pose });
    }
    gl.activeTexture(gl.TEXTURE0);
  }

  // The number at a point of the page, or null. Where drawing is slow, meshes are sought roughly, but not what is pressed.
  /** @type {(camera: Camera, x: number, y: number, isPressed?: boolean) => number | null} */
  pick(camera, x, y, isPressed) {
    const { gl, canvas } = this;
    const box = canvas.getBoundingClientRect();
    if (x < box.left || y < box.top || x >= box.right || y >= box.bottom || gl.isContextLost()) return null;
    const [nx, ny] = [((x - box.left + 0.5) / box.width) * 2 - 1, 1 - ((y - box.top + 0.5) / box.height) * 2];
    const m = this.toPixel(this.view(camera), nx, ny, box);
    this.draft = isPressed ? 0 : Math.min(this.slowness, 1);
    const number = this.readPixel("NUMBERS", m);
    return number === NONE ? null : number;
  }

  // The point of a model that is seen at a point of the page, or null.
  /** @type {(camera: Camera, x: number, y: number) => Point | null} */
  locate(camera, x, y) {
    const { canvas } = this;
    const box = canvas.getBoundingClientRect();
    const [nx, ny] = [((x - box.left + 0.5) / box.width) * 2 - 1, 1 - ((y - box.top + 0.5) / box.height) * 2];
    const view = this.view(camera);
    const m = this.toPixel(view, nx, ny, box);
    this.draft = 0;
    const packed = this.readPixel("DEPTH", m);
    if (packed === NONE) return null;
    const [a, b] = view.depth;
    const distance = b / (((packed & 0xffffff) / 16777215) * 2 - 1 + a);
    const { right, up, eye } = camera.axes();
    const [fx, fy] = camera.factors(shapes.aspect(canvas));
    return camera.target.map((v, i) => v + eye[i] * (camera.distance - distance) + (right[i] * nx / fx + up[i] * ny / fy) * distance);
  }

  // Where a point of space is on the canvas, in pixels of the page.
  /** @type {(camera: Camera, point: Point) => number[]} */
  project(camera, [x, y, z]) {
    const m = this.view(camera);
    const [cx, cy, , w] = [0, 1, 2, 3].map((i) => m[i] * x + m[4 + i] * y + m[8 + i] * z + m[12 + i]);
    return [(cx / w / 2 + 0.5) * this.canvas.clientWidth, (0.5 - cy / w / 2) * this.canvas.clientHeight];
  }

  // A view, moved and enlarged until a point of it fills it.
  /** @type {(view: ViewMatrix, nx: number, ny: number, box: DOMRect) => Float32Array} */
  toPixel(view, nx, ny, box) {
    const m = view.slice();
    for (let column = 0; column < 16; column += 4) {
      m[column] = (m[column] - nx * m[column + 3]) * box.width;
      m[column + 1] = (m[column + 1] - ny * m[column + 3]) * box.height;
    }
    return m;
  }

  // Draws into one pixel, and reads it.
  /** @type {(extra: string, m: Float32Array) => number} */
  readPixel(extra, m) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pixel);
    gl.viewport(0, 0, 1, 1);
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.isPicking = true;
    this.pass(extra, m, [0, 0, 1], this.shown, false);
    this.isPicking = false;
    const found = new Uint8Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return new DataView(found.buffer).getUint32(0, true);
  }
}
/** @typedef {typeof Renderer} RendererClass */
shapes.Renderer = Renderer;
shapes.NONE = NONE;
shapes.aspect = (canvas) => (canvas.clientWidth || 4) / (canvas.clientHeight || 3);

// A copy of a canvas in pixels of the page, and of the screen: what has more pixels becomes smooth. `over` draws on it.
shapes.copy = (canvas, over) => {
  const scale = Math.min(devicePixelRatio || 1, 2);
  const copy = document.createElement("canvas");
  Object.assign(copy, { width: Math.round(canvas.clientWidth * scale), height: Math.round(canvas.clientHeight * scale) });
  const pen = /** @type {Pen} */ (copy.getContext("2d"));
  pen.imageSmoothingQuality = "high";
  pen.drawImage(canvas, 0, 0, copy.width, copy.height);
  pen.scale(scale, scale);
  over?.(pen);
  return { canvas: copy, pen };
};

// The canvas on a page of its own, with a title and a legend of [text, colour], as a PNG. `over` draws on it in pixels of the page; `fine`
// dots in a row of the canvas become one.
shapes.picture = (canvas, title, legend, page, over, fine = 1) => {
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const [width, height] = [canvas.width, canvas.height].map((side) => Math.round(side / fine));
  const scale = width / Math.max(canvas.clientWidth, 1);
  const columns = Math.max(1, Math.floor(width / scale / 240));
  const lines = Math.ceil(legend.length / columns);
  const out = document.createElement("canvas");
  [out.width, out.height] = [width, Math.round(height + (lines * 20 + (lines ? 16 : 0)) * scale)];
  const pen = /** @type {Pen} */ (out.getContext("2d"));
  pen.fillStyle = colour("--card") || "#fff";
  pen.fillRect(0, 0, out.width, out.height);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(canvas, 0, 0, width, height);
  pen.scale(scale, scale);
  over?.(pen);
  Object.assign(pen, { textAlign: "left", textBaseline: "alphabetic" });
  pen.font = "13px system-ui, sans-serif";
  pen.fillStyle = colour("--fg") || "#000";
  pen.fillText(title, 12, 22);
  legend.forEach(([text, fill], i) => {
    const [x, y] = [12 + (i % columns) * 240, height / scale + 20 + Math.floor(i / columns) * 20];
    pen.fillStyle = shapes.css(fill);
    pen.fillRect(x, y - 11, 12, 12);
    pen.fillStyle = colour("--fg") || "#000";
    pen.fillText(text, x + 18, y, 215);
  });
  out.toBlob((blob) => blob && page.save(`${title.replace(/[^\w.-]+/g, "_").slice(0, 60) || "picture"}.png`, blob), "image/png");
};
