// The page: what people see of the command. Each button runs a documented command line and shows it; nothing is done without one.
import { zip } from "./zip.js";

/** A file or a game, as `assetq info` lists it.
 * @typedef {{ file: string, format: string, size: number | null, tables: { name: string, rows: number | null, columns: string[] }[] }} Item */
/** @typedef {{ code: number, out: Blob, isCut: boolean, err: string, made: [string, Blob][], gone: string[], time: number, memory: number }} Ran */

/** Exit codes in words.
 * @type {Record<string, string>} */
const EXITS = {
  "-2": "stopped",
  "-1": "the command ended early: it needs more memory than a page has, or has a fault",
  0: "done",
  1: "not found",
  2: "something in the command line is wrong",
  3: "a file is damaged, or of no known format",
  4: "a file could not be read or written",
  5: "a difference is left that no patch can hold",
};
const KEYWORDS = "SELECT FROM WHERE GROUP BY ORDER LIMIT JOIN USING COUNT DISTINCT LIKE GLOB BETWEEN UPDATE SET DESC HAVING".split(" ");
const TABLE_KINDS = ["csv", "json", "ndjson", "parquet", "arrow"];
const SHAPE_KINDS = ["glb", "obj", "svg", "png"];
/** Bytes of rows that are shown, and the most rows of them. */
const [SHOWN_BYTES, SHOWN_ROWS] = [4 << 20, 1000];
const LISTED = 2000;
/** Files that a run has made and its answer names. */
const MADE = 50;
/** Names of files that hold answers and no assets. */
const ANSWERS = /\.(csv|json|ndjson|parquet|arrow|glb|obj|svg|png|html|txt)$/i;
/** After a command that took more bytes of memory the worker is replaced: a browser frees the memory of a worker at once, and of a module late. */
const SMALL = 64 << 20;

const { el, clean } = assetq;
// Outputs of commands have lines.
assetq.kept = "\n\t";
const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

const bytes = (/** @type {number} */ count) => {
  const [unit, name] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([unit]) => count >= Number(unit)) ?? [1, "bytes"];
  return `${unit === 1 ? count : (count / Number(unit)).toFixed(1)} ${name}`;
};
const last = (/** @type {string} */ path) => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf(":")) + 1);
const quoted = (/** @type {string} */ word) => (/^[\p{L}\p{N}/._:=-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
/** A command line as people type it: `view` without `--to` opens its page in the browser, as this page does. */
const shownLine = (/** @type {string[]} */ args) => ["assetq", ...(args[0] === "view" && args.slice(-2).join(" ") === "--to -" ? args.slice(0, -2) : args)].map(quoted).join(" ");
const ended = (/** @type {string[]} */ args, /** @type {number} */ code) => (args[0] === "diff" && code === 1 ? "they differ" : (EXITS[code] ?? "ended"));

/** The words of a command line, with the quotes of a shell.
 * @param {string} line */
const wordsOf = (line) => {
  const words = [];
  for (const [whole] of line.matchAll(/(?:'[^']*'|"(?:\\["\\]|[^"])*"|\\['" ]|[^\s'"])+/g)) {
    words.push(whole.replace(/'([^']*)'|"((?:\\["\\]|[^"])*)"|\\(['" ])/g, (_, single, double, other) => single ?? double?.replace(/\\(["\\])/g, "$1") ?? other));
  }
  return words;
};

/** The rows of a text of CSV; the last one may be cut off.
 * @param {string} text */
const rowsOf = (text) => {
  /** @type {string[][]} */
  const rows = [];
  let row = [];
  for (const [, , cell, plain, end] of text.matchAll(/("((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(cell !== undefined ? cell.replaceAll('""', '"') : plain);
    if (end === ",") continue;
    if (end || row.length > 1 || row[0]) rows.push(row);
    row = [];
    if (!end) break;
  }
  return rows;
};

// The files.

/** @type {Map<string, Blob>} */
const files = new Map();
/** Files of the disk that the browser may let this page write, by their paths.
 * @type {Map<string, any>} */
const handles = new Map();
/** Files and folders that were opened: what is asked of everything is asked of them.
 * @type {Set<string>} */
const roots = new Set();
/** @type {Item[]} */
let items = [];
/** @type {string | null} */
let current = null;

const isTaken = (/** @type {string} */ path) => [...files.keys()].some((one) => one === path || one.startsWith(`${path}/`));
/** A name like `path` that no file and no folder has.
 * @param {string} path */
const free = (path) => {
  const at = path.lastIndexOf(".") > path.lastIndexOf("/") ? path.lastIndexOf(".") : path.length;
  let found = path;
  for (let n = 2; isTaken(found); n++) found = `${path.slice(0, at)}-${n}${path.slice(at)}`;
  return found;
};

const item = (/** @type {string} */ file) => items.find((one) => one.file === file);
/** All that is open: files inside of games, too. */
const everything = () => [...roots, ...items.map((one) => one.file).filter((file) => ![...roots].some((root) => file === root || file.startsWith(`${root}/`)))];

// The command, in a worker that can be stopped.

/** @type {Worker} */
let worker;
/** @type {WebAssembly.Module | null} */
let module = null;
/** @type {{ id: number, args: string[], began: number, yields: boolean, done: (ran: Ran) => void } | null} */
let running = null;
let queue = Promise.resolve();
/** How many command lines wait for the one that runs. */
let waiting = 0;
let runs = 0;

const workerAddress = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));

const failed = (/** @type {string} */ reason) => {
  $("loading").hidden = false;
  $("loading").textContent = reason;
  $("loading").classList.add("failed");
};

