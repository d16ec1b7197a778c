/** A model that says what it is told to, in order; for examples and tests. */

import { MockLanguageModelV4 } from "ai/test";

export type Line = { text: string } | { tool: string; input: Record<string, unknown> };

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Return the model; asked more often than there are lines, it says the last again. */
export function scripted(lines: Line[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: lines.map((line, index) => ({
      content: [
        "text" in line
          ? { type: "text", text: line.text }
          : {
              type: "tool-call",
              toolCallId: `call-${index}`,
              toolName: line.tool,
              input: JSON.stringify(line.input),
            },
      ],
      finishReason: {
        unified: "text" in line ? "stop" : "tool-calls",
        raw: undefined,
      },
      usage,
      warnings: [],
    })),
  });
}
