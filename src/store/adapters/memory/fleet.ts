import type { Decision } from "../../../domain/decision.ts";
import { GoneError, RefusedError, StaleError } from "../../../domain/errors.ts";
import { asDeclared, type FleetSpec } from "../../../domain/fleet.ts";
import { type FleetProposal, stateOfProposal } from "../../../domain/fleet-approval.ts";
import { canonicalJson } from "../../../domain/hash.ts";
import type { Instance } from "../../../domain/instance.ts";
import { isRaiseUnderWay } from "../../../domain/raised-resources.ts";
import { imagesOf, type ReleasePart } from "../../../domain/release.ts";
import {
  changedPools,
  changesOf,
  declaredAnew,
  FLEET,
  fleetAudit,
  fleetDecision,
  isSameProposal,
  proposalDecision,
  proposalEnded,
  proposalGone,
  stillUndeclared,
  whyNotDeclare,
} from "../../fleet/fleet-changes.ts";
import type { FleetStore, InstanceChange, ProposalClosing, ProposalStore } from "../../fleet/port.ts";
import { appendAudit } from "./audit.ts";
import { unitsAt } from "./live-moves.ts";
import type { Tables, Transact, Transaction } from "./tables.ts";

export function createFleetStore(transact: Transact): FleetStore {
  return {
    readFleet: (signal) => transact(signal, ({ tables }) => tables.fleet && { ...tables.fleet, spec: asDeclared(tables.fleet.spec) }),
    applyFleet: (spec, actor, signal) => transact(signal, (transaction) => applyFleet(transaction, spec, actor)),
    changeFleet: ({ spec, actor, revision }, signal) =>
      transact(signal, (transaction) => {
        checkRevision(transaction, revision);
        return applyFleet(transaction, spec, actor);
      }),
    listReleaseParts: (signal) => transact(signal, ({ tables }) => releasePartsOf(tables)),
    keepReleasePart: (part, signal) => transact(signal, ({ tables }) => keepPart(tables, part)),
    prunePools: (actor, signal) => transact(signal, (transaction) => prunePools(transaction, actor)),
    listInstances: (signal) => transact(signal, ({ tables }) => [...tables.instances.values()].sort((a, b) => (a.id < b.id ? -1 : 1))),
    readInstance: (id, signal) => transact(signal, ({ tables }) => tables.instances.get(id)),
    insertInstance: (instance, decision, signal) => transact(signal, (transaction) => insertInstance(transaction, instance, decision)),
    changeInstance: (change, signal) => transact(signal, (transaction) => changeInstance(transaction, change)),
    retireInstance: (change, fleet, signal) =>
      transact(signal, (transaction) => {
        if (fleet !== undefined) checkRevision(transaction, fleet.revision);
        const instance = changeInstance(transaction, { ...change, onlyIfEmpty: true });
        if (fleet !== undefined) applyFleet(transaction, fleet.spec, fleet.actor);
        return instance;
      }),
    noteLeft: (id, leftHash, signal) =>
      transact(signal, ({ tables }) => {
        const before = tables.instances.get(id);
        if (before !== undefined) tables.instances.set(id, { ...before, leftHash });
      }),
    countUnits: (signal) =>
      transact(signal, ({ tables }) => {
        const counts = [...tables.instances.keys()].sort().map((id) => [id, unitsAt(tables, id)] as const);
        return new Map(counts.filter(([, count]) => count > 0));
      }),
  };
}

export function createProposalStore(transact: Transact): ProposalStore {
  return {
    propose: (proposal, signal) => transact(signal, (transaction) => propose(transaction, proposal)),
    list: (limit, signal) => transact(signal, ({ tables }) => newestFirst(tables).slice(0, limit)),
    read: (id, signal) => transact(signal, ({ tables }) => tables.proposals.get(id)),
    close: (closing, signal) => transact(signal, (transaction) => closeProposal(transaction, closing)),
  };
}

function propose(transaction: Transaction, proposal: FleetProposal): FleetProposal {
  const { tables, now } = transaction;
  checkRevision(transaction, proposal.base);
  const isOpen = (one: FleetProposal): boolean => stateOfProposal(one, { now: now(), revision: proposal.base }) === "OPEN";
  const same = newestFirst(tables).find((one) => isOpen(one) && isSameProposal(one, proposal));
  if (same !== undefined) return same;
  tables.proposals.set(proposal.id, proposal);
  tables.decisions.push(proposalDecision(proposal, { at: now(), verdict: "PROPOSED", actor: proposal.by.actor }));
  return proposal;
}

function closeProposal(transaction: Transaction, { id, as, actor, reason }: ProposalClosing): FleetProposal {
  const { tables, now } = transaction;
  const proposal = tables.proposals.get(id);
  if (proposal === undefined) throw proposalGone(id);
  if (proposal.end !== undefined) throw proposalEnded(proposal);
  if (as === "APPROVED") {
    checkRevision(transaction, proposal.base);
    applyFleet(transaction, proposal.spec, actor, proposal);
  }
  const closed: FleetProposal = { ...proposal, end: { as, actor, at: now(), reason } };
  tables.proposals.set(id, closed);
  tables.decisions.push(proposalDecision(closed, { at: now(), verdict: as, actor, reason }));
  return closed;
}

