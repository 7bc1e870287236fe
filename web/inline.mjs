// Makes one file of the page, its worker and the module: node web/inline.mjs MODULE.wasm OUT.html [LICENCES]
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";
import { Folder, run } from "./wasi.js";

const [path, out, licences] = process.argv.slice(2);
/** The most bytes that the module may have, compressed. */
const MOST = 6_000_000;
const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
/** Scripts of modules as one script: neither a page on a disk nor a worker in it can import others. */
const joined = (...names) => names.map((name) => read(name).replace(/^import .*$/gm, "").replace(/^export /gm, "")).join("\n");
/** Bytes as gzip packs them: the library of node takes 2 % more.
 * @param {Uint8Array} bytes */
const packed = (bytes) => execFileSync("gzip", ["-9n"], { input: bytes, maxBuffer: 1 << 30 });
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const bytes = readFileSync(path);
const module = new WebAssembly.Module(bytes);
/** What a command line of the module writes. */
const root = new Folder();
const ask = (...args) => {
  const pieces = [];
  const { code } = run({ module, root, args: ["assetq", ...args], out: (some) => pieces.push(some) > 0, err: (some) => process.stderr.write(some) });
  if (code !== 0) throw new Error(`assetq ${args.join(" ")}: exit code ${code}`);
  return Buffer.concat(pieces).toString();
};

const small = packed(bytes);
if (small.length > MOST) throw new Error(`the module has ${small.length} bytes, compressed, and may have ${MOST}`);
const [style, script, worker] = [read("style.css"), joined("../crates/view/src/page/element.js", "zip.js", "page.js"), joined("wasi.js", "worker.js")];
// Two scripts may have declared one name.
for (const text of [script, worker]) new Script(text);
for (const text of [style, script, worker]) if (/<\/(script|style)|<!--/.test(text)) throw new Error("a script would end its element");

// Pages that the command writes are shown in a frame, which takes the policy of this page besides its own: the hashes of their
// scripts and styles, the same for every file, are a part of it.
ask("sample", "sample");
const shown = ask("view", "sample/global.mo", "--to", "-");
const theirs = (name) => new RegExp(`${name} ([^;"]*)`).exec(/Content-Security-Policy" content="([^"]*)"/.exec(shown)[1])[1];
const policy = [
  "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval' ${theirs("script-src")}`, `style-src ${hash(style)} ${theirs("style-src")}`,
  "img-src data: blob:", "worker-src blob:", "frame-src blob:", "base-uri 'none'", "form-action 'none'",
].join("; ");

const parts = { policy, style, script, worker, version: ask("--version").trim().split(" ").pop(), module: small.toString("base64"),
  licences: licences ? packed(readFileSync(licences)).toString("base64") : "" };
const page = read("page.html").replace(/{{(\w+)}}/g, (_, name) => parts[name]);
writeFileSync(out, page);
console.log(`${out}: ${page.length} bytes; the module: ${bytes.length} bytes, ${small.length} compressed`);
