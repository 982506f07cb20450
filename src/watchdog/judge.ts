import type { Millis } from "../domain/clock.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Move } from "../domain/move.ts";
import { beganAt } from "../domain/move-times.ts";
import type { Owned, OwnershipFinding, OwnershipRule } from "../domain/ownership.ts";
import type { SeenApplication } from "../domain/seen-application.ts";
import type { OwnedIndex } from "./owned-index.ts";

export interface OwnershipObservation {
  readonly now: Millis;
  readonly rows: Pick<OwnedIndex, "named" | "ofUnit" | "values">;
  /** Names of the applications whose rows may be others than at the last check. */
  readonly changed: ReadonlySet<string> | "all";
  /** Applications on each instance that could be reached. */
  readonly seen: ReadonlyMap<InstanceId, readonly SeenApplication[]>;
  /** Instances whose controllers were asked and did not answer. */
  readonly silent: ReadonlySet<InstanceId>;
  readonly instances: readonly Pick<Instance, "id" | "name" | "class">[];
  /** Moves that have not ended. */
  readonly moves: readonly Pick<Move, "id" | "unitId" | "from" | "to" | "phase" | "marks">[];
  /** How long after a comparison Argo CD compares an application again by itself at the latest, in ms. */
  readonly resyncMs: number;
}

/** How long a unit may be without an owner in a move, in ms. Usually it is seconds; after this time the move hangs. */
const GAP_LIMIT_MS = 60_000;
/** How long a refresh may wait, in ms. Measured: a third of a second, and one second on a busy instance. */
const REFRESH_LIMIT_MS = 60_000;
/** Time on top of two resyncs, for an instance that has just started, in ms. */
const RESYNC_SLACK_MS = 60_000;
/** How many names a text lists. */
const NAMED = 3;

/** Where an Application stands. */
export interface Place {
  readonly instance: InstanceId;
  readonly one: SeenApplication;
}

/** What one check knows, as it is asked for. */
export interface Known extends Pick<OwnershipObservation, "now" | "seen" | "silent" | "resyncMs"> {
  readonly named: (argoName: string) => Owned | undefined;
  /** Of instances, as are classes. */
  readonly names: ReadonlyMap<string, string>;
  readonly classes: ReadonlyMap<InstanceId, string>;
  readonly moving: ReadonlyMap<UnitId, OwnershipObservation["moves"][number]>;
  /** By the name of the Application. */
  readonly places: ReadonlyMap<string, readonly Place[]>;
}

/** What is wrong about one application, by its name: its row, and where Applications of it stand. */
export function nameFindings(argoName: string, known: Known): readonly OwnershipFinding[] {
  const row = known.named(argoName);
  const places = known.places.get(argoName) ?? [];
  return [
    ...(row === undefined ? [] : [ownerFinding(row, known) ?? [], classFinding(row, known) ?? []].flat()),
    ...places.flatMap((place) => orphanFinding(place, known) ?? []),
  ];
}

const nameOf = (id: InstanceId, { names }: Pick<Known, "names">): string => names.get(id) ?? id;
const works = ({ isPaused, isArriving, isDeleting }: SeenApplication): boolean => !isPaused && !isArriving && !isDeleting;

function ownerFinding(row: Owned, known: Known): OwnershipFinding | undefined {
  const { argoName, unitId, owner, isLeaving, hasStood } = row;
  const { places, moving, seen, now } = known;
  const all = places.get(argoName) ?? [];
  const working = all.filter(({ one }) => works(one)).map(({ instance }) => instance);
  const tell = (rule: OwnershipRule, text: string, instances: readonly InstanceId[] = [owner]) =>
    finding(rule, { subject: unitId, about: argoName, instances, text });
  const names = working
    .map((id) => nameOf(id, known))
    .sort()
    .join(" and ");
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
  if (own === undefined) return tell("NO_OWNER", `Application ${argoName} is not on its owner ${nameOf(owner, known)}`);
  return own.isPaused
    ? tell("NO_OWNER", `Application ${argoName} on ${nameOf(owner, known)} is paused, and no move is under way`)
    : undefined;
}

/** Since when nobody has been allowed to write for a unit. `undefined`: somebody is. */
function ownerlessSince(move: OwnershipObservation["moves"][number]): Millis | undefined {
  if (!["REVOKE", "COMMIT", "GRANT", "ACTIVATE"].includes(move.phase)) return undefined;
  return beganAt(move, "REVOKE");
}

/** Wherever an application works, the class of its unit is that of the instance: workspaces of two classes never live together. */
function classFinding({ argoName, unitId, class: own }: Owned, known: Known): OwnershipFinding | undefined {
  const { places, classes } = known;
  const working = (places.get(argoName) ?? []).filter(({ one }) => works(one));
  const stranger = working.find(({ instance }) => classes.has(instance) && classes.get(instance) !== own)?.instance;
  if (stranger === undefined) return undefined;
  const text = `Application ${argoName} works on ${nameOf(stranger, known)}, which is of class ${classes.get(stranger)}; its workspace is of ${own}`;
  return finding("OTHER_CLASS", { subject: unitId, about: argoName, instances: [stranger], text });
}

