import { z } from "zod";
import { type Millis, rfc3339 } from "../domain/clock.ts";
import { type FleetProposal, type NeededApproval, PROPOSAL_STATES, stateOfProposal } from "../domain/fleet-approval.ts";
import type { FleetDifference } from "../domain/fleet-diff.ts";

const field = z.object({ path: z.string(), before: z.string(), after: z.string() });
export const fleetChange = z
  .object({
    path: z.string().describe("e.g. pools.standard"),
    change: z.enum(["added", "removed", "changed"]),
    fields: z.array(field).describe("what differs below it; empty for what was added or removed as a whole"),
  })
  .meta({ id: "FleetChange" });

export const neededApproval = z
  .object({
    path: z.string().describe("e.g. versions.catalogue.3.5.8.image"),
    before: z.string().describe("as JSON"),
    after: z.string().describe("as JSON"),
    reason: z.string().describe("why one person alone must not change it"),
  })
  .meta({ id: "NeededApproval" });

export const proposalView = z
  .object({
    id: z.string(),
    state: z
      .enum(PROPOSAL_STATES)
      .describe(
        "OUTDATED: another declaration than the one it was made from is in force, or EXPIRED: it waited too long; propose it again",
      ),
    actor: z.string().describe("who proposed it"),
    base: z.number().int().describe("revision that it was made from; 0: none was declared"),
    prune: z.boolean(),
    needs: z.array(neededApproval).describe("what of it needs a second person"),
    changes: z.array(fleetChange).describe("all that it changes, sorted by path"),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    end: z.object({ actor: z.string(), at: z.iso.datetime(), reason: z.string() }).nullable().describe("who ended it; null: nobody"),
  })
  .meta({ id: "FleetProposal" });
export type FleetProposalView = z.infer<typeof proposalView>;

export function viewOfProposal(proposal: FleetProposal, at: { readonly now: Millis; readonly revision: number }): FleetProposalView {
  const { id, by, base, prune, needs, changes, createdAt, expiresAt, end } = proposal;
  return {
    ...{ id, state: stateOfProposal(proposal, at), actor: by.actor, base, prune },
    needs: viewOfNeeds(needs),
    changes: viewOfChanges(changes),
    createdAt: rfc3339(createdAt),
    expiresAt: rfc3339(expiresAt),
    end: end === undefined ? null : { actor: end.actor, at: rfc3339(end.at), reason: end.reason },
  };
}

export function viewOfNeeds(needs: readonly NeededApproval[]): z.infer<typeof neededApproval>[] {
  return needs.map((need) => ({ ...need }));
}

export function viewOfChanges(changes: readonly FleetDifference[]): z.infer<typeof fleetChange>[] {
  return changes.map((entry) => ({ ...entry, fields: entry.fields.map((one) => ({ ...one })) }));
}