/** Starts a worker in place of the one before: it gets the compiled module and the files. */
const startWorker = () => new Promise((ready) => {
  worker?.terminate();
  worker = new Worker(workerAddress);
  worker.addEventListener("message", ({ data }) => {
    if (data.kind === "ready") {
      module = data.module;
      ready(true);
    } else if (data.kind === "broken") {
      failed(`This browser does not start the command: ${data.reason}`);
    } else if (running && running.id === data.id) {
      running.done(data);
    }
  });
  worker.addEventListener("error", (event) => failed(`The command does not start: ${event.message}`));
  if (module) {
    worker.postMessage({ kind: "start", module });
    worker.postMessage({ kind: "add", files: [...files] });
  } else {
    const packed = Uint8Array.from(atob($("module").textContent), (c) => c.charCodeAt(0));
    worker.postMessage({ kind: "start", packed }, [packed.buffer]);
    $("module").remove();
  }
});

const say = (/** @type {string} */ text, isBad = false) => {
  $("state").textContent = text;
  $("state").classList.toggle("bad", isBad);
};

/** What a run gives that was stopped after `time`, or before it began. @returns {Ran} */
const stopped = (time = 0) => ({ code: -2, out: new Blob(), isCut: false, err: "", made: [], gone: [], time, memory: 0 });

/** Runs a command line, after those before it. One that `yields` ends as soon as another one is asked for.
 * @param {string[]} args @param {{ most?: number, quiet?: boolean, yields?: boolean }} options
 * @returns {Promise<Ran>} */
const run = (args, { most, quiet = false, yields = false } = {}) => {
  if (running?.yields) stop();
  waiting++;
  const next = queue.then(() => new Promise((done) => {
    waiting--;
    if (yields && waiting > 0) return done(stopped());
    running = { id: ++runs, args, began: performance.now(), yields, done };
    $("stop").hidden = false;
    if (!quiet) {
      $("command").textContent = clean(shownLine(args));
      $("copy").hidden = false;
    }
    say("running …");
    worker.postMessage({ kind: "run", id: runs, args, most });
  })).then((/** @type {any} */ ran) => {
    running = null;
    $("stop").hidden = true;
    const reserve = ran.memory ? ` · ${bytes(ran.memory)} of memory` : "";
    say(`${ran.code > 0 ? `exit code ${ran.code}: ` : ""}${ended(args, ran.code)} · ${(ran.time / 1000).toFixed(2)} s${reserve}`, ran.code > 1 || ran.code < 0);
    for (const path of ran.gone) forget(path);
    keep(ran.made);
    return ran;
  });
  // A command that ended early does not know how much memory it had.
  queue = next.then((ran) => (ran.code === -1 || ran.memory > SMALL ? startWorker() : undefined)).catch(() => {});
  return next;
};

setInterval(() => {
  if (running && performance.now() - running.began > 900) say(`running … ${Math.round((performance.now() - running.began) / 1000)} s`);
}, 500);

const stop = async () => {
  const ended = running;
  if (!ended) return;
  running = null;
  await startWorker();
  ended.done(stopped(performance.now() - ended.began));
};

/** Files that commands have made and no download has taken.
 * @type {Set<string>} */
const unsaved = new Set();
addEventListener("beforeunload", (event) => {
  if (unsaved.size > 0) event.preventDefault();
});

/** The lines of files that commands have made.
 * @type {Map<string, HTMLElement>} */
const lines = new Map();

const forget = (/** @type {string} */ path) => {
  files.delete(path);
  unsaved.delete(path);
  lines.get(path)?.remove();
  lines.delete(path);
};

/** Lists files that a command has written.
 * @param {[string, Blob][]} made */
