// What the scripts of scenes and maps share, for `tsc`.

type Camera = InstanceType<Shapes["Camera"]>;
type Look<Id, Meta extends SceneMeta | ChartMeta> = import("../look.js").LookOf<Id, Meta>;
type Renderer = InstanceType<Shapes["Renderer"]>;
type Contents = InstanceType<Shapes["Contents"]>;
type Store = InstanceType<Shapes["Store"]>;
type Pen = CanvasRenderingContext2D;
type LegendEntry = [string, number[]];
type Fact = [string, any];
/** Pairs of a value and its text. */
type Options = string[][];
type Change = (patch: Partial<SceneState>) => void;

/** What a person can change in a scene, as plain values. */
interface SceneState {
  /** The parts that are shown. */
  parts: ReadonlySet<number>;
  /** The parts that are shown instead, while some are isolated or two models are compared. */
  only: ReadonlySet<number> | null;
  /** The level of detail, or all of them. */
  level: number | null;
  /** A bit for each layer that is hidden; all from 31 on have one. */
  hidden: number;
  by: "material" | "layer" | "thickness";
  /** The owner whose thickness is shown. */
  use: number;
  /** The thickness of plates that are shown, in millimetres. */
  range: readonly (number | null)[];
  cut: Cut | null;
  /** Yaw and pitch, if all is shown from there; of an eye elsewhere its distance and target, too. */
  eye: number[];
  /** How far parts are moved apart, in percent. */
  apart: number;
  grid: boolean;
  wireframe: boolean;
  seeThrough: boolean;
  /** Degrees around an axis of a joint: `1y`. */
  turns: Readonly<Record<string, number>>;
  /** The number of what is chosen. */
  chosen: number | null;
  /** Whether the chosen plate stands for its whole part or zone. */
  whole: "part" | "zone" | null;
}

/** The axis, the place from 0 to 1000, and the side that is taken away: 1 or -1. */
interface Cut { axis: number; at: number; side: number }

interface Box { min: Point; max: Point }
/** A box, and the points in it that a camera shows. */
interface Frame extends Box { points: Point[] }

interface Joint { name: string; parent: number | null; rest: Point[] }
/** The joints of parts, and the matrices to where they put vertices unless they are at rest. */
interface Rig { joints: Joint[]; pose: Float32Array | null }

/** A ship or a component that has plates: millimetres by layer × 65536 + material. */
interface Owner { name: string; of: string; plates: Record<number, number> }
interface Material { name: string; colour: number[]; twoSided: boolean; image: string | null; maps: (string | null)[] }

/** A scene as `scene.rs` writes it. */
interface SceneMeta {
  name: string;
  metres: number | null;
  axes: string[];
  materials: Material[];
  parts: Solid[];
  groups: string[];
  /** Blocks of the matrices of places, and of the rows of instances. */
  places: string | null;
  rows: string | null;
  /** Names, and the number of parts of each. */
  files: [string, number][];
  overlay: boolean;
  beside: boolean;
  armor: Owner[][];
  scale: [number, number[]][];
  notes: string[];
  damage: string[];
  rigs?: Joint[][];
}

/** A plate of armour: its part, its number there, and its first vertex. */
interface Plate { model: Model; number: number; row: number; layer: number; triangles: number; id: number; vertex: number }
/** A zone of a ship's armour, a part of one, or a plate, whose `whole` is null. */
interface ArmourNode { name: string; whole: SceneState["whole"]; above: ArmourNode | null; below: ArmourNode[]; models: Model[]; plates: Plate[] }
/** What a number stands for. */
interface Found { model: Model; plate: Plate | null; place: number }
/** What stands somewhere. */
interface Standing { part: Box; rig?: Rig; matrices?: Float32Array | null; shift?: Point }
/** A band of the scale of thicknesses, with the number of its plates. */
interface Band { from: number; to: number; text: string; colour: number[]; count: number }
interface Line { row: HTMLElement; input: HTMLInputElement }
/** A box that shows some parts and hides them. An item of a tree is ticked as its box is. */
interface Tick { input: HTMLInputElement; models: Model[]; item?: HTMLElement }
interface Move { turn?: number[]; pan?: number[]; zoom?: number; at?: number[] }
/** The matrix to the screen. */
type ViewMatrix = Float32Array & { depth: number[]; pixel: number };

/** A box of a map: its record, the map that it leads to, its half sides, and how it looks from above. */
interface ChartBox { name: string; target: string; kind: number; row: number; center: Point; sides: Point[]; outline: Point[]; reach: number }
interface ChartKind { name: string; table: string; colour: number[]; count: number }
interface ChartLink { from: Point; to: Point; back: boolean }
interface ChartPath { links: ChartLink[]; points: number; length: number }

/** The functions that the scripts of shapes share. */
interface Shapes {
  NONE: number;
  KINDS: Record<string, [string, string]>;
  Camera: import("../camera.js").CameraClass;
  Look: import("../look.js").LookClass;
  Renderer: import("../gl.js").RendererClass;
  Contents: import("./contents.js").ContentsClass;
  Ruler: import("./ruler.js").RulerClass;
  Store: import("./state.js").StoreClass;

