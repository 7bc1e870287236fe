// Runs command lines natively and in the module, over every file of folders, and compares all they write byte for byte.
//
//     node web/tests/equal.mjs ASSETQ MODULE.wasm FOLDER...
//
// A folder holds a game, files, or folders of files.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { FileNode, find, run } from "../wasi.js";
import { folder } from "./disk.mjs";

const [assetq, path, ...folders] = process.argv.slice(2).map((path) => resolve(path));
const module = new WebAssembly.Module(readFileSync(path));
const ENV = { NO_COLOR: "1" };

/** What each file is asked; `{}` is the file. */
const EACH = ["info {}", "ls {}", "ls {} -f json", "find 1 {}", "verify {}", "view {} --to -"];
/** What samples are asked, by the end of the file that they need. */
const SOME = [
  ["sample/assets.bin", "sql", "SELECT type, count(*) AS n FROM resources GROUP BY type ORDER BY n DESC", "{}"],
  ["sample/assets.bin", "sql", "SELECT path FROM paths WHERE path LIKE '%.visual' ORDER BY path", "{}", "-f", "csv"],
  ["sample/assets.bin", "sql", "SELECT nothing FROM paths", "{}"],
  ["sample/assets.bin", "export", "{}", "--to", "OUT/paths.csv", "--table", "paths"],
  ["sample/assets.bin", "export", "{}", "--to", "OUT/paths.parquet", "--table", "paths"],
  ["sample/assets.bin", "export", "{}", "--to", "OUT/paths.arrow", "--table", "paths"],
  ["sample/assets.bin", "diff", "{}", "{}"],
  ["sample/ship.geometry", "export", "{}", "--to", "OUT/ship.glb"],
  ["sample/ship.geometry", "export", "{}", "--to", "OUT/ship.obj"],
  ["sample/ship.geometry", "export", "{}", "--to", "OUT/ship.svg"],
  ["sample/enemy.wdb", "set", "{}", "e_wolf.u7DropRate", "30", "--to", "OUT/new.wdb", "--undo", "OUT/undo.ndjson"],
  ["sample/enemy.wdb", "sql", "UPDATE records SET u7DropRate = 60 WHERE u7DropRate BETWEEN 40 AND 50", "{}", "--dry-run"],
  ["sample/enemy.wdb", "sql", "UPDATE records SET u7DropRate = 60 WHERE u7DropRate BETWEEN 40 AND 50", "{}", "--to", "OUT/new.wdb"],
  ["sample/enemy.wdb", "sql", "SELECT * FROM records", "{}", "--into", "OUT/new.db"],
  ["sample/enemy.wdb", "set", "{}", "e_wolf.u7DropRate", "30", "--to", "{}", "--force"],
  ["sample/enemy.wdb", "set", "{}", "e_wolf.u7DropRate", "30", "--in-place"],
  ["sample/altered.bin", "diff", "sample/assets.bin", "{}"],
  ["sample/altered.bin", "diff", "sample/assets.bin", "{}", "-f", "html"],
  ["sample/hull_a.dds", "export", "{}", "--to", "OUT/hull.png"],
  ["sample/ship.geometry", "export", "sample/wows", "--ship", "Aurora", "--to", "OUT/whole.glb"],
  ["sample/ship.geometry", "ls", "sample/wows"],
  ["sample/ship.geometry", "verify", "sample/wows", "--deep"],
  ["sample/ship.geometry", "view", "sample/wows", "--to", "-"],
  ["sample/ship.geometry", "view", "sample/ff13", "--to", "-"],
  ["sample/ship.geometry", "view", "sample/wows:content/assets.bin", "--to", "-"],
  ["sample/ship.geometry", "view", "sample/ship.geometry", "--with", "sample/assets.bin", "--to", "-"],
  ["sample/ship.geometry", "extract", "sample/wows", "content/assets.bin", "--to", "-"],
  ["sample/ship.geometry", "diff", "sample/wows@7000000", "sample/wows", "--deep", "--stat"],
  ["", "sample", "OUT/random", "--seed", "1"],
  ["", "--help"],
  ["", "sql", "--help"],
  ["", "help", "options"],
  ["", "nothing"],
  ["", "cat", "no/such/file", "x"],
];

