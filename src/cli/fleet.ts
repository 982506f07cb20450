import { stringify } from "yaml";
import type { DeclaredFleet } from "../api/routes/fleet.ts";
import { isForPrograms, type OutputFormat, render } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import type { Column } from "./table.ts";

/** A pool as the document has it. The server has written out every default, so that only what may be absent is. */
interface PoolFields {
  readonly name: string;
  readonly class: { readonly region: string; readonly tier: string; readonly trust: string; readonly channel?: string };
  readonly engineClusters: readonly string[];
  readonly instances: { readonly min: number; readonly max: number };
  readonly version?: string;
  readonly capacity: Readonly<Record<"applications" | "clusterEntries" | "cachedResources" | "milliCpu" | "gitPerMinute", number>>;
}

export const pools: readonly Column<PoolFields>[] = [
  { title: "POOL", value: ({ name }) => name, fit: "name" },
  {
    title: "CLASS",
    value: ({ class: { region, tier, trust, channel } }) => [region, tier, trust, channel].filter(Boolean).join("/"),
    fit: "name",
  },
  { title: "INSTANCES", value: ({ instances: { min, max } }) => `${min} to ${max}` },
  { title: "APPS EACH", value: ({ capacity }) => capacity.applications },
  { title: "VERSION", value: ({ version }) => version ?? "default" },
  { title: "CLUSTERS", value: ({ engineClusters }) => engineClusters.join(", "), isWide: true },
  { title: "ENTRIES EACH", value: ({ capacity }) => capacity.clusterEntries, isWide: true },
  { title: "RESOURCES EACH", value: ({ capacity }) => capacity.cachedResources, isWide: true },
  { title: "MILLICPU EACH", value: ({ capacity }) => capacity.milliCpu, isWide: true },
  { title: "GIT/MIN EACH", value: ({ capacity }) => capacity.gitPerMinute, isWide: true },
];

/** `argosy get fleet`: the declared pools as a table, or for programs the document and nothing else, as `argosy apply -f` takes it. */
export async function showFleet(
  client: RestClient,
  output: OutputFormat,
): Promise<{ readonly rows: number; readonly text: string; readonly remark: string | undefined }> {
  const { revision, pruned, document } = await client.get<DeclaredFleet>("/v1/fleet");
  if (isForPrograms(output)) return { rows: 1, text: documentText(document, output), remark: undefined };
  const remarks = [
    `revision ${revision}; -o yaml prints the document that \`argosy apply -f\` takes`,
    ...pruned.map((pool) => `pool ${pool} is not declared any more, and its instances leave`),
  ];
  return { rows: 1, text: render(document["pools"] as readonly PoolFields[], pools, output), remark: remarks.join("\n") };
}

/** Long lines stay whole: a certificate or an image that is folded reads badly and is the same. */
function documentText(document: DeclaredFleet["document"], output: "json" | "yaml"): string {
  if (output === "json") return JSON.stringify(document, null, 2);
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
}
