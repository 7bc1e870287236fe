#!/usr/bin/env node
// Runs one command line in the module as the native command does: in the current folder, with its files, and with the module
// that ASSETQ_MODULE names, otherwise the one of `web/build`.
//
//     web/tests/run.mjs ARGUMENT...
//     ASSETQ_RUNNER=$PWD/web/tests/run.mjs cargo test --test command
import { readFileSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { run } from "../wasi.js";
import { current, store } from "./disk.mjs";

const path = process.env.ASSETQ_MODULE ?? new URL("../../target/web/assetq.wasm", import.meta.url);
const module = new WebAssembly.Module(readFileSync(path));
const root = current();
const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, String(value)]));
const input = () => (isatty(0) ? new Uint8Array() : readFileSync(0));
/** @param {number} fd */
const write = (fd) => (/** @type {Uint8Array} */ bytes) => {
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    return true;
  } catch (error) {
    if (error.code === "EPIPE") return false;
    throw error;
  }
};
const { code, memory } = run({ module, root, args: ["assetq", ...process.argv.slice(2)], input, env, out: write(1), err: write(2) });
store(root);
if (process.env.ASSETQ_MEMORY) console.error(`${memory} bytes of memory`);
process.exit(code);