  add(a: Point, b: Point, times?: number): number[];
  dot(a: Point, b: Point): number;
  cross(a: Point, b: Point): number[];
  nowhere(): Box;
  extend(box: Box, point: Point): void;
  radius(box: Box): number;
  steer(canvas: HTMLCanvasElement, acts: { move(by: Move): void; point(x: number, y: number): void; press(x: number, y: number): void }): void;
  follow(camera: Camera, by: Move): void;

  unpack(part: Solid, bytes: Uint8Array): Unpacked;
  position(part: Solid, words: Uint16Array, i: number): number[];
  coarse(part: Drawn["part"], solid: Unpacked, cell: number): Uint32Array;
  edges(part: Drawn["part"], indices: Uint32Array | null): Uint32Array;
  channels(css: string): number[];
  colours(count: number): number[][];
  number(value: number | null): string;
  css(colour: number[]): string;
  aspect(canvas: HTMLElement): number;
  copy(canvas: HTMLCanvasElement, over?: (pen: Pen) => void): { canvas: HTMLCanvasElement; pen: Pen };
  picture(canvas: HTMLCanvasElement, title: string, legend: LegendEntry[], page: Page, over?: (pen: Pen) => void, fine?: number): void;

  round(value: number): number;
  grid(box: Box, unit: number): DrawnSolid & { step: number };
  drawScale(pen: Pen, camera: Camera, size: [number, number], style: { unit: number; unitName: string; axes: string[]; ink: string; paper: string }): void;

  legendLines(entries: LegendEntry[]): HTMLElement[];
  folder(check: HTMLElement, title: string, isOpen: boolean, ...children: any[]): HTMLElement;
  check(text: string, title: string, change: (isOn: boolean) => void, checked?: boolean): { input: HTMLInputElement; label: HTMLElement };
  select(title: string, options: Options, change: (value: string) => void): HTMLSelectElement;
  line(colour: number[], name: string, note: string, acts: { change?(isOn: boolean): void; checked?: boolean; press?(): void }): Line;

  isLayerShown(now: SceneState, layer: number): boolean;
  hasRange(now: SceneState): boolean;
  isInRange(now: SceneState, thick: number | null): boolean;
  isOfLevel(now: SceneState, model: Model): boolean;
  isWanted(now: SceneState, model: Model): boolean;
  layersSeen(contents: Contents, now: SceneState, model: Model): Set<number> | null;
  reveal(contents: Contents, now: SceneState, found: { model: Model; plate: Plate | null }): SceneState;
  revealAll(contents: Contents, now: SceneState): SceneState;
  tick(contents: Contents, now: SceneState, models: Model[], isOn: boolean): SceneState;

  colourOf(part: Solid, material: { name: string; colour: number[] }, index: number): number[];
  palette(contents: Contents, now: SceneState): Uint8Array | null;
  entries(contents: Contents, now: SceneState): LegendEntry[];
  areListed(contents: Contents, now: SceneState): boolean;
  layerList(contents: Contents, store: Store): HTMLElement;
  plateList(contents: Contents, store: Store, page: Page, choose: (id: number) => void): HTMLDetailsElement;
  partList(contents: Contents, store: Store, kind: string, change: Change, choose: (node: ArmourNode, moves: boolean) => void): HTMLElement;
  armourTree(contents: Contents, store: Store, box: (label: string, models: Model[]) => Tick, ticks: () => void, choose: (node: ArmourNode, moves: boolean) => void): { tree: HTMLElement; lay(models: Model[]): void };
  coloursOf(contents: Contents, now: SceneState, plates: Plate[]): string[];

  factsOf(contents: Contents, use: number, id: number): Fact[];
  rowOf(contents: Contents, use: number, id: number): { table: string | null; row: number };
  factsOfNode(contents: Contents, use: number, node: ArmourNode): Fact[];
  thickOf(contents: Contents, plates: Plate[], use: number): string;
  boxOf(contents: Contents, now: SceneState, isWanted: (model: Model) => boolean): { own: Box; box: Box; area: number | null };

  differences(contents: Contents, store: Store, isolate: (ids: number[]) => void): HTMLElement;
  signs(contents: Contents): { name: string; at: Point }[];
  drawNames(pen: Pen, signs: { name: string; at: Point }[], project: (point: Point) => number[], ink: string, paper: string): void;

  jointNames(rigs: Rig[]): string[];
  pose(rig: Rig, names: string[], turns: SceneState["turns"]): Float32Array | null;
  jointList(contents: Contents, store: Store): HTMLElement | null;

  spaceList(contents: Contents, store: Store, isolate: (ids: number[] | null) => void): HTMLElement;
  spread(contents: Contents, apart: number): void;
  section(cut: Cut | null, box: Box): number[];
  cutControls(store: Store, camera: Camera, frame: () => Box, length: (value: number) => string): { axis: HTMLElement; bar: HTMLElement };
  drawOver(over: HTMLCanvasElement, size: [number, number], draw: (pen: Pen) => void): void;
}
