// Blocks: bytes that the page has as base64 of a deflate stream, in elements that are no scripts.
/** @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>} */
const known = new Map();

const fromBase64 = (/** @type {string} */ text) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let n = 0; n < bytes.length; n++) bytes[n] = raw.charCodeAt(n);
  return bytes;
};

const decode = async (/** @type {string} */ name) => {
  const element = document.getElementById(`b:${name}`);
  if (!element) throw new Error(`the page has no block ${name}`);
  try {
    const deflated = new Blob([fromBase64(element.textContent ?? "")]);
    // Its text is not needed any more.
    element.remove();
    const stream = deflated.stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error(`block ${name} of this page is damaged`);
  }
};

// The bytes of a block, which is decoded once.
assetq.block = (name) => {
  const block = known.get(name) ?? decode(name);
  known.set(name, block);
  return block;
};
