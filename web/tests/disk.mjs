// Folders of the disk as the system of the module sees them, for tests under node.
import { closeSync, mkdirSync, openSync, readSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { FileNode, Folder, find, written } from "../wasi.js";

/** A file of the disk, read a slice at a time as a browser does.
 * @param {string} path @param {import("node:fs").Stats} stat @returns {import("../wasi.js").Content} */
const content = (path, { size, mtimeMs }) => ({
  size,
  modified: mtimeMs,
  slice(from, to) {
    const bytes = new Uint8Array(to - from);
    const file = openSync(path, "r");
    readSync(file, bytes, 0, bytes.length, from);
    closeSync(file);
    return bytes;
  },
});

/** A folder of the disk, listed once it is used. */
class DiskFolder extends Folder {
  /** The entries that the disk has, once they are listed.
   * @type {Map<string, import("../wasi.js").Entry> | null} */
  found = null;

  /** @param {string} path */
  constructor(path) {
    super();
    this.path = path;
    /** @type {Map<string, import("../wasi.js").Entry>} */
    let names;
    Object.defineProperty(this, "names", {
      get: () => {
        if (!names) {
          names = this.list();
          this.found = new Map(names);
        }
        return names;
      },
    });
  }

  list() {
    const names = new Map();
    for (const name of readdirSync(this.path).sort()) {
      const below = join(this.path, name);
      const stat = statSync(below, { throwIfNoEntry: false });
      if (stat?.isDirectory()) names.set(name, new DiskFolder(below));
      else if (stat?.isFile()) names.set(name, new FileNode(content(below, stat)));
    }
    return names;
  }
}

/** @param {string} path @returns {Folder} */
export const folder = (path) => new DiskFolder(path);

/** The current folder. The module knows no other: a path from the root of the disk leads there if no file here has its first name.
 * @returns {Folder} */
export const current = () => {
  const [here, disk] = [process.cwd(), new DiskFolder("/")];
  const root = new DiskFolder(here);
  const { names } = root;
  const get = (name) => (name === "/" ? disk : (Map.prototype.get.call(names, name) ?? disk.names.get(name)));
  Object.defineProperty(names, "get", { value: get });
  const above = find(disk, dirname(here));
  if (above instanceof DiskFolder && above.names.has(basename(here))) {
    above.names.set(basename(here), root);
    above.found?.set(basename(here), root);
  }
  return root;
};

/** Does on the disk what a command did in `root`: writes, renames, removes.
 * @param {Folder} root */
export const store = (root) => {
  /** @type {(() => void)[]} */
  const [removals, writes] = [[], []];
  const seen = new Set();
  /** @param {Folder} folder @param {string} path where it is on the disk @param {boolean} isNew */
  const walk = (folder, path, isNew) => {
    if (seen.has(folder)) return;
    seen.add(folder);
    if (isNew) writes.push(() => mkdirSync(path, { recursive: true }));
    const found = folder instanceof DiskFolder ? folder.found : null;
    if (!isNew && !found) return;
    for (const name of isNew ? [] : found.keys()) {
      if (!folder.names.has(name)) removals.push(() => rmSync(join(path, name), { recursive: true }));
    }
    for (const [name, entry] of folder.names) {
      const [below, isOther] = [join(path, name), isNew || found.get(name) !== entry];
      if (entry instanceof Folder) {
        walk(entry, below, isOther);
      } else if (isOther || written.has(entry)) {
        const bytes = entry.bytes();
        writes.push(() => writeFileSync(below, bytes));
      }
    }
  };
  walk(root, process.cwd(), false);
  const disk = root.names.get("/");
  if (disk instanceof Folder) walk(disk, "/", false);
  for (const change of [...removals, ...writes]) change();
};
