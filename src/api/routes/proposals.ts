import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { rfc3339 } from "../../domain/clock.ts";
import { GoneError, RefusedError, StaleError } from "../../domain/errors.ts";
import { type FleetProposal, isSamePerson, type Person, type ProposalEnd, stateOfProposal } from "../../domain/fleet-approval.ts";
import { includesRole } from "../auth.ts";
import { findByPrefix } from "../find.ts";
import { proposalView, viewOfProposal } from "../fleet-views.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem, tooMuch } from "../problem.ts";
import { findComplaints, findPerson, refusal } from "./fleet.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);
/** More than are made in a year. */
const PROPOSALS_READ = 200;

const named = z.object({ proposal: z.string().max(253) });
const said = z.strictObject({
  reason: z.string().trim().min(1).max(500).default("no reason given").describe("why, for the journal and for whoever asks later"),
});

const COMMANDS = [
  {
    command: "approve",
    as: "APPROVED",
    operationId: "approveFleetProposal",
    summary: "Declares what somebody else has proposed; needs approver",
  },
  { command: "reject", as: "REJECTED", operationId: "rejectFleetProposal", summary: "Ends a proposal undone; needs approver" },
  {
    command: "withdraw",
    as: "WITHDRAWN",
    operationId: "withdrawFleetProposal",
    summary: "Takes one's own proposal back",
  },
] as const;

/** Read-only routes for declarations that wait for a second person. */
export function addProposalViews(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/v1/fleet/proposals",
    {
      schema: {
        operationId: "listFleetProposals",
        summary: "Declarations that wait for a second person, and those that did, newest first",
        security,
        response: { 200: z.object({ items: z.array(proposalView) }) },
      },
    },
    async () => {
      const at = await present(deps);
      return { items: (await deps.store.proposals.list(PROPOSALS_READ, deadline())).map((one) => viewOfProposal(one, at)) };
    },
  );
  app.get(
    "/v1/fleet/proposals/:proposal",
    {
      schema: { operationId: "readFleetProposal", summary: "One of them", security, params: named, response: { 200: proposalView } },
    },
    async ({ params }) => viewOfProposal(await findProposal(deps, params.proposal), await present(deps)),
  );
}

/** Approving, rejecting and withdrawing them. */
export function addProposalRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  for (const { command, as, operationId, summary } of COMMANDS)
    app.post(
      `/v1/fleet/proposals/:proposal/${command}`,
      { schema: { operationId, summary, security, params: named, body: said, response: { 200: proposalView } } },
      async (request, reply) => {
        const { params, body, actor, role } = request;
        if (as !== "WITHDRAWN" && !includesRole(role, "approver"))
          return sendProblem(
            reply,
            problem({ status: 403, code: "api.role", detail: tooMuch(`to ${command} a proposal`, { actor, role }) }),
          );
        const proposal = await findProposal(deps, params.proposal);
        checkPerson(proposal, as, await findPerson(deps, actor));
        if (as === "APPROVED") {
          checkState(proposal, await present(deps));
          // What was sound when it was proposed may be frozen by now.
          const complaints = await findComplaints(deps, proposal.spec);
          if (complaints.length > 0) return sendProblem(reply, refusal(complaints));
        }
        const closed = await deps.store.proposals.close({ id: proposal.id, as, actor, reason: body.reason }, deadline());
        if (as === "APPROVED" && proposal.prune) await deps.store.fleet.prunePools(actor, deadline());
        return viewOfProposal(closed, await present(deps));
      },
    );
}

async function present({ store, clock }: ApiDeps) {
  return { now: clock.now(), revision: (await store.fleet.readFleet(deadline()))?.revision ?? 0 };
}

async function findProposal({ store }: ApiDeps, text: string): Promise<FleetProposal> {
  const found = findByPrefix("proposal", text, await store.proposals.list(PROPOSALS_READ, deadline()));
  if (found !== undefined) return found;
  throw new GoneError(`there is no proposal ${text}; \`argosy fleet proposals\` lists them`, {
    code: "api.no-proposal",
    context: { proposal: text },
  });
}

function checkPerson({ by }: FleetProposal, as: ProposalEnd, person: Person): void {
  const isOwn = isSamePerson(by, person);
  if (as === "APPROVED" && isOwn)
    throw new RefusedError(
      `${by.actor} has proposed this, and it needs somebody else with role approver, whose token neither of you made for the other`,
      { code: "api.own-proposal" },
    );
  if (as === "WITHDRAWN" && !isOwn)
    throw new RefusedError(`${by.actor} has proposed this and may take it back; an approver rejects it`, { code: "api.own-proposal" });
}

function checkState(proposal: FleetProposal, at: Parameters<typeof stateOfProposal>[1]): void {
  const state = stateOfProposal(proposal, at);
  if (state !== "OUTDATED" && state !== "EXPIRED") return;
  const why =
    state === "EXPIRED"
      ? `has waited since ${rfc3339(proposal.createdAt)}, which is too long`
      : `was made from revision ${proposal.base} of the fleet, while ${at.revision} is in force`;
  throw new StaleError(`approving a proposal that ${why}`, { code: "api.proposal-outdated" });
}
