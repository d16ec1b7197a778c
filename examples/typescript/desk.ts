/**
 * An agent whose skills come from `satchel serve`:
 *
 *     satchel serve examples/skills &
 *     cd examples/typescript && npm install && node desk.ts http://127.0.0.1:8321
 *
 * The model here follows a script, so that this runs without a key; put a real one in
 * its place: `model: anthropic("...")`.
 */

import { generateText, isStepCount } from "ai";

import { scripted } from "./scripted.ts";
import { skills } from "./skills.ts";

const address = process.argv[2] ?? "http://127.0.0.1:8321";
const { instructions, tools } = await skills(address);

const answer = await generateText({
  model: scripted([
    { tool: "load_skill", input: { skill_id: "invoice-check" } },
    { tool: "read_skill_file", input: { skill_id: "invoice-check", path: "required-details.md" } },
    { tool: "load_skill", input: { skill_id: "no-such-skill" } },
    { text: "The invoice is in order." },
  ]),
  instructions: `You work at the desk.\n\n${instructions}`,
  prompt: "Is this invoice in order?",
  tools,
  stopWhen: isStepCount(10),
});

for (const { toolResults } of answer.steps)
  for (const { toolName, input, output } of toolResults)
    console.log(JSON.stringify({ tool: toolName, input, output }));
console.log(answer.text);
