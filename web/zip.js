// A .zip of files that are stored as they are: the browser keeps their bytes where they lie, and nothing is copied.

const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = (byte >>> 1) ^ (byte & 1 ? 0xedb88320 : 0);
  return byte;
});

/** The CRC-32 of a file, read a piece at a time.
 * @param {Blob} blob */
const checksum = async (blob) => {
  let sum = -1;
  const reader = blob.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return ~sum >>> 0;
    for (let at = 0; at < value.length; at++) sum = (sum >>> 8) ^ CHECKSUMS[(sum ^ value[at]) & 255];
  }
};

/** Little-endian numbers one after another: a digit of `widths` has the bytes of each.
 * @param {string} widths @param {number[]} numbers */
const little = (widths, numbers) => [...widths].flatMap((width, n) => Array.from({ length: Number(width) }, (_, byte) => (numbers[n] >>> (8 * byte)) & 255));

/** @param {[string, Blob][]} files their paths, and their bytes
 * @returns {Promise<Blob>} */
export const zip = async (files) => {
  const size = files.reduce((sum, [path, blob]) => sum + blob.size + 6 * path.length + 128, 0);
  if (files.length > 0xfffe || size > 0xfffffffe) throw new Error("a .zip holds 65,534 files and 4 GB: save the files one by one, or make fewer at once");
  const now = new Date();
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  const date = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  /** @type {BlobPart[]} */
  const parts = [];
  /** @type {BlobPart[]} */
  const index = [];
  const names = new Set();
  let [at, indexed] = [0, 0];
  for (const [path, blob] of files) {
    // Windows takes these for more than a part of a name.
    let name = path.replace(/[\\:*?"<>|\p{Cc}]/gu, "_");
    while (names.has(name)) name = `_${name}`;
    names.add(name);
    const named = new TextEncoder().encode(name);
    // Version 2.0, names in UTF-8, stored.
    const about = little("2222244422", [20, 1 << 11, 0, time, date, await checksum(blob), blob.size, blob.size, named.length, 0]);
    const local = new Uint8Array([...little("4", [0x04034b50]), ...about]);
    const central = new Uint8Array([...little("42", [0x02014b50, 20]), ...about, ...little("22244", [0, 0, 0, 0, at])]);
    parts.push(local, named, blob);
    index.push(central, named);
    at += local.length + named.length + blob.size;
    indexed += central.length + named.length;
  }
  const end = new Uint8Array(little("42222442", [0x06054b50, 0, 0, files.length, files.length, indexed, at, 0]));
  return new Blob([...parts, ...index, end], { type: "application/zip" });
};
