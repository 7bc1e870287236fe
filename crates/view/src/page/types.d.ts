// What the scripts of pages share, for `tsc`. The scripts are checked as they are, and nothing is built from this file.

/** A part of a page, as `mod.rs` writes it, and what shows it. */
interface PartOf<K extends keyof Kinds, M> {
  id: string;
  kind: K;
  title: string;
  /** Of a part of any kind, `count` is shown beside its name, and a page does not begin with what has only `moved`. */
  meta: M & { count?: number; moved?: boolean };
  item?: HTMLAnchorElement;
  element?: HTMLElement;
  view?: View | void;
  opened?: Promise<void>;
  isOpening?: boolean;
}
type Part = { [K in keyof Kinds]: PartOf<K, Kinds[K]> }[keyof Kinds];
type PartOfKind<K extends keyof Kinds> = PartOf<K, Kinds[K]>;
type KindOf<K extends keyof Kinds> = Kind<PartOfKind<K>>;

/** What the parts of each kind have. */
interface Kinds {
  about: AboutMeta;
  summary: object;
  search: object;
  folders: { of: PartOfKind<"table"> };
  table: TableMeta;
  tree: GraphMeta;
  diff: DiffMeta;
  image: ImageMeta;
  map: ChartMeta;
  scene: SceneMeta;
}

/** What shows the parts of a kind. */
interface Kind<P extends Part> {
  open(element: HTMLElement, part: P, page: Page): View | void | Promise<View | void>;
  links?(part: P, table: string, row: number, page: Page): [string, string][];
}

/** A part that is shown. */
interface View {
  /** Shows what the parameters of an address name. */
  show?(params: URLSearchParams): unknown;
  /** The parameters of an address that leads to what is shown. */
  state?(): AddressState;
  hide?(): void;
  still?(): Still | null | Promise<Still | null>;
}
type AddressState = Record<string, string | number>;
/** A picture of a part, and what its colours mean. */
interface Still { canvas: HTMLCanvasElement; legend: HTMLElement[] }

interface AboutMeta {
  what: string;
  game: string | null;
  facts: [string, string][];
  endings: { name: string; count: number; bytes: string }[];
  verify?: { isOk: boolean | null; text: string; command: string };
}
interface GraphMeta { entry: string; block: string; nodes: number; leftOut: number; fault: string | null }
/** The counts of added, removed and changed rows. */
interface DiffMeta { block: string; rows: number; counts: number[]; count: number; moved: boolean }
interface ImageMeta { levels: { layer: number; mip: number; width: number; height: number; block: string }[]; layers: number; format: string; row: number | null }
interface ChartMeta {
  name: string;
  metres: number | null;
  kinds: { name: string; table: string; colour: number[] }[];
  count: number;
  boxes: string;
  rows: string;
  texts: string;
  links: string;
  ranges: string;
  withoutPlace: number;
  notes: string[];
}

/** A table, as `tables.rs` writes it. */
interface TableMeta {
  table: string;
  block: string;
  rows: number;
  /** The first row of each stretch. */
  starts: number[];
  columns: Column[];
  count: number;
  more: { of: number | null; command: string } | null;
  fault: string | null;
  damaged: number;
  isSought: boolean;
}
/** A column, or the texts of the ids of one. */
interface Column {
  n: number;
  name: string;
  kind: string;
  role: string;
  brief: boolean;
  width: number;
  texts: boolean;
  empty: boolean;
  /** Where its cells are: in a block of its own, texts or names of the ids of the column `of`, or leaves of graphs. */
  plan: "own" | "ids" | "text" | "name" | "leaf";
  of: number | string | null;
  /** The column whose text stands for a null of this one. */
  or?: number;
  /** Chooses whether the column is shown. */
  box?: HTMLInputElement;
  isDate?: boolean;
}
type Value = number | bigint | string | null;
type Numbers = Float64Array | Float32Array | bigint[];
interface Texts { count: number; get(n: number): string; including(word: string): Uint8Array }
interface Valued {
  value(row: number): Value;
  text(row: number): string | null;
  isLiteral?(row: number): boolean;
}
/** The cells of a stretch: numbers in an array, in which `none` stands for null; places of distinct texts or of ids, from 1 on; or others. */
interface NumberCells extends Valued { kind: "number"; all: Numbers; none?: number | bigint }
interface TextCells extends Valued { kind: "text"; of: Texts; places: Float64Array; literals?: Float64Array }
interface IdCells { kind: "id"; places: Float64Array }
interface OtherCells extends Valued { kind: "list" | "leaf" | "null" }
type Cells = NumberCells | TextCells | IdCells | OtherCells;
type ValueCells = Exclude<Cells, IdCells>;

