// What the scripts of pages share, for `tsc`. The scripts are checked as they are, and nothing is built from this file.

/** A part of a page, as `mod.rs` writes it. */
interface Part {
  id: string;
  kind: string;
  title: string;
  meta: any;
  element?: HTMLElement;
  item?: HTMLElement;
  view?: any;
  opened?: Promise<any>;
  isOpening?: boolean;
}

/** The page, with what every part may use. */
interface Page {
  parts: Part[];
  facts: Record<string, any>;
  title?: string;
  el: Assetq["el"];
  clean: Assetq["clean"];
  link(id: string, more?: Record<string, string | number>): string;
  say(text: string): void;
  [more: string]: any;
}

/** The object that the scripts extend, each with its own functions. */
interface Assetq {
  kinds: Record<string, { open?(element: HTMLElement, part: Part, page: Page): any; links?(part: Part, table: string, row: number, page: Page): [string, string][] }>;
  page: Page;
  clean(text: string): string;
  many(count: number | bigint): string;
  words(name: string): string;
  nearest(wanted: string, names: string[]): string | null;
  el(tag: string, props?: Record<string, any>, ...children: any[]): any;
  shapes?: any;
  [more: string]: any;
}
declare var assetq: Assetq;

type Point = [number, number, number] | number[];

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
  block?: string;
  at?: number;
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
  material: { name: string };
  colour: number[];
  /** Its first number among all that can be pointed at, and how many it has at each place. */
  first: number;
  stride: number;
  isShown: boolean;
  lods?: number[];
  coarsest?: number;
  solid?: Unpacked;
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
