// Turns a core module into a component: `node component.mjs CORE.wasm WIT-FOLDER COMPONENT.wasm`. For the world
// `scorer`; uses the wasm-tools that npm's `@bytecodealliance/jco` includes.

import { readFile, readdir, writeFile } from "node:fs/promises";
import { componentEmbed, componentNew } from "@bytecodealliance/jco-transpile/wasm-tools";

const [core, wit, component] = process.argv.slice(2);
// As one text, because these wasm-tools read no folders; a text has one line that names the package.
let source = "";
for (const name of (await readdir(wit)).sort()) {
  const text = await readFile(`${wit}/${name}`, "utf8");
  source += source === "" ? text : text.replace(/^package .*;$/m, "");
}
const binary = await readFile(core);
const embedded = await componentEmbed({ binary, witSource: source, world: "scorer" });
await writeFile(component, await componentNew(embedded, []));
