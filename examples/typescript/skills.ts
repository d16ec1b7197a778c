/**
 * Skills of a Satchel server for any model of the `ai` package.
 *
 * The catalog goes into the instructions, the rest is loaded when the model asks:
 * `GET /v1/prompt`, `GET /v1/skills/{id}`, `GET /v1/skills/{id}/files/{path}`.
 * The server's `/v1/openapi.json` describes them.
 */

import { tool } from "ai";
import { z } from "zod";

/** What the server says instead of an answer. */
type Told = { error: { code: string; message: string } };

export type Skills = Awaited<ReturnType<typeof skills>>;

/**
 * Return the catalog section, and the two tools that it speaks of.
 *
 * `token` is the bearer token of a server that asks for one. An unknown skill is an
 * answer that the model reads, never an exception in its loop.
 */
export async function skills(address: string, token?: string) {
  const headers: HeadersInit = token ? { authorization: `Bearer ${token}` } : {};
  const get = (path: string) => fetch(new URL(path, address), { headers });

  const load = async (path: string): Promise<Response | Told> => {
    const response = await get(path);
    return response.ok ? response : ((await response.json()) as Told);
  };

  const response = await get("/v1/prompt");
  if (!response.ok) throw new Error(`${address} answers with ${response.status}`);
  const section = (await response.json()) as { text: string };

  return {
    instructions: section.text,
    tools: {
      load_skill: tool({
        description: "Load a skill's instructions by its id.",
        inputSchema: z.object({ skill_id: z.string() }),
        execute: async ({ skill_id }) => {
          const found = await load(`/v1/skills/${encodeURIComponent(skill_id)}`);
          if (!(found instanceof Response)) return found;
          return ((await found.json()) as { instructions: string }).instructions;
        },
      }),
      read_skill_file: tool({
        description: "Read a file of a skill.",
        inputSchema: z.object({ skill_id: z.string(), path: z.string() }),
        execute: async ({ skill_id, path }) => {
          const parts = [skill_id, path].map(encodeURIComponent);
          const found = await load(`/v1/skills/${parts[0]}/files/${parts[1]}`);
          return found instanceof Response ? await found.text() : found;
        },
      }),
    },
  };
}