type Table = import("./rows.js").RowTable;
type Graph = import("./graph.js").PageGraph;
type Branches<T> = import("./branches.js").BranchesOf<T>;

/** A condition of a filter: on a column, or on all; `any` are several values, one of which is in the cell. */
interface Condition { column: Column; how: string; word: string; number: number | bigint; isEmpty: boolean }
interface WordTest { column?: undefined; how: ":"; word: string; isNot: boolean; any?: undefined; isEmpty?: undefined }
type Test = WordTest | (Condition & { isNot: boolean; any?: undefined }) | { column: Column; how: string; any: Condition[]; isNot: boolean; isEmpty?: undefined; word?: undefined };
interface Bin { count: number; range: string; filter: string }
interface Profile {
  nulls: number;
  counts: Map<string, number>;
  numbers: { from: string; to: string; mean: number; sum: number | string; bins: Bin[] } | null;
}
type RowForm = "csv" | "json" | "md";
/** Rows of a table in an order. */
type Rows = Uint32Array | null;
/** Where an id leads: to a row of a table. */
type Lead = (place: number) => [Table, number] | null;

type Handlers<E> = { [N in keyof HTMLElementEventMap as `on${N}`]?: ((event: HTMLElementEventMap[N] & { currentTarget: E }) => unknown) | null };
/** Attributes and properties of an element, and `on…` functions. */
type Props<E> = Handlers<E> & { [name: string]: unknown };
type Child = Node | string | number | false | null | undefined;

/** The page, with what every part may use. */
interface Page {
  parts: Part[];
  facts: {
    about?: AboutMeta;
    damage?: { count: number; errors: string[] };
    warnings?: string[];
    previews?: { shown: { path: string; block: string }[]; command: string };
    /** The rows of a stretch of ids, and the stretches of ids of each size. */
    stretch?: number;
    i64?: number;
    i32?: number;
  };
  title: string;
  isAddressed: boolean;
  el: Assetq["el"];
  clean: Assetq["clean"];
  block(name: string): Promise<Uint8Array<ArrayBuffer>>;
  prepare(part: Part, width: number, height: number): Promise<View | void>;
  prepared(part: Part): void;
  link(id: string, params?: AddressState): string;
  go(id: string, params?: AddressState): void;
  follow(link: string): void;
  hold(isStep?: boolean): void;
  fault(element: Element, error: unknown): void;
  attempt<T>(element: Element, work: T | Promise<T>): Promise<T | undefined>;
  long(text: string): string | HTMLElement;
  say(text: string): void;
  copy(text: string): Promise<void>;
  save(name: string, blob: Blob): void;
  row(table: string, row: number): Promise<[string, string][] | null>;
  rowLink(table: string, row: number): string | null;
  shapeLinks(table: string, row: number): [string, string][];
}

/** The object that the scripts extend, each with its own functions. */
interface Assetq {
  kinds: { [K in keyof Kinds]: KindOf<K> };
  page: Page;
  /** Characters of no width of their own that texts keep: ends of lines, in outputs of commands. */
  kept: string;
  clean(text: string): string;
  many(count: number | bigint): string;
  words(name: string): string;
  messageOf(error: unknown): string;
  nearest(wanted: string, names: string[]): string | null;
  el<K extends keyof HTMLElementTagNameMap>(tag: K, props?: Props<HTMLElementTagNameMap[K]>, ...children: (Child | Child[])[]): HTMLElementTagNameMap[K];
  block(name: string): Promise<Uint8Array<ArrayBuffer>>;
  still(page: Page): HTMLElement | null;
  Branches: import("./branches.js").BranchesClass;
  Bytes: new (bytes: Uint8Array) => import("./column.js").BytesReader;
  column(bytes: Uint8Array, rows: number, column?: { kind?: string }): Cells;
  cells: {
    isAmount(column: Column): boolean;
    grouped(column: Column, text: string): string;
    dateOf(column: Column, text: string): string | null;
    isPath(text: string): boolean;
    parts(text: string): (string | HTMLElement)[];
    pretty(column: Column, text: string, page: Page): Child | Child[];
    inWords(tests: Test[]): string;
  };
  graph(page: Page, meta: GraphMeta): Promise<Graph>;
  leaves(page: Page, what: string, first: number): Promise<OtherCells>;
  tableOf(part: PartOfKind<"table">, page: Page): Table;
  leadOf(page: Page, kind: string): Promise<Lead>;
  uses(page: Page, kind: string, place: number, progress: ((table: string) => void) | null): Promise<{ table: Table; column: Column; count: number }[]>;
  parse(text: string, table: Table): { tests: Test[]; faults: string[] };
  tokens(text: string): string[];
  only(column: Column, ...texts: string[]): string;
  operators(column: Column): { words: string; isAlone: boolean; write(value: string): string }[];
  filter(table: Table, tests: Test[], columns: number[], isCurrent: () => boolean): Promise<Rows>;
  ranks(table: Table, n: number): Promise<Float64Array>;
  profile(table: Table, n: number, rows: Rows, count: number): Promise<Profile>;
  rowsAs(form: RowForm, table: Table, columns: number[], rows: Rows, count: number): Promise<string>;
  blob(table: Table, columns: number[], rows: Rows, count: number, form: RowForm, progress?: (rows: number) => void): Promise<Blob>;
  shapes: Shapes;
}
declare var assetq: Assetq;

