// Inflates the styles and the scripts of the page, whose hashes its policy names, and runs them.
const deflated = Uint8Array.from(atob(document.getElementById("code")?.textContent ?? ""), (c) => c.charCodeAt(0));
const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
const [style, script] = (await new Response(stream).text()).split("\0");
document.querySelector("style")?.remove();
document.head.append(Object.assign(document.createElement("style"), { textContent: style }),
  Object.assign(document.createElement("script"), { type: "module", textContent: script }));
