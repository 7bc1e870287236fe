// The worker: it has the opened files and the compiled command, and runs one command line at a time.
import { FileNode, Folder, find, place, run, written } from "./wasi.js";

/** Bytes of standard output that are kept: a page, a table. A reader of rows asks for fewer. */
const MOST = 1 << 30;
/** Bytes of standard error that are kept. */
const MESSAGES = 1 << 20;
const root = new Folder();
/** The paths of the files that the page has.
 * @type {Set<string>} */
const paths = new Set();
const reader = new FileReaderSync();
/** @type {WebAssembly.Module} */
let module;

/** @param {Blob} blob @returns {import("./wasi.js").Content} */
const content = (blob) => ({
  size: blob.size,
  modified: blob instanceof File ? blob.lastModified : Date.now(),
  slice: (from, to) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(from, to))),
});

/** Files that a run has written, with their paths. The browser keeps their bytes from now on, on the disk if it likes.
 * @returns {[string, Blob][]} */
const taken = () => {
  /** @type {[string, Blob][]} */
  const made = [];
  /** @param {Folder} folder @param {string} path */
  const walk = (folder, path) => {
    for (const [name, entry] of folder.names) {
      if (entry instanceof Folder) {
        walk(entry, `${path}${name}/`);
      } else if (written.has(entry)) {
        const blob = new Blob([/** @type {any} */ (entry.read(0, entry.size))]);
        entry.content = { ...content(blob), modified: entry.modified };
        entry.memory = null;
        made.push([path + name, blob]);
      }
    }
  };
  if (written.size > 0) walk(root, "");
  written.clear();
  for (const [path] of made) paths.add(path);
  return made;
};

/** Files that a run has removed. @returns {string[]} */
const gone = () => [...paths].filter((path) => !(find(root, path) instanceof FileNode) && paths.delete(path));

/** Collects what a run writes, up to `most` bytes; further ones find the pipe closed. */
class Collected {
  /** @type {any[]} */
  pieces = [];
  size = 0;

  /** @param {number} most */
  constructor(most) {
    this.most = most;
  }

  /** @param {Uint8Array} bytes */
  take = (bytes) => {
    if (this.size >= this.most) return false;
    this.pieces.push(bytes);
    this.size += bytes.length;
    return true;
  };
}

/** @param {{ id: number, args: string[], most?: number }} run */
const command = ({ id, args, most = MOST }) => {
  const began = performance.now();
  const out = new Collected(most);
  const err = new Collected(MESSAGES);
  let ran = { code: -1, memory: 0 };
  try {
    const env = { NO_COLOR: "1" };
    ran = run({ module, root, env, args: ["assetq", ...args], out: out.take, err: (bytes) => (err.take(bytes), true) });
  } catch (error) {
    // The module ends so where memory runs out, and at a fault of its own.
    err.pieces.push(new TextEncoder().encode(`${error instanceof Error ? error.message : error}\n`));
  }
  postMessage({
    kind: "done", id, ...ran, out: new Blob(out.pieces), isCut: out.size >= most, err: new TextDecoder().decode(new Uint8Array(joined(err.pieces))),
    made: taken(), gone: gone(), time: performance.now() - began,
  });
};

/** @param {Uint8Array[]} pieces */
const joined = (pieces) => {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
};

addEventListener("message", async ({ data }) => {
  if (data.kind === "start") {
    try {
      module = data.module ?? (await WebAssembly.compileStreaming(
        new Response(new Blob([data.packed]).stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } })));
      postMessage({ kind: "ready", module });
    } catch (error) {
      postMessage({ kind: "broken", reason: String(error instanceof Error ? error.message : error) });
    }
  } else if (data.kind === "add") {
    for (const [path, blob] of data.files) {
      place(root, path, new FileNode(content(blob)));
      paths.add(path);
    }
  } else {
    command(data);
  }
});
