import type { Millis } from "../domain/clock.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Move } from "../domain/move.ts";
import { beganAt } from "../domain/move-times.ts";
import type { Owned, OwnershipFinding, OwnershipRule } from "../domain/ownership.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

export interface OwnershipObservation {
  readonly now: Millis;
  readonly owned: readonly Owned[];
  /** Applications on each instance that could be reached. */
  readonly seen: ReadonlyMap<InstanceId, readonly SeenApplication[]>;
  /** Instances whose controllers were asked and did not answer. */
  readonly silent: ReadonlySet<InstanceId>;
  readonly instances: readonly Pick<Instance, "id" | "name" | "class">[];
  /** Moves that have not ended. */
  readonly moves: readonly Pick<Move, "id" | "unitId" | "from" | "to" | "phase" | "marks">[];
  /** How long after a comparison Argo CD compares an application again by itself at the latest, in ms. */
  readonly resyncMs: number;
  /** Since when the watchdog has observed each Application wait for a refresh, by uid. */
  readonly waitingSince: ReadonlyMap<string, Millis>;
}

/** How long a unit may be without an owner in a move, in ms. Usually it is seconds; after this time the move hangs. */
const GAP_LIMIT_MS = 60_000;
/** How long a refresh may wait, in ms. Measured: a third of a second, and one second on a busy instance. */
const REFRESH_LIMIT_MS = 60_000;
/** Time on top of two resyncs, for an instance that has just started, in ms. */
const RESYNC_SLACK_MS = 60_000;
/** How many names a text lists. */
const NAMED = 3;

interface Place {
  readonly instance: InstanceId;
  readonly one: SeenApplication;
}

/**
 * Finds what is wrong about the ownership of applications, by the rows and instances as they were read; sorted by
 * key. They are not read at the same moment, so a finding counts only when it is found twice (`next-findings.ts`).
 * Nothing is said about an instance that cannot be reached.
 */
export function judgeOwnership(observation: OwnershipObservation): readonly OwnershipFinding[] {
  const { owned, seen, instances } = observation;
  const names = new Map<string, string>(instances.map(({ id, name }) => [id, name]));
  const nameOf = (id: InstanceId): string => names.get(id) ?? id;
  const places = Map.groupBy(
    [...seen].flatMap(([instance, ones]) => ones.map((one): Place => ({ instance, one }))),
    ({ one }) => one.name,
  );
  const rows = new Map(owned.map((row) => [row.argoName, row]));
  const moving = new Map(observation.moves.map((move) => [move.unitId, move]));
  const classes = new Map(instances.map((instance) => [instance.id, instance.class]));
  const known = { ...observation, nameOf, classes, rows, moving, places };
  const findings = [
    ...owned.flatMap((row) => ownerFinding(row, known) ?? []),
    ...owned.flatMap((row) => classFinding(row, known) ?? []),
    ...[...seen.keys()].flatMap((id) => apartFindings(id, known)),
    ...[...places.values()].flat().flatMap((place) => orphanFinding(place, known) ?? []),
    ...instances.flatMap(({ id }) => frozenFinding(id, known) ?? []),
  ];
  return findings.sort((a, b) => (a.key < b.key ? -1 : 1));
}

interface Known extends OwnershipObservation {
  readonly nameOf: (id: InstanceId) => string;
  readonly classes: ReadonlyMap<InstanceId, string>;
  readonly rows: ReadonlyMap<string, Owned>;
  readonly moving: ReadonlyMap<UnitId, OwnershipObservation["moves"][number]>;
  readonly places: ReadonlyMap<string, readonly Place[]>;
}

const works = ({ isPaused, isArriving, isDeleting }: SeenApplication): boolean => !isPaused && !isArriving && !isDeleting;

function ownerFinding(row: Owned, known: Known): OwnershipFinding | undefined {
  const { argoName, unitId, owner, isLeaving, hasStood } = row;
  const { nameOf, places, moving, seen, now } = known;
  const all = places.get(argoName) ?? [];
  const working = all.filter(({ one }) => works(one)).map(({ instance }) => instance);
  const tell = (rule: OwnershipRule, text: string, instances: readonly InstanceId[] = [owner]) =>
    finding(rule, { subject: unitId, about: argoName, instances, text });
  const names = working.map(nameOf).sort().join(" and ");
  if (working.length > 1) return tell("TWO_OWNERS", `Application ${argoName} is worked on by ${names}`, working);
  const move = moving.get(unitId);
  if (move !== undefined) {
    const since = ownerlessSince(move);
    if (since === undefined || now - since <= GAP_LIMIT_MS) return undefined;
    const seconds = Math.floor(GAP_LIMIT_MS / 1000);
    const text = `move ${move.id} has left it without an owner for more than ${seconds} s, in ${move.phase}`;
    return finding("NO_OWNER", { subject: unitId, about: move.id, instances: [], text });
  }
  if (isLeaving || !hasStood || row.isMoving || !seen.has(owner)) return undefined;
  const own = all.find(({ instance }) => instance === owner)?.one;
  if (own === undefined) return tell("NO_OWNER", `Application ${argoName} is not on its owner ${nameOf(owner)}`);
  return own.isPaused ? tell("NO_OWNER", `Application ${argoName} on ${nameOf(owner)} is paused, and no move is under way`) : undefined;
}

