import type { InstanceOrderView } from "../api/routes/instances.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { sentences } from "./table.ts";

export interface InstanceOrderOptions {
  readonly dryRun?: boolean;
  readonly reason?: string;
  readonly output: OutputFormat;
}

/** `argosy instance create <instance>`: asks its pool for one more. */
export async function createInstance(client: RestClient, name: string, options: InstanceOrderOptions): Promise<string> {
  return textOf(await client.post<InstanceOrderView>("/v1/instances", { name, ...bodyOf(options) }), options);
}

/** `argosy instance delete <instance>`: lets one go that serves nobody. */
export async function deleteInstance(client: RestClient, name: string, options: InstanceOrderOptions): Promise<string> {
  return textOf(await client.post<InstanceOrderView>(`/v1/instances/${encodeURIComponent(name)}/retire`, bodyOf(options)), options);
}

function bodyOf({ dryRun = false, reason }: InstanceOrderOptions): object {
  return { dryRun, ...(reason === undefined ? {} : { reason }) };
}

function textOf(view: InstanceOrderView, { output }: InstanceOrderOptions): string {
  if (isForPrograms(output)) return renderOne(view, output);
  const { text, pool, min, dryRun } = view;
  const [asks, keep] = dryRun ? ["would ask", "then"] : ["asks", "now"];
  const sizes = min === null ? [] : [`pool ${pool} ${asks} for ${min.after} instances instead of ${min.before}`];
  const file =
    min === null ? [] : [`${keep} write instances.min: ${min.after} into fleet.yaml, or the next \`argosy apply -f\` takes it back`];
  return sentences([text, ...sizes, ...file, ...(dryRun ? ["nothing was done"] : [])].join("\n"));
}
