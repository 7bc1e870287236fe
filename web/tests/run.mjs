// Runs one command line in the module, in the current folder, as the native command would: what it writes is written there.
//
//     node web/tests/run.mjs MODULE.wasm ARGUMENT...
import { mkdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { FileNode, run, written } from "../wasi.js";
import { bytesOf, folder } from "./disk.mjs";

const [path, ...args] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(path));
const root = folder(".");
const input = process.stdin.isTTY ? new Uint8Array() : readFileSync(0);
const write = (fd) => (bytes) => {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  return true;
};
const { code, memory } = run({ module, root, args: ["assetq", ...args], input, env: { NO_COLOR: "1" }, out: write(1), err: write(2) });
const walk = (at, path) => {
  for (const [name, entry] of at.names) {
    if (!(entry instanceof FileNode)) walk(entry, `${path}${name}/`);
    else if (written.has(entry)) {
      mkdirSync(dirname(path + name), { recursive: true });
      writeFileSync(path + name, bytesOf(entry));
    }
  }
};
walk(root, "");
if (process.env.ASSETQ_MEMORY) console.error(`${memory} bytes of memory`);
process.exit(code);