const keep = (made) => {
  for (const [path, blob] of made) {
    forget(path);
    files.set(path, blob);
    if (inSample(path)) continue;
    unsaved.add(path);
    lines.set(path, madeLine(path, blob));
    $("made").querySelector("ul").append(lines.get(path));
  }
  $("made").hidden = lines.size === 0;
  $("save-all").hidden = lines.size < 2;
};
$("save-all").addEventListener("click", async () => {
  const made = [...lines.keys()].map((path) => /** @type {[string, Blob]} */ ([path, files.get(path)]));
  $("save-all").disabled = true;
  try {
    const href = URL.createObjectURL(await zip(made));
    el("a", { href, download: "assetq.zip" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    for (const [path, blob] of made) if (files.get(path) === blob) unsaved.delete(path);
  } catch (error) {
    say(`nothing is saved: ${error instanceof Error ? error.message : error}`, true);
  }
  $("save-all").disabled = false;
});
const inSample = (/** @type {string} */ path) => path.startsWith("sample/");

const madeLine = (/** @type {string} */ path, /** @type {Blob} */ blob) => el("li", {},
  el("a", { href: URL.createObjectURL(blob), download: last(path).replace(/[^\p{L}\p{N}_.\- ()]+/gu, "_"), onclick: () => unsaved.delete(path) }, path),
  el("small", {}, bytes(blob.size)), ANSWERS.test(path) ? null : el("button", { "aria-label": `Open ${path}`, onclick: () => list([path], true) }, "Open"));

/** What a run said beside its answer, and the files that it made.
 * @param {Ran} ran */
const notes = (ran) => {
  const about = [];
  if (ran.err) about.push(el("p", { class: ran.code > 1 || ran.code < 0 ? "note bad" : "note", role: ran.code > 1 ? "alert" : null }, ran.err.trimEnd()));
  if (/memory/.test(ran.err) && ran.code !== 0) {
    about.push(el("p", { class: "note" }, "A page has at most 4 GB of memory, and a file needs as much memory as it has bytes: up to about 2 GB. The installed command maps files and has no such limit."));
  }
  if (ran.made.length) about.push(el("ul", { class: "made checks" }, ran.made.slice(0, MADE).map(([path, blob]) => madeLine(path, blob))));
  if (ran.made.length > MADE) about.push(el("p", { class: "hint" }, `… and ${ran.made.length - MADE} more below "Made here", which saves all as one .zip.`));
  return about;
};

// Opening.

/** Files with their paths, and the `FileSystemFileHandle` if the browser gave one.
 * @typedef {[string, Blob, any?][]} Added */

/** @param {Added} added @param {boolean} isLookedAt whether the only file is shown
 * @returns {Promise<string[]>} the files and folders, as commands name them */
const open = async (added, isLookedAt = added.length === 1) => {
  if (added.length === 0) return [];
  const opened = new Set();
  /** @type {Map<string, string>} */
  const moved = new Map();
  const placed = added.map(([path, blob, handle]) => {
    const [root, ...rest] = path.split("/");
    // Two files of one name, to be compared, are in folders of their own.
    if (!moved.has(root)) {
      let to = root;
      for (let n = 2; isTaken(to); n++) to = `${n}/${root}`;
      moved.set(root, to);
    }
    const to = moved.get(root);
    opened.add(to);
    const at = [to, ...rest].join("/");
    if (handle) handles.set(at, handle);
    return /** @type {[string, Blob]} */ ([at, blob]);
  });
  for (const [path, blob] of placed) files.set(path, blob);
  worker.postMessage({ kind: "add", files: placed });
  await list([...opened], isLookedAt);
  return [...opened];
};

/** Lists what is in `opened`, and shows the first file if it `isLookedAt` or nothing is shown.
 * @param {string[]} opened @param {boolean} isLookedAt */
const list = async (opened, isLookedAt) => {
  $("welcome").hidden = true;
  $("work").hidden = false;
  document.body.classList.remove("empty");
  for (const root of opened) roots.add(root);
  const ran = await run(["info", ...opened, "-f", "ndjson"]);
  const added = await learn(ran);
  const first = added.find((one) => one.file.endsWith("ship.geometry")) ?? added[0];
  if (first && (isLookedAt || !current)) await look(first.file);
  else if (!first) $("look").replaceChildren(...(notes(ran).length ? notes(ran) : [el("p", { class: "hint" }, "No file of a known format is among these.")]));
};

/** Lists the files that a run of `info` names, in place of what was known of them.
 * @param {Ran} ran @returns {Promise<Item[]>} */
const learn = async (ran) => {
  const found = (await ran.out.text()).split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const added = found.map(({ file, format, size, tables }) => ({ file: file.replace(/^\.\//, ""), format, size, tables }));
  items = [...items.filter((one) => !added.some((other) => other.file === one.file)), ...added].sort((a, b) => (a.file < b.file ? -1 : 1));
  showFiles();
  return added;
};

/** Folders of the list that the user has closed.
 * @type {Set<string>} */
const closed = new Set();

/** Opened files by their folders. */
class Tree {
  /** @type {Map<string, Tree>} */
  folders = new Map();
  /** @type {Item[]} */
  files = [];
}

const showFiles = () => {
  const tree = new Tree();
  for (const one of items.slice(0, LISTED)) {
    let at = tree;
    const parts = one.file.split("/");
    for (const part of parts.slice(0, -1)) {
      const below = at.folders.get(part) ?? new Tree();
      at.folders.set(part, below);
      at = below;
    }
    at.files.push(one);
  }
  // A folder that holds nothing but a folder shares its line.
  /** @type {(name: string, at: Tree) => [string, Tree]} */
  const chain = (name, at) => {
    const [first, ...others] = at.folders;
    return first && others.length + at.files.length === 0 ? chain(`${name}${first[0]}/`, first[1]) : [name, at];
  };
  /** @type {(at: Tree, path: string) => HTMLElement} */
  const shown = (at, path) => el("ul", {},
    [...at.folders].map(([folder, inner]) => {
      const [name, below] = chain(`${folder}/`, inner);
      const here = path + name;
      return el("li", {}, el("details", { open: !closed.has(here), ontoggle: ({ target }) => (/** @type {any} */ (target).open ? closed.delete(here) : closed.add(here)) }, el("summary", {}, name), shown(below, here)));
    }),
    at.files.map((one) => el("li", {}, el("button", { "aria-current": one.file === current ? "true" : null, title: one.file, onclick: () => look(one.file) },
      el("span", {}, last(one.file)), el("small", {}, one.size === null ? one.format : `${one.format} · ${bytes(one.size)}`)))));
  const more = items.length > LISTED ? el("p", { class: "hint" }, `… and ${items.length - LISTED} more: ls FOLDER in the console lists them.`) : null;
  $("opened").hidden = items.length === 0;
  $("opened").querySelector("div").replaceChildren(shown(tree, ""), ...(more ? [more] : []));
  for (const select of document.querySelectorAll("select[name=file]")) choices(/** @type {any} */ (select), items.map((one) => [one.file]));
  const folders = [...roots].filter((root) => !item(root)).map((root) => [root]);
  for (const select of document.querySelectorAll("select[name=old], select[name=new]")) choices(/** @type {any} */ (select), [...items.map((one) => [one.file]), ...folders]);
  choices(/** @type {any} */ (document.querySelector("#find select")), [["", "all opened files"], ...items.map((one) => [one.file])]);
  const names = items.map((one) => one.file);
  if (items.length > 1 && $("compare").querySelector("[name=new]").value === $("compare").querySelector("[name=old]").value) {
    const twin = names.find((name) => names.some((other) => other !== name && last(other) === last(name)));
    const other = twin && names.find((name) => name !== twin && last(name) === last(twin));
    $("compare").querySelector("[name=old]").value = other ? (twin < other ? twin : other) : names[0];
    $("compare").querySelector("[name=new]").value = other ? (twin < other ? other : twin) : names[1];
  }
  fillTables();
};

/** @param {HTMLSelectElement} select @param {(string | undefined)[][]} options */
const choices = (select, options) => {
  const { value } = select;
  select.replaceChildren(...options.map(([value, text]) => el("option", { value }, text ?? value)));
  if (options.some(([one]) => one === value)) select.value = value;
};

const choose = (/** @type {string} */ file) => {
  current = file;
  for (const select of document.querySelectorAll("select[name=file]")) {
    const one = /** @type {HTMLSelectElement} */ (select);
    if (![...one.options].some((option) => option.value === file)) one.append(el("option", { value: file }, file));
    one.value = file;
  }
  for (const button of document.querySelectorAll("#opened button")) {
    if (button.getAttribute("title") !== file) {
      button.removeAttribute("aria-current");
    } else {
      button.setAttribute("aria-current", "true");
      button.scrollIntoView({ block: "nearest" });
    }
  }
  // On a phone the list is above what it shows.
  if (matchMedia("(max-width: 720px)").matches) $("opened").open = false;
  const one = item(file);
  // The files of a game stay at hand while one of them is shown.
  if (one && !file.startsWith(`${$("inside-of").dataset.file}:`)) {
    $("inside").hidden = one.tables[0]?.name !== "files" && one.tables[0]?.name !== "entries";
    $("inside-found").replaceChildren();
    $("inside-of").dataset.file = file;
  }
  fillTables();
};

/** Shows a page in a frame with an origin of its own: a hostile file reaches nothing of this page.
 * @param {HTMLElement} into @param {Blob} page @param {string} title @param {HTMLElement[]} about @param {string} fragment the part that it begins with */
const frame = async (into, page, title, about = [], fragment = "") => {
  const old = into.querySelector("iframe");
  if (old) URL.revokeObjectURL(old.src.split("#")[0]);
  const { theme } = document.documentElement.dataset;
  const head = (await page.slice(0, 64).text()).replace('<html lang="en">', `<html lang="en" class="framed"${theme ? ` data-theme="${theme}"` : ""}>`);
  const whole = new Blob([head, page.slice(64)], { type: "text/html;charset=utf-8" });
  into.replaceChildren(...about, el("iframe", { title, sandbox: "allow-scripts allow-downloads", allow: "clipboard-write; fullscreen", src: URL.createObjectURL(whole) + fragment }));
};

let looks = 0;
/** Shows what is in a file, unless another command is asked for meanwhile: the page of a large file takes seconds.
 * @param {string} file @param {string} fragment the part that the page begins with */
const look = async (file, fragment = "") => {
  const mine = ++looks;
  choose(file);
  tab("look");
  $("look").replaceChildren(el("p", { class: "hint" }, "reading …"));
  const ran = await run(["view", file, "--to", "-"], { yields: true });
  if (mine !== looks) return;
  if (ran.out.size > 0) await frame($("look"), ran.out, file, notes(ran), fragment);
  else if (ran.code === -2) $("look").replaceChildren(el("p", { class: "hint" }, "Stopped. ", el("button", { onclick: () => look(file, fragment) }, `View ${last(file)}`)));
  else $("look").replaceChildren(...notes(ran));
};

// Panels.

const TABS = ["look", "find", "sql", "verify", "compare", "export", "edit", "console"];
const tab = (/** @type {string} */ name) => {
  for (const one of TABS) {
    $(one).hidden = one !== name;
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  $(`tab-${name}`).scrollIntoView({ block: "nearest", inline: "nearest" });
};

/** A table of rows. `open` is called with a row that is chosen.
 * @param {string[]} columns @param {string[][]} rows @param {((row: string[]) => void) | null} chosen */
const table = (columns, rows, chosen = null) => {
  const isNumber = columns.map((_, n) => rows.some((row) => row[n]) && rows.every((row) => !row[n] || /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(row[n])));
  const cell = (/** @type {string} */ text, /** @type {number} */ n, /** @type {string[]} */ row) => el("td", { class: isNumber[n] ? "number" : null }, n === 0 && chosen ? el("button", { onclick: () => chosen(row) }, text) : text.length > 2000 ? `${text.slice(0, 2000)} …` : text);
  return el("table", {}, el("thead", {}, el("tr", {}, columns.map((name, n) => el("th", { scope: "col", class: isNumber[n] ? "number" : null }, name)))), el("tbody", {}, rows.map((row) => el("tr", {}, row.map((text, n) => cell(text ?? "", n, row))))));
};

/** The rows of CSV that a run gave, as a table.
 * @param {Ran} ran @param {((row: string[]) => void) | null} chosen */
const answer = async (ran, chosen = null) => {
  const all = rowsOf(await ran.out.text());
  if (ran.isCut) all.pop();
  const [columns, ...rows] = all;
  if (!columns) return notes(ran);
  const shown = rows.slice(0, SHOWN_ROWS);
  const isAll = !ran.isCut && shown.length === rows.length;
  const count = isAll ? `${rows.length} ${rows.length === 1 ? "row" : "rows"}` : `the first ${shown.length} rows; more follow`;
  return [...notes(ran), el("p", { class: "hint count" }, count), table(columns, shown, chosen)];
};

const result = (/** @type {string} */ panel) => $(panel).querySelector(".result");
/** @param {string} panel @param {(form: any) => unknown} submitted */
const onSubmit = (panel, submitted) => $(panel).querySelector("form").addEventListener("submit", (/** @type {any} */ event) => {
  event.preventDefault();
  submitted(event.target.elements);
});

onSubmit("find", async ({ text, where }) => {
  const ran = await run(["find", text.value, ...(where.value ? [where.value] : everything()), "-f", "csv"], { most: SHOWN_BYTES });
  // A row leads to the cell, by the filter of its table.
  result("find").replaceChildren(...(await answer(ran, ([file, table, , column, cell]) =>
    look(file, `#table=${encodeURIComponent(table)}&q=${encodeURIComponent(`${column}:"${cell.slice(0, 200).replaceAll('"', '""')}"`)}`))));
});

onSubmit("sql", async ({ query, file }) => {
  words([]);
  const args = ["sql", query.value, file.value];
  if (/^\s*(update|insert|delete|begin)\b/i.test(query.value)) return change("sql", file.value, args);
  result("sql").replaceChildren(...(await answer(await run([...args, "-f", "csv"], { most: SHOWN_BYTES }))));
});
$("sql").querySelector("[name=save]").addEventListener("click", async () => {
  const form = $("sql").querySelector("form");
  const { query, file, kind } = form.elements;
  if (form.reportValidity()) await save(["sql", query.value, file.value, "--to", free(`answer.${kind.value}`)], "sql");
});

/** Runs a command that writes files, and hands the first one to the user.
 * @param {string[]} args @param {string} panel */
const save = async (args, panel) => {
  const ran = await run(args);
  const about = notes(ran);
  result(panel).replaceChildren(...about, ...(about.length || ran.code === 0 ? [] : [el("p", { class: "note bad" }, EXITS[ran.code])]));
  if (ran.made.length === 1) result(panel).querySelector("a[download]")?.click();
};

/** Runs a command that changes `file`, into a new file with an undo, and offers to save the change into the opened file.
 * @param {string} panel @param {string} file @param {string[]} args */
const change = async (panel, file, args) => {
  const name = last(file);
  const at = name.includes(".") ? name.lastIndexOf(".") : name.length;
  const [changed, undo] = [free(`${name.slice(0, at).replace(/-changed(-\d+)?$/, "")}-changed${name.slice(at)}`), free(`${name}.undo.ndjson`)];
  const read = files.get(file);
  const ran = await run([...args, "--to", changed, "--undo", undo], { most: SHOWN_BYTES });
  const text = await ran.out.text();
  result(panel).replaceChildren(...notes(ran), ...placing(file, read, [changed, undo], ran), ...(text ? [el("pre", { class: "note" }, text)] : []));
};

/** Saves of changes, one after another. */
let saves = Promise.resolve("");

/** A button that saves a change into the opened file, if the browser can write it.
 * @param {string} file @param {any} read the file that the command read @param {string[]} to the changed file and the undo @param {Ran} ran */
const placing = (file, read, [changed, undo], ran) => {
  const [changedBlob, undoBlob] = [changed, undo].map((path) => ran.made.find(([made]) => made === path)?.[1]);
  if (ran.code !== 0 || !handles.has(file) || !changedBlob || !undoBlob) return [];
  const line = el("p", { class: "placing" }, el("button", {
    onclick: async ({ currentTarget }) => {
      currentTarget.disabled = true;
      saves = saves.then(() => saveInto(file, read, changedBlob, madeLine(undo, undoBlob))).catch((error) => `${file} is not changed: ${error instanceof Error ? error.message : error}`);
      const refused = await saves;
      if (!refused) unsaved.delete(changed);
      line.replaceChildren(el("span", { class: refused ? "bad" : "good", role: refused ? "alert" : "status" }, refused || `${file} is changed. ${undo} leads back: patch ${file} ${undo}`));
    },
  }, `Save into ${last(file)}`), " Its undo is saved as a download before.");
  return [line];
};

/** Writes `changed` over the opened file, after a download of the undo, if the file is still as it was read. Returns why not if it does not.
 * @param {string} file @param {any} read @param {Blob} changed @param {HTMLElement} undo */
const saveInto = async (file, read, changed, undo) => {
  const handle = handles.get(file);
  if ((await handle.requestPermission({ mode: "readwrite" })) !== "granted") return `${file} is not changed: the browser does not let this page write it`;
  const now = await handle.getFile();
  if (files.get(file) !== read) return `${file} is not changed: another change of it was saved since. Repeat this one`;
  if (now.size !== read.size || now.lastModified !== read.lastModified) return `${file} is not changed: another program has changed it since it was opened. Open it again`;
  undo.querySelector("a")?.click();
  // The browser replaces the file once all is written.
  const out = await handle.createWritable();
  try {
    await out.write(changed);
  } catch (error) {
    await out.abort();
    throw error;
  }
  await out.close();
  const saved = await handle.getFile();
  files.set(file, saved);
  worker.postMessage({ kind: "add", files: [[file, saved]] });
  await learn(await run(["info", file, "-f", "ndjson"], { quiet: true }));
  return "";
};

const verify = async (/** @type {string[]} */ files) => {
  const ran = await run(["verify", ...files, "-f", "ndjson"]);
  const reports = (await ran.out.text()).split("\n").filter(Boolean).map((line) => JSON.parse(line));
  result("verify").replaceChildren(...notes(ran), ...reports.map(({ file, format, ok, checks }) => el("section", {},
    el("h2", {}, `${file} · ${format}: `, el("span", { class: ok ? "good" : "bad" }, ok ? "nothing wrong" : "damaged")),
    el("ul", { class: "checks" }, checks.map((/** @type {{ ok: boolean, name: string, detail: string }} */ check) => el("li", {}, el("b", { class: check.ok === false ? "bad" : "good" }, check.ok === false ? "✗ " : "✓ "), [check.name, check.detail].filter(Boolean).join(": ")))))));
};
onSubmit("verify", ({ file }) => verify([file.value]));
$("verify").querySelector("[name=all]").addEventListener("click", () => verify(everything()));

const compare = async (/** @type {string[]} */ args, /** @type {string} */ title) => {
  const ran = await run(args);
  if (ran.out.size > 0 && ran.code < 2) await frame(result("compare"), ran.out, title, notes(ran));
  else result("compare").replaceChildren(...notes(ran), ...(ran.code === 0 ? [el("p", { class: "hint" }, "They do not differ.")] : []));
};
onSubmit("compare", (form) => compare(["diff", form.old.value, form.new.value, "-f", "html"], "what differs"));
$("compare").querySelector("[name=models]").addEventListener("click", () => {
  const form = $("compare").querySelector("form");
  const { old, new: other } = form.elements;
  if (form.reportValidity()) compare(["view", old.value, other.value, "--compare", "--to", "-"], "two models");
});

onSubmit("export", ({ file, table, kind }) => {
  const name = last(file.value).replace(/\.[^.]*$/, "");
  const isTable = TABLE_KINDS.includes(kind.value);
  const to = free(isTable && table.selectedIndex > 0 ? `${name}-${table.value}.${kind.value}` : `${name}.${kind.value}`);
  return save(["export", file.value, ...(isTable && table.selectedIndex > 0 ? ["--table", table.value] : []), "--to", to], "export");
});

onSubmit("edit", async ({ file, table, row, column, value }) => {
  const entry = column.value ? `${row.value}.${column.value}` : row.value;
  const of = table.selectedIndex > 0 ? ["--table", table.value] : [];
  await change("edit", file.value, ["set", file.value, entry, value.value, ...of]);
});

/** The tables and columns of the file that each panel has chosen. */
const fillTables = () => {
  for (const panel of ["export", "edit"]) {
    const { file, table } = $(panel).querySelector("form").elements;
    choices(table, (item(file.value)?.tables ?? []).map((one) => [one.name]));
  }
  const { kind } = $("export").querySelector("form").elements;
  choices(kind, [...TABLE_KINDS, ...SHAPE_KINDS].map((one) => [one]));
  fillColumns();
  const list = $("sql").querySelector(".tables div");
  const { query, file } = $("sql").querySelector("form").elements;
  list.replaceChildren(...(item(file.value)?.tables ?? []).map((one) => el("div", {},
    el("button", { type: "button", onclick: () => { query.value = `SELECT * FROM ${named(one.name)} LIMIT 100`; query.focus(); } }, one.name), " ",
    el("span", {}, `${one.rows === null ? "" : `${one.rows.toLocaleString("en")} rows: `}${one.columns.join(", ")}`))));
};
const named = (/** @type {string} */ name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

const fillColumns = () => {
  const { file, table, column } = $("edit").querySelector("form").elements;
  const columns = item(file.value)?.tables.find((one) => one.name === table.value)?.columns ?? [];
  choices(column, [["", "(the row is the whole way to a value)"], ...columns.map((name) => [name])]);
  if (!column.value) column.value = columns[1] ?? "";
  $("rows").replaceChildren();
  known = [];
};
/** The first rows of the table that is edited: the names of its columns, then their cells.
 * @type {string[][]} */
let known = [];
const showValue = () => {
  const { row, column, value } = $("edit").querySelector("form").elements;
  const at = known[0]?.indexOf(column.value) ?? -1;
  value.placeholder = known.find(([key]) => key === row.value)?.[at] ?? "";
};
for (const name of ["row", "column"]) $("edit").querySelector(`[name=${name}]`).addEventListener("input", showValue);
for (const panel of ["sql", "export", "edit"]) $(panel).querySelector("[name=file]").addEventListener("change", fillTables);
$("edit").querySelector("[name=table]").addEventListener("change", fillColumns);
// Names of rows, once someone is about to choose one.
$("edit").querySelector("[name=row]").addEventListener("focus", async () => {
  const { file, table } = $("edit").querySelector("form").elements;
  if ($("rows").childElementCount || !file.value) return;
  $("rows").append(el("option", {}));
  const of = table.selectedIndex > 0 ? ["--table", table.value] : [];
  const ran = await run(["ls", file.value, ...of, "-f", "csv", "--limit", "500"], { most: SHOWN_BYTES, quiet: true });
  known = rowsOf(await ran.out.text());
  showValue();
  $("rows").replaceChildren(...known.slice(1).map(([key]) => el("option", { value: key })));
});

// Completion of names in SQL.

const [area, popup] = [$("sql").querySelector("textarea"), $("words")];
const typedWord = () => /[\w"]*$/.exec(area.value.slice(0, area.selectionStart))?.[0] ?? "";

/** @param {{ word: string, kind: string }[]} found */
const words = (found) => {
  popup.hidden = found.length === 0;
  popup.replaceChildren(...found.map(({ word, kind }, n) => el("li", { role: "option", id: `word-${n}`, "aria-selected": String(n === 0), onmousedown: (event) => { event.preventDefault(); complete(n); } }, word, el("small", {}, kind))));
  point(0);
};
const point = (/** @type {number} */ n) => {
  [...popup.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === n)));
  popup.children[n]?.scrollIntoView({ block: "nearest" });
  if (popup.hidden) area.removeAttribute("aria-activedescendant");
  else area.setAttribute("aria-activedescendant", `word-${n}`);
};
const complete = (/** @type {number} */ n) => {
  const word = popup.children[n]?.firstChild?.textContent;
  if (!word) return;
  const start = area.selectionStart - typedWord().length;
  area.setRangeText(word, start, area.selectionStart, "end");
  words([]);
};
area.addEventListener("input", () => {
  const typed = typedWord().replace(/^"/, "").toLowerCase();
  const before = area.value.slice(0, area.selectionStart - typedWord().length);
  const tables = item($("sql").querySelector("[name=file]").value)?.tables ?? [];
  const owner = /([\w]+)\.$/.exec(before)?.[1];
  if (!typed && !owner) return words([]);
  // After FROM and JOIN a table is next. The columns of tables that the statement names come before others.
  const isTable = /\b(from|join|update|into)\s+$/i.test(before);
  const used = tables.filter((one) => (owner ? one.name === owner : area.value.includes(one.name)));
  const columns = (used.length ? used : tables).flatMap((one) => one.columns.map((word) => ({ word: named(word), kind: one.name })));
  const all = [
    ...(isTable ? [] : columns),
    ...(owner ? [] : tables.map((one) => ({ word: named(one.name), kind: "table" }))),
    ...(isTable || owner ? [] : KEYWORDS.map((word) => ({ word, kind: "" }))),
  ];
  const seen = new Set();
  const fitting = all.filter(({ word }) => word.replace(/^"/, "").toLowerCase().startsWith(typed) && word.toLowerCase() !== typed && !seen.has(word) && seen.add(word));
  words(fitting.slice(0, 50));
});
area.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const at = [...popup.children].findIndex((one) => one.getAttribute("aria-selected") === "true");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) area.form.requestSubmit();
  else if (popup.hidden) return;
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") point(Math.min(Math.max(0, at + (event.key === "ArrowDown" ? 1 : -1)), popup.children.length - 1));
  else if (event.key === "Tab" || event.key === "Enter") complete(at);
  else if (event.key === "Escape") words([]);
  else return;
  event.preventDefault();
});
area.addEventListener("blur", () => words([]));

// The console.

const LOGGED = 200_000; // characters of an answer that are shown
const KEY = "assetq-history";
const history = (() => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]").filter((/** @type {unknown} */ line) => typeof line === "string");
  } catch {
    return [];
  }
})();
let recalled = history.length;
onSubmit("console", async ({ line }) => {
  const text = line.value.trim();
  if (!text) return;
  if (history.at(-1) !== text) history.push(text);
  recalled = history.length;
  try {
    localStorage.setItem(KEY, JSON.stringify(history.slice(-500)));
  } catch {
    // Without storage the history ends with the page.
  }
  line.value = "";
  const args = wordsOf(text);
  if (args[0] === "assetq") args.shift();
  const log = $("console").querySelector(".log");
  // A page is shown here, where the command would start a browser or write its text.
  const isView = args[0] === "view" && !args.some((word) => /^(--to|-h|--help)/.test(word));
  const ran = await run(isView ? [...args, "--to", "-"] : args);
  const isPage = /^<!doctype html>/i.test(await ran.out.slice(0, 15).text());
  const out = isPage ? "" : (await ran.out.slice(0, LOGGED * 2).text()).replaceAll("\r\n", "\n");
  const pieces = [el("pre", { class: "line" }, `$ ${shownLine(args)}`), out && el("pre", {}, out.slice(0, LOGGED).trimEnd()),
    out.length > LOGGED && el("p", { class: "hint" }, "… ", el("a", { href: URL.createObjectURL(ran.out), download: "answer.txt" }, `all of it, ${bytes(ran.out.size)}`)), ...notes(ran)];
  if (ran.code !== 0) pieces.push(el("p", { class: "hint" }, `${ran.code > 0 ? `exit code ${ran.code}: ` : ""}${ended(args, ran.code)}`));
  log.append(...pieces.filter(Boolean));
  log.scrollTop = log.scrollHeight;
  if (isPage) {
    await frame($("look"), ran.out, shownLine(args), notes(ran));
    tab("look");
  }
});
$("line").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const by = event.key === "ArrowUp" ? -1 : 1;
  if (by === 1 && event.key !== "ArrowDown") return;
  recalled = Math.min(Math.max(0, recalled + by), history.length);
  $("line").value = history[recalled] ?? "";
  event.preventDefault();
});

// Files inside of a game.

let asking = 0;
$("inside-of").addEventListener("input", () => {
  clearTimeout(asking);
  asking = setTimeout(async () => {
    const { value, dataset } = $("inside-of");
    if (!value) return $("inside-found").replaceChildren();
    const ran = await run(["ls", dataset.file, `*${value}*`, "-f", "csv", "--limit", "100"], { most: SHOWN_BYTES });
    const [columns, ...rows] = rowsOf(await ran.out.text());
    const at = columns?.findIndex((name) => name === "path" || name === "name") ?? -1;
    const found = at < 0 ? [] : rows.map((row) => row[at]);
    $("inside-found").replaceChildren(...found.map((path) => el("li", {}, el("button", { onclick: () => lookInside(dataset.file, path) }, el("span", {}, path)))),
      el("li", { class: found.length ? null : "hint" }, found.length ? el("button", { class: "extract", onclick: () => extract(dataset.file, value) }, "Extract all that match") : "no such file"));
  }, 250);
});
const extract = async (/** @type {string} */ outer, /** @type {string} */ part) => {
  const ran = await run(["extract", outer, `*${part}*`, "--to", free(`${last(outer)}-files`)]);
  if (ran.code !== 0) $("inside-found").append(el("li", {}, notes(ran)));
};
const lookInside = async (/** @type {string} */ outer, /** @type {string} */ path) => {
  const file = `${outer}:${path}`;
  if (!item(file)) await learn(await run(["info", file, "-f", "ndjson"], { quiet: true }));
  await look(file);
};

// Dropping and choosing files.

/** The files of a dropped file or folder, with their paths.
 * @param {any} handle a `FileSystemHandle`
 * @returns {Promise<Added>} */
const below = async (handle, path = handle.name) => {
  if (handle.kind === "file") return [[path, await handle.getFile(), handle]];
  const all = [];
  for await (const one of handle.values()) all.push(...(await below(one, `${path}/${one.name}`)));
  say(`${all.length} files …`);
  return all;
};

/** As `below`, for browsers without such handles. Chromium reads no entries for a page on the disk.
 * @param {FileSystemEntry} entry
 * @returns {Promise<Added>} */
const belowEntry = async (entry, path = entry.name) => {
  if (entry.isFile) return [[path, await new Promise((done, refused) => /** @type {FileSystemFileEntry} */ (entry).file(done, refused))]];
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const all = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((done, refused) => reader.readEntries(done, refused));
    if (some.length === 0) return all;
    for (const one of some) all.push(...(await belowEntry(one, `${path}/${one.name}`)));
  }
};

/** All that was dropped, each with its files. The event lends it for this call only.
 * @param {DataTransfer} dropped
 * @returns {Promise<Added>[]} */
const taken = (dropped) => [...dropped.items].filter((one) => one.kind === "file").map((one) => {
  const [entry, file, handle] = [one.webkitGetAsEntry(), one.getAsFile(), /** @type {any} */ (one).getAsFileSystemHandle?.()];
  if (file && !entry?.isDirectory) {
    /** @type {(handle?: any) => Added} */
    const alone = (handle) => [[file.name, file, handle]];
    return Promise.resolve(handle).then(alone, () => alone());
  }
  return handle ? handle.then(below) : entry ? belowEntry(entry) : Promise.resolve([]);
});

addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dropping");
});
addEventListener("drop", async (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const dropped = event.dataTransfer ? taken(event.dataTransfer) : [];
  const isComparing = dropped.length === 2 && !$("compare").hidden;
  try {
    const all = await Promise.all(dropped);
    if (!isComparing) return void (await open(all.flat()));
    const [[older], [newer]] = [await open(all[0], false), await open(all[1], false)];
    const form = $("compare").querySelector("form");
    [form.elements.old.value, form.elements.new.value] = [older, newer];
    tab("compare");
    form.requestSubmit();
  } catch (error) {
    say(`the browser does not let this page read what was dropped: ${error instanceof Error ? error.message : error}`, true);
  }
});
$("open-files").addEventListener("click", async () => {
  // With handles, which a change can be saved into, if the browser has them.
  const { showOpenFilePicker } = /** @type {any} */ (window);
  if (!showOpenFilePicker) return $("pick-files").click();
  try {
    const chosen = await showOpenFilePicker({ multiple: true });
    await open((await Promise.all(chosen.map((/** @type {any} */ handle) => below(handle)))).flat());
  } catch (error) {
    if (error instanceof Error && error.name !== "AbortError") say(`the browser does not let this page read what was chosen: ${error.message}`, true);
  }
});
$("open-folder").addEventListener("click", () => $("pick-folder").click());
for (const picker of [$("pick-files"), $("pick-folder")]) {
  picker.addEventListener("change", () => {
    open([...picker.files].map((file) => [file.webkitRelativePath || file.name, file]));
    picker.value = "";
  });
}
$("try").addEventListener("click", async () => {
  $("try").disabled = true;
  await run(["sample", "sample", "--altered", "--force"]);
  await list(["sample"], true);
});

for (const name of TABS) {
  $(`tab-${name}`).addEventListener("click", () => tab(name));
  $(`tab-${name}`).addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
    const by = steps[event.key];
    if (!by) return;
    const next = TABS[Math.min(Math.max(0, TABS.indexOf(name) + by), TABS.length - 1)];
    tab(next);
    $(`tab-${next}`).focus();
    event.preventDefault();
  });
}
$("stop").addEventListener("click", stop);
$("copy").addEventListener("click", async () => {
  const text = $("command").textContent;
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    getSelection()?.selectAllChildren($("command"));
    say("selected: press Ctrl+C");
  }
});
$("theme").addEventListener("click", () => {
  const { dataset } = document.documentElement;
  const isDark = (dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  dataset.theme = isDark ? "light" : "dark";
  for (const one of document.querySelectorAll("iframe")) one.contentWindow?.postMessage(dataset.theme, "*");
});

$("licensed").hidden = !$("licences").textContent;
$("licensed").addEventListener("toggle", async () => {
  const packed = Uint8Array.from(atob($("licences").textContent), (c) => c.charCodeAt(0));
  $("licensed").querySelector("pre").textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}, { once: true });

tab("look");
startWorker().then(() => {
  $("loading").hidden = true;
  for (const id of ["open-files", "open-folder", "try"]) $(id).disabled = false;
  document.body.dataset.ready = "true";
});
