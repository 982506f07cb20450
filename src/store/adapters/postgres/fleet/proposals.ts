import type { Clock } from "../../../../domain/clock.ts";
import { type FleetProposal, stateOfProposal } from "../../../../domain/fleet-approval.ts";
import { isSameProposal, proposalDecision, proposalEnded, proposalGone } from "../../../fleet/fleet-changes.ts";
import type { ProposalClosing, ProposalStore } from "../../../fleet/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { instant, sqlText } from "../sql-values.ts";
import { declareFleet, lockFleet, specOf } from "./declared-fleet.ts";

const OPEN: Statement = {
  name: "list_open_proposals",
  text: "select document from fleet_proposal where state = 'OPEN' and base = $1 order by created_at desc, id desc",
};

const LIST: Statement = { name: "list_proposals", text: "select document from fleet_proposal order by created_at desc, id desc limit $1" };

const READ: Statement = { name: "read_proposal", text: "select document from fleet_proposal where id = $1" };

const ADD: Statement = {
  name: "add_proposal",
  text: `
with added as (
  insert into fleet_proposal (id, state, base, created_at, document) values ($1, 'OPEN', $2, $3, $4::json)
)
insert into decision (${DECISION_COLUMNS}) values ($5, $6, $7, $8, $9, $10, $11::json)`,
};

const CLOSE: Statement = {
  name: "close_proposal",
  text: `
with closed as (
  update fleet_proposal set state = $2, document = $3::json where id = $1
)
insert into decision (${DECISION_COLUMNS}) values ($4, $5, $6, $7, $8, $9, $10::json)`,
};

interface Row {
  readonly document: FleetProposal;
}

/** Proposals are written under the lock of the declared fleet: what they were made from stays in force meanwhile. */
export function createProposals(database: Database, clock: Clock, ids: DecisionIds): ProposalStore {
  return {
    propose: (proposal, signal) => database.transaction("propose_fleet", (run) => propose(run, { clock, ids }, proposal), signal),
    list: async (limit, signal) => (await database.run<Row>(LIST, [limit], signal)).map(proposalOf),
    async read(id, signal) {
      const [row] = await database.run<Row>(READ, [sqlText(id)], signal);
      return row === undefined ? undefined : proposalOf(row);
    },
    close: (closing, signal) => database.transaction("close_proposal", (run) => close(run, { clock, ids }, closing), signal),
  };
}

interface Parts {
  readonly clock: Clock;
  readonly ids: DecisionIds;
}

async function propose(run: Run, { clock, ids }: Parts, proposal: FleetProposal): Promise<FleetProposal> {
  const { id, base, createdAt, by } = proposal;
  await lockFleet(run, clock, base);
  const open = (await run<Row>(OPEN, [base])).map(proposalOf);
  const isOpen = (one: FleetProposal): boolean => stateOfProposal(one, { now: clock.now(), revision: base }) === "OPEN";
  const same = open.find((one) => isOpen(one) && isSameProposal(one, proposal));
  if (same !== undefined) return same;
  const decision = proposalDecision(proposal, { at: clock.now(), verdict: "PROPOSED", actor: by.actor });
  await run(ADD, [id, base, instant(createdAt), sqlText(JSON.stringify(proposal)), ...decisionValues(ids, decision)]);
  return proposal;
}

async function close(run: Run, { clock, ids }: Parts, { id, as, actor, reason }: ProposalClosing): Promise<FleetProposal> {
  await lockFleet(run, clock);
  const [row] = await run<Row>(READ, [sqlText(id)]);
  if (row === undefined) throw proposalGone(id);
  const proposal = proposalOf(row);
  if (proposal.end !== undefined) throw proposalEnded(proposal);
  if (as === "APPROVED")
    await declareFleet(run, { clock, ids }, { spec: proposal.spec, actor, revision: proposal.base, approved: proposal });
  const closed: FleetProposal = { ...proposal, end: { as, actor, at: clock.now(), reason } };
  const decision = proposalDecision(closed, { at: clock.now(), verdict: as, actor, reason });
  await run(CLOSE, [id, as, sqlText(JSON.stringify(closed)), ...decisionValues(ids, decision)]);
  return closed;
}

/** What JSON leaves out is absent. */
function proposalOf({ document }: Row): FleetProposal {
  return { ...document, spec: specOf(document.spec), end: document.end };
}