let compared = 0;
/** The lines of SOME that no file was asked yet. */
const left = new Set(SOME.filter(([end]) => end));
const different = [];

/** All files below `path`, as paths from `base` on. */
const below = (base, path = "") =>
  readdirSync(join(base, path), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap((entry) => {
    const name = path ? `${path}/${entry.name}` : entry.name;
    return entry.isDirectory() ? below(base, name) : [name];
  });

const joined = (/** @type {Uint8Array[]} */ all) => Buffer.concat(all);

/** Runs one command line both ways, in `base`, whose files `root` has. */
const compare = (base, root, args) => {
  const out = mkdtempSync(join(tmpdir(), "assetq-web-"));
  const native = spawnSync(assetq, args.map((arg) => arg.replace("OUT/", `${out}/`)), { cwd: base, env: ENV, maxBuffer: 1 << 30, input: "" });
  const [stdout, stderr] = [[], []];
  let code;
  try {
    ({ code } = run({
      module, root, env: ENV, args: ["assetq", ...args.map((arg) => arg.replace("OUT/", ""))],
      out: (bytes) => (stdout.push(bytes), true),
      err: (bytes) => (stderr.push(bytes), true),
    }));
  } catch (error) {
    code = String(error.stack).slice(0, 1000);
  }
  // Each system has its own numbers of errors, and the outputs their folder.
  const plain = (bytes) => Buffer.from(bytes.toString("latin1").replaceAll(`${out}/`, "").replace(/\(os error \d+\)/g, "(os error)"), "latin1");
  const results = [["exit code", native.status, code], ["standard output", plain(native.stdout), plain(joined(stdout))], ["standard error", plain(native.stderr), plain(joined(stderr))]];
  for (const name of args.filter((arg) => arg.startsWith("OUT/")).map((arg) => arg.slice(4))) {
    const disk = statSync(join(out, name), { throwIfNoEntry: false });
    for (const file of disk?.isDirectory() ? below(out, name) : [name]) {
      const made = find(root, file);
      results.push([file, disk ? readFileSync(join(out, file)) : null, made instanceof FileNode ? Buffer.from(made.bytes()) : null]);
    }
    root.names.delete(name);
  }
  rmSync(out, { recursive: true });
  compared++;
  for (const [what, wanted, got] of results) {
    const same = Buffer.isBuffer(wanted) && Buffer.isBuffer(got) ? wanted.equals(got) : wanted === got;
    if (same) continue;
    let at = 0;
    while (Buffer.isBuffer(wanted) && Buffer.isBuffer(got) && at < wanted.length && wanted[at] === got[at]) at++;
    const shown = (value) => (Buffer.isBuffer(value) ? `${value.length} bytes, from byte ${at}: ${JSON.stringify(value.toString("latin1", Math.max(0, at - 40), at + 160))}` : value);
    different.push(`assetq ${args.join(" ")}\n  ${what}\n  native: ${shown(wanted)}\n  module: ${shown(got)}`);
    break;
  }
};

for (const base of folders) {
  const root = folder(base);
  for (const file of below(base)) {
    for (const line of EACH) compare(base, root, line.split(" ").map((word) => word.replace("{}", () => file)));
    for (const line of SOME) {
      const [end, ...args] = line;
      if (!end || !`${base}/${file}`.endsWith(end)) continue;
      left.delete(line);
      compare(base, root, args.map((word) => word.replace("{}", () => file)));
    }
  }
}
for (const [end, ...args] of SOME) if (!end) compare(folders[0], folder(folders[0]), args);

for (const one of different.slice(0, 20)) console.log(one);
console.log(`${compared} command lines compared, ${different.length} differ`);
for (const [end, ...args] of left) console.log(`not compared, as no folder has ${end}: assetq ${args.join(" ")}`);
process.exit(different.length + left.size > 0 ? 1 : 0);
