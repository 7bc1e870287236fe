// Blocks: bytes that the page has as base64 of a deflate stream, in elements that are no scripts.
{
  const known = new Map();

  const CODES = new Uint8Array(128);
  [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((c, n) => (CODES[c.charCodeAt(0)] = n));

  const fromBase64 = (text) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const bytes = new Uint8Array((text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0));
    const at = (n) => CODES[text.charCodeAt(n)];
    for (let n = 0, to = 0; n < text.length; n += 4) {
      const bits = (at(n) << 18) | (at(n + 1) << 12) | (at(n + 2) << 6) | at(n + 3);
      bytes[to++] = bits >> 16;
      bytes[to++] = bits >> 8;
      bytes[to++] = bits;
    }
    return bytes;
  };

  const decode = async (name) => {
    const element = document.getElementById(`b:${name}`);
    if (!element) throw new Error(`the page has no block ${name}`);
    const deflated = fromBase64(element.textContent);
    // Its text is not needed any more.
    element.remove();
    const stream = new DecompressionStream("deflate-raw");
    const writer = stream.writable.getWriter();
    // What goes wrong is told by what is read.
    writer.write(deflated).catch(() => {});
    writer.close().catch(() => {});
    const pieces = [];
    let length = 0;
    for (const reader = stream.readable.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      length += value.length;
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  };

  // The bytes of a block, which is decoded once.
  assetq.block = (name) => {
    if (!known.has(name)) known.set(name, decode(name));
    return known.get(name);
  };
}
