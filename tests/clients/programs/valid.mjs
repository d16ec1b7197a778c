// Says which packs are valid YAML 1.2 and follow the specification in name and
// description, by a reader of YAML that is not ours. `node valid.mjs FILE`, where each
// line of FILE is JSON with id and text; prints the ids as a list of JSON.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { parseDocument } = createRequire(process.argv[3])("yaml");

const FENCED = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/;
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

function valid(text) {
  const fenced = FENCED.exec(text);
  if (!fenced) return false;
  const document = parseDocument(fenced[1], { version: "1.2", logLevel: "silent" });
  if (document.errors.length) return false;
  let front;
  try {
    front = document.toJS();
  } catch {
    return false;
  }
  if (typeof front !== "object" || front === null) return false;
  const { name, description } = front;
  if (typeof name !== "string" || name.length > 64 || !NAME.test(name)) return false;
  if (typeof description !== "string" || !description.trim()) return false;
  return [...description].length <= 1024;
}

const lines = readFileSync(process.argv[2], "utf-8").split("\n").filter(Boolean);
const ids = lines.map(JSON.parse).filter(({ text }) => valid(text)).map(({ id }) => id);
console.log(JSON.stringify(ids));