function newestFirst({ proposals }: Tables): readonly FleetProposal[] {
  return [...proposals.values()].sort((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1));
}

function checkRevision({ tables }: Transaction, revision: number): void {
  if ((tables.fleet?.revision ?? 0) !== revision) throw declaredAnew(revision);
}

function releasePartsOf({ releaseParts }: Tables): readonly ReleasePart[] {
  return [...releaseParts.keys()].sort().flatMap((key) => releaseParts.get(key) ?? []);
}

function keepPart({ releaseParts }: Tables, part: ReleasePart): string {
  const key = `${part.version} ${part.part}`;
  const known = releaseParts.get(key);
  if (known === undefined) releaseParts.set(key, part);
  return (known ?? part).content;
}

function applyFleet(transaction: Transaction, spec: FleetSpec, actor: string, approved?: FleetProposal): number {
  const { tables, notify, now } = transaction;
  const before = tables.fleet;
  if (before !== undefined && canonicalJson(before.spec) === canonicalJson(spec)) return before.revision;
  const whyNot = whyNotDeclare(releasePartsOf(tables), before?.spec, spec);
  if (whyNot !== undefined) throw whyNot;
  for (const part of imagesOf([...(before?.spec.versions.catalogue ?? []), ...spec.versions.catalogue])) keepPart(tables, part);
  const revision = (before?.revision ?? 0) + 1;
  const pools = changedPools(before?.spec, spec);
  tables.fleet = { spec, revision, pruned: stillUndeclared(before?.pruned ?? [], spec) };
  tables.decisions.push(fleetDecision({ at: now(), actor, revision, pools, changes: changesOf(before?.spec, spec), approved }));
  appendAudit(transaction, fleetAudit(actor, revision, { before: before?.spec, after: spec }));
  notify("fleet", FLEET);
  for (const pool of pools) notify("pool", pool);
  return revision;
}

function prunePools(transaction: Transaction, actor: string): readonly string[] {
  const { tables, notify, now } = transaction;
  const before = tables.fleet;
  if (before === undefined) return [];
  const peopled = [...tables.instances.values()].filter(({ state }) => state !== "RETIRED").map(({ pool }) => pool);
  const pruned = stillUndeclared([...new Set(peopled)].sort(), before.spec);
  if (canonicalJson(pruned) === canonicalJson(before.pruned)) return pruned;
  const revision = before.revision + 1;
  tables.fleet = { ...before, revision, pruned };
  tables.decisions.push(fleetDecision({ at: now(), actor, revision, pools: pruned, verdict: "PRUNED" }));
  appendAudit(transaction, fleetAudit(actor, revision, { prunedBefore: before.pruned, pruned }));
  for (const pool of pruned) notify("pool", pool);
  return pruned;
}

function insertInstance({ tables, notify }: Transaction, instance: Instance, decision: Decision): boolean {
  const isTaken = (other: Instance): boolean =>
    other.id === instance.id ||
    other.name === instance.name ||
    (other.engineCluster === instance.engineCluster && other.namespace === instance.namespace);
  if ([...tables.instances.values()].some(isTaken)) return false;
  tables.instances.set(instance.id, instance);
  tables.decisions.push(decision);
  notify("instance", instance.id);
  return true;
}

function changeInstance({ tables, notify, now }: Transaction, change: InstanceChange): Instance {
  const { id, revision, decision, onlyIfEmpty, onlyIfNotLast, onlyIfNoneRaised, ...fields } = change;
  const before = tables.instances.get(id);
  if (before === undefined)
    throw new GoneError("changing an instance that is not there", { code: "store.instance-gone", context: { instance: id } });
  if (before.revision !== revision)
    throw new StaleError("changing an instance that has changed meanwhile", {
      code: "store.instance-stale",
      context: { instance: id, revision },
    });
  if (onlyIfEmpty === true && unitsAt(tables, id) > 0)
    throw new StaleError("sending an instance away that was given a unit meanwhile", {
      code: "store.instance-held",
      context: { instance: id, revision },
    });
  const isOther = (one: Instance): boolean => one.id !== id && one.class === before.class && one.state === "ACTIVE";
  if (onlyIfNotLast === true && ![...tables.instances.values()].some(isOther))
    throw new RefusedError("sending away the last instance of its class that is ACTIVE", {
      code: "store.instance-last",
      context: { instance: id },
    });
  const isRaised = (one: Instance): boolean =>
    one.id !== id && one.class === before.class && one.state !== "RETIRED" && isRaiseUnderWay(one);
  if (onlyIfNoneRaised === true && [...tables.instances.values()].some(isRaised))
    throw new StaleError("giving resources to an instance while another one of its class is given some", {
      code: "store.instance-raised",
      context: { instance: id, revision },
    });
  const after: Instance = {
    ...before,
    ...fields,
    stateSince: fields.state === before.state ? before.stateSince : now(),
    revision: revision + 1,
  };
  tables.instances.set(id, after);
  if (decision !== undefined) tables.decisions.push(decision);
  notify("instance", id);
  return after;
}
