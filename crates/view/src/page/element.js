// The object that scripts of pages extend, and elements with texts: also for the page that has the whole command.
globalThis.assetq = /** @type {Assetq} */ ({ kinds: {}, kept: "" });

// Control characters, marks of direction and what has no width: shown as what they are, never followed.
const UNFIT = /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
/** @type {Record<string, string>} */
const NAMED = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
assetq.clean = (text) =>
  text.replace(UNFIT, (c) => (assetq.kept.includes(c) ? c : NAMED[c] ?? `\\u{${c.codePointAt(0)?.toString(16)}}`));

// An element: `class`, `title` and other attributes, `on…` functions, and children; strings become text.
assetq.el = (tag, props = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (typeof value === "boolean") Object.assign(element, { [name]: value });
    else if (value !== undefined && value !== null) element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : assetq.clean(String(child)));
    }
  }
  return element;
};
