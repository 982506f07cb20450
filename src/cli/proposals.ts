import type { FleetProposalView } from "../api/fleet-views.ts";
import { age, shortId, timeText } from "./age.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, paragraph } from "./table.ts";

export const proposals: readonly Column<FleetProposalView>[] = [
  { title: "PROPOSAL", value: (row) => shortId(row.id) },
  { title: "STATE", value: (row) => row.state },
  { title: "BY", value: (row) => row.actor, fit: "name" },
  { title: "AGE", value: (row) => age(row.createdAt), isClock: true },
  { title: "ENDED BY", value: (row) => row.end?.actor ?? null, fit: "name" },
  { title: "FOR", value: (row) => row.needs.map(({ path }) => path).join(", "), fit: "text" },
  { title: "ID", value: (row) => row.id, isWide: true },
  { title: "MADE", value: (row) => timeText(row.createdAt), isWide: true },
  { title: "EXPIRES", value: (row) => timeText(row.expiresAt), isWide: true },
];

/** `argosy fleet show|approve|reject|withdraw`. */
export async function commandProposal(
  client: RestClient,
  id: string,
  {
    command,
    reason,
    output,
  }: { readonly command: "show" | "approve" | "reject" | "withdraw"; readonly reason?: string; readonly output: OutputFormat },
): Promise<string> {
  const path = `/v1/fleet/proposals/${encodeURIComponent(id)}`;
  const view =
    command === "show"
      ? await client.get<FleetProposalView>(path)
      : await client.post<FleetProposalView>(`${path}/${command}`, reason === undefined ? {} : { reason });
  return isForPrograms(output) ? renderOne(view, output) : renderProposal(view);
}

function renderProposal(view: FleetProposalView): string {
  const { id, state, actor, base, expiresAt, end, prune, changes } = view;
  const how = end === null ? (state === "OPEN" ? `, until ${expiresAt}` : "") : ` by ${end.actor} at ${end.at}: ${end.reason}`;
  const head = `proposal ${id} is ${state}${how}; ${actor} made it from revision ${base}`;
  const whole = changes.flatMap((one) => [
    `  ${MARKS[one.change]} ${one.path}`,
    ...one.fields.map((field) => `      ${field.path}: ${field.before} → ${field.after}`),
  ]);
  return [
    paragraph(head),
    "needs an approver who is somebody else",
    ...needsText(view.needs),
    "changes",
    ...whole,
    ...(prune ? ["instances of pools that it leaves out go"] : []),
  ].join("\n");
}

const MARKS: Readonly<Record<FleetProposalView["changes"][number]["change"], string>> = { added: "+", removed: "-", changed: "~" };

/** What needs a second person, each with the reason. */
export function needsText(needs: FleetProposalView["needs"]): readonly string[] {
  return needs.flatMap(({ path, before, after, reason }) => [`  ${path}: ${before} → ${after}`, `      ${reason}`]);
}

/** What `argosy apply` says where the declaration became a proposal. */
export function renderProposed({ id, base, actor, expiresAt, needs }: FleetProposalView): string {
  const inForce = base === 0 ? "none is declared yet" : `revision ${base} is in force`;
  return [
    `fleet unchanged (${inForce}): proposal ${id} waits for an approver who is not ${actor}`,
    ...needsText(needs),
    `\`argosy fleet approve ${id.slice(0, 18)}\` with such a token declares the whole document, until ${expiresAt}`,
  ].join("\n");
}
