import type { FleetProposalView } from "../src/api/fleet-views.ts";
import type { AppliedFleet } from "../src/api/routes/fleet.ts";
import { createRestClient } from "../src/cli/rest-client.ts";
import type { World } from "./world.ts";

/** Declares a fleet as an operator does. Where it waits for a second person, an approver approves it. */
export async function declareFleet({ rest, harness }: Pick<World, "rest" | "harness">, document: object, query = {}): Promise<void> {
  const answer = await rest.put<AppliedFleet | FleetProposalView>("/v1/fleet", document, query);
  if (!("expiresAt" in answer)) return;
  const approver = createRestClient({ url: harness.argosyUrls[0] ?? "", token: harness.approverToken });
  await approver.post(`/v1/fleet/proposals/${answer.id}/approve`, { reason: "a story needs it" });
}
