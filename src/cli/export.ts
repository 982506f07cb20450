import { stringify } from "yaml";
import type { ExportView } from "../api/routes/export.ts";
import type { WorkspaceView } from "../api/schema.ts";
import type { OutputFormat } from "./output.ts";
import { isAbsent, type RestClient } from "./rest-client.ts";
import { cellText } from "./table.ts";

export interface ExportOptions {
  readonly into: string;
  readonly server?: string;
  readonly output: OutputFormat;
}

/**
 * `argosy export [workspace…]`: everything an ordinary Argo CD takes over, of the workspaces named or of all, as one document; and
 * what a person should know beside it, line by line. `isWhole`: nothing was left out.
 */
export async function exportWorkspaces(
  client: RestClient,
  names: readonly string[],
  { into, server, output }: ExportOptions,
): Promise<{ readonly text: string; readonly remarks: readonly string[]; readonly isWhole: boolean }> {
  const wanted = names.length > 0 ? [...new Set(names)] : await everyWorkspace(client);
  const found: ExportView[] = [];
  for (const name of wanted) {
    const path = `/v1/workspaces/${encodeURIComponent(name)}/export`;
    const one = await client.get<ExportView>(path, { into, server }).catch((error: unknown) => {
      // Whoever asks for all of them wants those that are there.
      if (names.length === 0 && isAbsent(error)) return undefined;
      throw error;
    });
    if (one !== undefined) found.push(one);
  }
  const objects = found.flatMap((one) => one.objects);
  const leftOut = found.flatMap((one) => one.leftOut.map((each) => `${one.namespace}/${each.application} is left out: ${each.reason}`));
  const needs = found.flatMap((one) => one.needs.map(({ kind, url }) => (kind === "cluster" ? clusterNote(url) : repositoryNote(url))));
  const count = (kind: string): number => objects.filter((object) => object["kind"] === kind).length;
  const summary = `${count("Application")} applications in ${count("AppProject")} projects of ${found.length} workspaces`;
  return {
    text: render(objects, output),
    remarks: [...leftOut, ...new Set(needs), summary].map(cellText),
    isWhole: leftOut.length === 0,
  };
}

async function everyWorkspace(client: RestClient): Promise<readonly string[]> {
  const all = await client.all<WorkspaceView>("/v1/workspaces");
  return [...new Set(all.map(({ namespace }) => namespace))].sort();
}

function render(objects: ExportView["objects"], output: OutputFormat): string {
  if (output === "json") return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }, null, 2);
  return objects
    .map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }))
    .join("---\n")
    .trimEnd();
}

const clusterNote = (url: string): string => `the Argo CD needs a cluster ${url}: argocd cluster add`;
const repositoryNote = (url: string): string => `the Argo CD needs a credential for ${url}: argocd repo add`;