/** Workspaces of different values of a label that keeps them apart never share an instance: of each label, the values that work on it. */
export function apartFindings(instance: InstanceId, known: Known): readonly OwnershipFinding[] {
  const { seen, named } = known;
  const working = (seen.get(instance) ?? []).filter((one) => works(one) && named(one.name)?.apart !== undefined);
  const values = working.flatMap(({ name }) => Object.entries(named(name)?.apart ?? {}).map(([label, value]) => ({ label, value, name })));
  return [...Map.groupBy(values, ({ label }) => label)].flatMap(([label, all]) => {
    const groups = [...Map.groupBy(all, ({ value }) => value)].sort(([a], [b]) => (a < b ? -1 : 1));
    if (groups.length < 2) return [];
    const who = groups.slice(0, NAMED).map(([value, ones]) => `${ones.map(({ name }) => name).sort()[0]} of ${value}`);
    const text = `${nameOf(instance, known)} works for ${groups.length} values of ${label}, which must be apart: ${who.join(", ")}`;
    return [finding("NOT_APART", { subject: instance, about: label, instances: [instance], text })];
  });
}

function orphanFinding({ instance, one }: Place, known: Known): OwnershipFinding | undefined {
  const { named, moving, places } = known;
  const { name, isDeleting } = one;
  const row = named(name);
  if (isDeleting || row?.owner === instance || row?.isLeaving === true) return undefined;
  const move = row === undefined ? undefined : moving.get(row.unitId);
  if (move !== undefined && [move.from, move.to].includes(instance)) return undefined;
  // Reported as TWO_OWNERS already, which is worse.
  if (row !== undefined && (places.get(name) ?? []).filter((place) => works(place.one)).length > 1) return undefined;
  const why = row === undefined ? "no row wants it" : `its owner is ${nameOf(row.owner, known)}`;
  return finding("ORPHAN", {
    subject: instance,
    about: name,
    instances: [instance],
    text: `Application ${name} stands on ${nameOf(instance, known)}: ${why}`,
  });
}

/** What the Applications on an instance say of it together. */
export interface InstanceSummary {
  /** Those that Argo CD was asked to refresh. */
  readonly awaiting: readonly SeenApplication[];
  /** When it has compared one that it works for; `undefined`: never. */
  readonly newest: Millis | undefined;
}

export function summaryOf(instance: InstanceId, known: Known): InstanceSummary {
  const awaiting: SeenApplication[] = [];
  let newest: Millis | undefined;
  for (const one of known.seen.get(instance) ?? []) {
    if (one.awaitsRefresh) awaiting.push(one);
    const { reconciledAt } = one;
    if (reconciledAt !== undefined && (newest === undefined || reconciledAt > newest) && isOwn(one, instance, known)) newest = reconciledAt;
  }
  return { awaiting, newest };
}

const isOwn = (one: SeenApplication, instance: InstanceId, { named }: Known): boolean => works(one) && named(one.name)?.owner === instance;

/** `waitingSince`: since when the watchdog has observed each Application wait for a refresh, by uid. */
export function frozenFinding(
  instance: InstanceId,
  { awaiting, newest }: InstanceSummary,
  known: Known & { readonly waitingSince: ReadonlyMap<string, Millis> },
): OwnershipFinding | undefined {
  const { now, resyncMs, silent, seen } = known;
  const tell = (text: string) =>
    finding("FROZEN", { subject: instance, about: "", instances: [instance], text: `${nameOf(instance, known)} ${text}` });
  if (silent.has(instance)) return tell("does not answer: its controller stands still");
  const stuck = awaiting.filter((one) => isOwn(one, instance, known) && isStuck(one, known));
  if (stuck.length > 0) return tell(`has not refreshed ${namesOf(stuck)} for a minute since it was asked to`);
  const limit = 2 * resyncMs + RESYNC_SLACK_MS;
  if (newest === undefined || now - newest <= limit) return undefined;
  const green = (seen.get(instance) ?? []).filter((one) => one.isGreen && isOwn(one, instance, known));
  return green.length === 0
    ? undefined
    : tell(`has compared none of its Applications for ${limit / 1000} s, and ${namesOf(green)} say that all is well`);
}

function isStuck(
  { uid, reconciledAt }: SeenApplication,
  { waitingSince, now }: { readonly waitingSince: ReadonlyMap<string, Millis>; readonly now: Millis },
): boolean {
  const since = waitingSince.get(uid);
  return since !== undefined && now - since >= REFRESH_LIMIT_MS && (reconciledAt ?? 0) < since;
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