type Point = number[];

/** A solid of a scene, as `scene.rs` writes it. */
interface Solid {
  name: string;
  kind: "mesh" | "armor" | "hull" | "zone";
  material: number;
  vertices: number;
  triangles: number;
  indexed: boolean;
  normals: boolean;
  min: Point;
  max: Point;
  block: string;
  at: number;
  group?: number;
  lods?: number[];
  /** Whether its levels were guessed. */
  isGuess?: boolean;
  region?: string;
  /** The row, the layer and the number of triangles of each plate. */
  plates?: number[];
  thickness?: (number | null)[];
  /** The first matrix, and how many there are. */
  places?: [number, number];
  uvs?: [number[], number[]];
  /** The number of its joints. */
  rig?: number;
}

/** A solid while it is shown. */
interface Model {
  part: Solid;
  index: number;
  file: number;
  material: Material;
  colour: number[];
  twoSided: boolean;
  /** Its first number among all that can be pointed at, and how many it has at each place. */
  first: number;
  stride: number;
  plates: Plate[];
  /** The matrices of its places. */
  matrices: Float32Array | null;
  rig?: Rig;
  lods?: number[];
  coarsest: number;
  /** Whether it is among the parts that are shown, and whether layers and thicknesses leave something of it. */
  isShown: boolean;
  isDrawn: boolean;
  /** How far it is moved from its place. */
  shift?: Point;
  /** The first number that is marked as what is chosen is, and how many are. */
  twins?: [number, number];
  solid?: Unpacked;
  images?: (ImageBitmap | null)[];
}

/**
 * What a renderer draws. What has a number of `twins`, the first one and how many there are, is part of what is chosen. Edges of `lines` are
 * drawn, too.
 */
interface Drawn {
  part: Pick<Solid, "min" | "max" | "normals" | "triangles" | "vertices" | "indexed" | "uvs">;
  colour: number[];
  twoSided: boolean;
  first: number;
  stride: number;
  matrices?: Float32Array | null;
  isShown: boolean;
  isFlat?: boolean;
  lines?: boolean;
  twins?: [number, number];
  shift?: Point;
  rig?: Rig;
  solid?: Unpacked;
  images?: (ImageBitmap | null)[];
  gpu?: Gpu | null;
}
type DrawnSolid = Drawn & { solid: Unpacked };
interface GpuBuffer { buffer: WebGLBuffer; count: number }
/** The arrays of a solid on a GPU. */
interface Gpu {
  vao: WebGLVertexArrayObject;
  indices: GpuBuffer | null;
  lines: GpuBuffer | null;
  /** For drafts, by their roughness. */
  coarse: GpuBuffer[];
  images: WebGLTexture[] | null;
  buffer(data: Uint8Array | Uint16Array | Uint32Array | Float32Array, target?: number): GpuBuffer;
  ELEMENTS: number;
}
/** A program of a GPU, and its uniforms by their names. */
interface GlProgram { made: WebGLProgram; names: Record<string, WebGLUniformLocation> }
/** What is drawn before the lines and shades of a frame. */
interface GlScreen {
  width: number; height: number; fine: number; cells: number[];
  frame: WebGLFramebuffer; shadeFrame: WebGLFramebuffer; numbers: WebGLTexture; depths: WebGLTexture; shaded: WebGLTexture;
}

/** The arrays of a solid, for a GPU. */
interface Unpacked {
  vertices: Uint8Array;
  words: Uint16Array;
  indices: Uint32Array | null;
  uvs?: Uint16Array | null;
  joints?: Uint8Array | null;
  plates: Uint32Array | null;
  lines?: Uint32Array;
}

/** Newer than the library of older compilers. */
interface Uint8ArrayConstructor {
  fromBase64(text: string): Uint8Array<ArrayBuffer>;
}
