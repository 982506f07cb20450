import type { WhoamiView } from "../api/routes/whoami.ts";
import { isForPrograms, type OutputFormat, render, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, paragraph } from "./table.ts";

type Grant = WhoamiView["grants"][number];

const listed = (names: readonly string[] | null): string => names?.join(", ") ?? "any";

export const grantColumns: readonly Column<Grant>[] = [
  { title: "ROLE", value: (row) => row.role },
  { title: "CLASSES", value: (row) => listed(row.classes) },
  { title: "WORKSPACES", value: (row) => listed(row.workspaces), fit: "text" },
];

const WAYS: Readonly<Record<WhoamiView["way"], string>> = {
  token: "a token of Argosy's own",
  oidc: "a token of an issuer",
  kubernetes: "a token of the API cluster",
};

/** `argosy whoami`: who the caller is for the server. */
export async function whoami(client: RestClient, output: OutputFormat): Promise<string> {
  const view = await client.get<WhoamiView>("/v1/whoami");
  if (isForPrograms(output)) return renderOne(view, output);
  const until = view.until === null ? "" : `, which expires at ${view.until}`;
  return [paragraph(`${view.actor}, by ${WAYS[view.way]}${until}`), "", render(view.grants, grantColumns, output)].join("\n");
}
