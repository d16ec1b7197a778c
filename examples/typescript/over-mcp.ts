/** The same server through the `ai` package's own MCP client: no code but this. */

import { createMCPClient } from "@ai-sdk/mcp";
import { generateText, isStepCount } from "ai";

import { scripted } from "./scripted.ts";

const address = process.argv[2] ?? "http://127.0.0.1:8321";
const client = await createMCPClient({
  transport: { type: "http", url: `${address}/mcp` },
});
try {
  const answer = await generateText({
    model: scripted([
      { tool: "load_skill", input: { skill_id: "invoice-check" } },
      { text: "The invoice is in order." },
    ]),
    prompt: "Is this invoice in order?",
    tools: await client.tools(),
    stopWhen: isStepCount(10),
  });
  for (const { toolResults } of answer.steps)
    for (const { toolName, input, output } of toolResults)
      console.log(JSON.stringify({ tool: toolName, input, output }));
  console.log(answer.text);
} finally {
  await client.close();
}
