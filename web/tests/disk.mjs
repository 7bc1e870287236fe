// Folders of a disk as the system of the module sees them, for tests under node.
import { closeSync, openSync, readSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { FileNode, Folder } from "../wasi.js";

/** A file of the disk, read a slice at a time as a browser does.
 * @param {string} path @returns {import("../wasi.js").Content} */
const content = (path) => {
  const { size, mtimeMs } = statSync(path);
  return {
    size,
    modified: mtimeMs,
    slice(from, to) {
      const bytes = new Uint8Array(to - from);
      const file = openSync(path, "r");
      readSync(file, bytes, 0, bytes.length, from);
      closeSync(file);
      return bytes;
    },
  };
};

/** @param {string} path @returns {Folder} */
export const folder = (path) => {
  const made = new Folder();
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) made.names.set(entry.name, folder(below));
    else if (entry.isFile()) made.names.set(entry.name, new FileNode(content(below)));
  }
  return made;
};

/** The bytes of a file of a folder.
 * @param {FileNode} file */
export const bytesOf = (file) => file.read(0, file.size).slice();
