// Builds dist/, which package page embeds: one script with noVNC in it, one style sheet, the page, the licences, and
// beside each text a .gz that the relay hands to a browser that takes it.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const novnc = "node_modules/@novnc/novnc";
const version = JSON.parse(readFileSync(`${novnc}/package.json`, "utf8")).version;

mkdirSync("dist/assets", { recursive: true });
writeFileSync("dist/.gitkeep", "");

const write = (name, text) => {
  writeFileSync(`dist/${name}`, text);
  writeFileSync(`dist/${name}.gz`, gzipSync(text, { level: 9 }));
};

// The first comment of a file, without its stars.
const comment = (text) => text.slice(text.indexOf("/*") + 2, text.indexOf("*/")).replace(/^ ?\* ?/gm, "").trim();

const bundle = await build({
  entryPoints: ["src/page.js", "src/page.css"],
  outdir: "dist/assets",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome111", "firefox115", "safari16.4"],
  legalComments: "none", // assets/licences.txt has them in full
  write: false,
});
for (const file of bundle.outputFiles) {
  write("assets/" + file.path.split("/").pop(), file.text);
}

write("index.html", readFileSync("src/index.html", "utf8"));
write("assets/icon.svg", readFileSync("src/icon.svg", "utf8"));
write("assets/licences.txt", [
  `This page contains noVNC ${version} (npm package @novnc/novnc), https://github.com/novnc/noVNC, unchanged and bundled.`,
  "Its source is that package; the Mozilla Public License 2.0 below covers it.",
  "", readFileSync(`${novnc}/AUTHORS`, "utf8"),
  readFileSync(`${novnc}/LICENSE.txt`, "utf8"),
  readFileSync(`${novnc}/docs/LICENSE.MPL-2.0`, "utf8"),
  "noVNC contains core/crypto/des.js, which says:", "", // what is bundled has lost its comments
  comment(readFileSync(`${novnc}/core/crypto/des.js`, "utf8")), "",
  "noVNC contains pako (zlib), MIT:", "",
  readFileSync(`${novnc}/vendor/pako/LICENSE`, "utf8"),
].join("\n"));