/** Since when nobody has been allowed to write for a unit. `undefined`: somebody is. */
function ownerlessSince(move: OwnershipObservation["moves"][number]): Millis | undefined {
  if (!["REVOKE", "COMMIT", "GRANT", "ACTIVATE"].includes(move.phase)) return undefined;
  return beganAt(move, "REVOKE");
}

/** Wherever an application works, the class of its unit is that of the instance: workspaces of two classes never live together. */
function classFinding({ argoName, unitId, class: own }: Owned, { places, classes, nameOf }: Known): OwnershipFinding | undefined {
  const working = (places.get(argoName) ?? []).filter(({ one }) => works(one));
  const stranger = working.find(({ instance }) => classes.has(instance) && classes.get(instance) !== own)?.instance;
  if (stranger === undefined) return undefined;
  const text = `Application ${argoName} works on ${nameOf(stranger)}, which is of class ${classes.get(stranger)}; its workspace is of ${own}`;
  return finding("OTHER_CLASS", { subject: unitId, about: argoName, instances: [stranger], text });
}

/** Workspaces of different values of a label that keeps them apart never share an instance: of each label, the values that work on it. */
function apartFindings(instance: InstanceId, { seen, rows, nameOf }: Known): readonly OwnershipFinding[] {
  const working = (seen.get(instance) ?? []).filter(works);
  const values = working.flatMap(({ name }) =>
    Object.entries(rows.get(name)?.apart ?? {}).map(([label, value]) => ({ label, value, name })),
  );
  return [...Map.groupBy(values, ({ label }) => label)].flatMap(([label, all]) => {
    const groups = [...Map.groupBy(all, ({ value }) => value)].sort(([a], [b]) => (a < b ? -1 : 1));
    if (groups.length < 2) return [];
    const who = groups.slice(0, NAMED).map(([value, ones]) => `${ones.map(({ name }) => name).sort()[0]} of ${value}`);
    const text = `${nameOf(instance)} works for ${groups.length} values of ${label}, which must be apart: ${who.join(", ")}`;
    return [finding("NOT_APART", { subject: instance, about: label, instances: [instance], text })];
  });
}

function orphanFinding({ instance, one }: Place, { rows, moving, nameOf, places }: Known): OwnershipFinding | undefined {
  const { name, isDeleting } = one;
  const row = rows.get(name);
  if (isDeleting || row?.owner === instance || row?.isLeaving === true) return undefined;
  const move = row === undefined ? undefined : moving.get(row.unitId);
  if (move !== undefined && [move.from, move.to].includes(instance)) return undefined;
  // Reported as TWO_OWNERS already, which is worse.
  if (row !== undefined && (places.get(name) ?? []).filter((place) => works(place.one)).length > 1) return undefined;
  const why = row === undefined ? "no row wants it" : `its owner is ${nameOf(row.owner)}`;
  return finding("ORPHAN", {
    subject: instance,
    about: name,
    instances: [instance],
    text: `Application ${name} stands on ${nameOf(instance)}: ${why}`,
  });
}

function frozenFinding(instance: InstanceId, known: Known): OwnershipFinding | undefined {
  const { rows, now, resyncMs, nameOf, silent } = known;
  const ones = known.seen.get(instance);
  // Its cluster cannot be reached, so a controller that does not answer proves nothing.
  if (ones === undefined) return undefined;
  const own = ones.filter((one) => works(one) && rows.get(one.name)?.owner === instance);
  const stuck = own.filter((one) => isStuck(one, known));
  const tell = (text: string) =>
    finding("FROZEN", { subject: instance, about: "", instances: [instance], text: `${nameOf(instance)} ${text}` });
  if (silent.has(instance)) return tell("does not answer: its controller stands still");
  if (stuck.length > 0) return tell(`has not refreshed ${namesOf(stuck)} for a minute since it was asked to`);
  const observed = own.flatMap(({ reconciledAt }) => reconciledAt ?? []);
  const limit = 2 * resyncMs + RESYNC_SLACK_MS;
  if (observed.length === 0 || now - Math.max(...observed) <= limit) return undefined;
  const green = own.filter(({ isGreen }) => isGreen);
  return green.length === 0
    ? undefined
    : tell(`has compared none of its Applications for ${limit / 1000} s, and ${namesOf(green)} say that all is well`);
}

function isStuck({ uid, awaitsRefresh, reconciledAt }: SeenApplication, { waitingSince, now }: OwnershipObservation): boolean {
  const since = waitingSince.get(uid);
  return awaitsRefresh && since !== undefined && now - since >= REFRESH_LIMIT_MS && (reconciledAt ?? 0) < since;
}

function namesOf(ones: readonly SeenApplication[]): string {
  const names = ones.map(({ name }) => name).sort();
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}

function finding(
  rule: OwnershipRule,
  { subject, about, instances, text }: Pick<OwnershipFinding, "subject" | "instances" | "text"> & { readonly about: string },
): OwnershipFinding {
  return { key: `${rule} ${subject} ${about}`.trim(), rule, subject, instances: [...instances].sort(), text };
}

/** Argo CD's own time between two comparisons with its random part, where no fleet is declared, in s. */
const DEFAULT_S = 120 + 60;

/** How long after a comparison Argo CD compares an application again by itself at the latest, on any instance, in ms. */
export function ownershipResyncOf(spec: FleetSpec | undefined): number {
  const pools = spec?.pools.map(({ engine }) => engine.reconciliationSeconds + engine.reconciliationJitterSeconds) ?? [];
  return Math.max(DEFAULT_S, ...pools) * 1000;
}
