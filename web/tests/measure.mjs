// Times command lines in the console of the page, in Chromium, and prints the memory of the page's process after each.
//
//     node web/tests/measure.mjs PAGE.html FILE-OR-FOLDER LINE...
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, file, ...lines] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "assetq-measure-"));
const browser = spawn(process.env.ASSETQ_BROWSER ?? "chromium", ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", `--user-data-dir=${profile}`],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [to, from] = /** @type {[import("node:stream").Writable, import("node:stream").Readable]} */ (/** @type {unknown} */ (browser.stdio.slice(3)));
/** @type {Map<number, (answer: any) => void>} */
const waiting = new Map();
let rest = "";
from.on("data", (bytes) => {
  const messages = (rest + bytes).split("\0");
  rest = messages.pop() ?? "";
  for (const message of messages.map((one) => JSON.parse(one))) waiting.get(message.id)?.(message);
});
let calls = 0;
/** @param {string} method @param {object} params @param {string} [sessionId] @returns {Promise<any>} */
const call = (method, params, sessionId) => new Promise((done, failed) => {
  waiting.set(++calls, ({ result, error }) => (error ? failed(new Error(`${method}: ${error.message}`)) : done(result)));
  to.write(`${JSON.stringify({ id: calls, method, params, sessionId })}\0`);
});
const { targetId } = await call("Target.createTarget", { url: pathToFileURL(resolve(page)).href });
const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
/** @param {string} expression */
const evaluate = async (expression) => (await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId)).result.value;
/** @param {string} expression */
const until = async (expression) => {
  while (!(await evaluate(expression))) await new Promise((next) => setTimeout(next, 20));
};
/** The largest resident memory of a process of pages, in MB. */
const memory = async () => {
  const { processInfo } = await call("SystemInfo.getProcessInfo", {});
  return Math.max(...processInfo.filter(({ type }) => type === "renderer").map(({ id }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))[1]) / 1024));
};
/** @param {string} what @param {() => Promise<unknown>} does */
const timed = async (what, does) => {
  const began = performance.now();
  await does();
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(2)} s, ${Math.round(await memory())} MB: ${await evaluate("document.querySelector('#state').textContent")}`);
};
const done = "document.querySelector('#stop').hidden && document.querySelector('#state').textContent.includes(' s · ')";

await timed("start", () => until("document.body?.dataset.ready === 'true'"));
await timed(`open ${file}`, async () => {
  const selector = statSync(file).isDirectory() ? "#pick-folder" : "#pick-files";
  const { result } = await call("Runtime.evaluate", { expression: `document.querySelector('${selector}')` }, sessionId);
  await call("DOM.setFileInputFiles", { files: [resolve(file)], objectId: result.objectId }, sessionId);
  await until(`!document.querySelector('#work').hidden && document.querySelector('#opened button') !== null`);
});
for (const line of lines) {
  await timed(line, async () => {
    await evaluate(`document.querySelector('#state').textContent = ''; document.querySelector('#line').value = ${JSON.stringify(line)}; document.querySelector('#console form').requestSubmit()`);
    await until(done);
  });
}
browser.kill();
await new Promise((ended) => browser.on("exit", ended));
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
