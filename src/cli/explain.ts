import type { ExplanationView } from "../api/schema.ts";
import { type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";

/** `argosy explain <workspace>`: why it is where it is, as sentences or with all recorded facts. */
export async function explainWorkspace(client: RestClient, namespace: string, output: OutputFormat): Promise<string> {
  const explanation = await client.get<ExplanationView>(`/v1/explain/${encodeURIComponent(namespace)}`);
  return output === "json" || output === "yaml" ? renderOne(explanation, output) : explanation.text.join("\n");
}
