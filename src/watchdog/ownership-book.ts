import type { Millis } from "../domain/clock.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { OwnershipFinding } from "../domain/ownership.ts";
import type { SeenApplication } from "../domain/seen-application.ts";
import {
  apartFindings,
  frozenFinding,
  type InstanceSummary,
  type Known,
  nameFindings,
  type OwnershipObservation,
  type Place,
  summaryOf,
} from "./judge.ts";
import { nextWaiting } from "./next-findings.ts";

/** What is wrong about the ownership of applications, kept from one check to the next. */
export interface OwnershipBook {
  /**
   * Takes in what was observed, judges what of it has changed, and returns everything that is wrong, sorted by key. Rows and instances are not read at the same
   * moment, so a finding counts only when it is found twice (`next-findings.ts`). Nothing is said about an instance that cannot be reached.
   */
  judge(observation: OwnershipObservation): readonly OwnershipFinding[];
  /** How many applications the last check has judged. */
  judged(): number;
}

/** `waited`: since when Applications were observed to wait for a refresh, by uid. */
export function createOwnershipBook(waited: ReadonlyMap<string, Millis> = new Map()): OwnershipBook {
  let waitingSince = waited;
  const standing = createStanding();
  const summaries = new Map<InstanceId, InstanceSummary>();
  const ofNames = new Map<string, readonly OwnershipFinding[]>();
  const ofInstances = new Map<InstanceId, readonly OwnershipFinding[]>();
  let moved: ReadonlySet<UnitId> = new Set();
  let [scope, count] = ["", 0];

  /** What has to be judged again: what has changed, what moves or has just moved, and what was found before. */
  const namesToJudge = (observation: OwnershipObservation, changedPlaces: ReadonlySet<string>): Iterable<string> => {
    const { rows, changed, moves, seen, instances } = observation;
    const [scopeBefore, movedBefore] = [scope, moved];
    scope = JSON.stringify([instances.map(({ id, name, class: own }) => [id, name, own]), [...seen.keys()].sort()]);
    moved = new Set(moves.map(({ unitId }) => unitId));
    if (changed === "all" || scope !== scopeBefore) {
      ofNames.clear();
      return new Set([...[...rows.values()].map(({ argoName }) => argoName), ...standing.places.keys()]);
    }
    const ofMoved = [...movedBefore, ...moved].flatMap((unit) => [...rows.ofUnit(unit)].map(({ argoName }) => argoName));
    return new Set([...changed, ...changedPlaces, ...ofMoved, ...ofNames.keys()]);
  };

  /** Gives the instances on which they stand. */
  const judgeNames = (names: Iterable<string>, known: Known): ReadonlySet<InstanceId> => {
    const instances = new Set<InstanceId>();
    count = 0;
    for (const name of names) {
      count += 1;
      const found = nameFindings(name, known);
      if (found.length === 0) ofNames.delete(name);
      else ofNames.set(name, found);
      for (const { instance } of standing.places.get(name) ?? []) instances.add(instance);
    }
    return instances;
  };
  const judgeInstances = (changed: Iterable<InstanceId>, known: Known): void => {
    for (const id of summaries.keys()) {
      if (known.seen.has(id)) continue;
      summaries.delete(id);
      ofInstances.delete(id);
    }
    for (const id of changed) {
      if (!known.seen.has(id)) continue;
      summaries.set(id, summaryOf(id, known));
      ofInstances.set(id, apartFindings(id, known));
    }
  };

  return {
    judged: () => count,
    judge(observation) {
      const { seen, instances, moves, rows, now } = observation;
      const { names: changedPlaces, instances: changedInstances } = standing.take(seen);
      const wasScope = scope;
      const names = namesToJudge(observation, changedPlaces);
      const known: Known = {
        ...observation,
        named: rows.named,
        names: new Map(instances.map(({ id, name }) => [id, name])),
        classes: new Map(instances.map((instance) => [instance.id, instance.class])),
        moving: new Map(moves.map((move) => [move.unitId, move])),
        places: standing.places,
      };
      for (const id of judgeNames(names, known)) changedInstances.add(id);
      judgeInstances(wasScope === scope ? changedInstances : seen.keys(), known);
      const awaiting = [...summaries.values()].flatMap((summary) => summary.awaiting);
      waitingSince = nextWaiting(waitingSince, awaiting, now);
      const frozen = [...summaries].flatMap(([id, summary]) => frozenFinding(id, summary, { ...known, waitingSince }) ?? []);
      // The applications of a unit that a move has left without an owner have one finding together.
      const all = [...[...ofNames.values()].flat(), ...[...ofInstances.values()].flat(), ...frozen];
      const byKey = new Map(all.map((finding) => [finding.key, finding]));
      return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    },
  };
}

/** What stands where, and which of it differs from what stood there before. */
function createStanding() {
  const lists = new Map<InstanceId, readonly SeenApplication[]>();
  const places = new Map<string, readonly Place[]>();
  const remove = (instance: InstanceId, { name }: SeenApplication): void => {
    const rest = (places.get(name) ?? []).filter((place) => place.instance !== instance);
    if (rest.length === 0) places.delete(name);
    else places.set(name, rest);
  };
  const add = (instance: InstanceId, one: SeenApplication): void =>
    void places.set(one.name, [...(places.get(one.name) ?? []), { instance, one }]);

  return {
    places: places as ReadonlyMap<string, readonly Place[]>,
    /** Watches give the same object as long as an Application is the same, and mostly in the same order. */
    take(seen: ReadonlyMap<InstanceId, readonly SeenApplication[]>) {
      const names = new Set<string>();
      const instances = new Set<InstanceId>();
      const replace = (instance: InstanceId, list: readonly SeenApplication[]): void => {
        const { gone, come, isOther } = differencesOf(lists.get(instance) ?? [], list);
        if (isOther) instances.add(instance);
        for (const one of gone) remove(instance, one);
        for (const one of come) add(instance, one);
        for (const { name } of [...gone, ...come]) names.add(name);
      };
      for (const instance of [...lists.keys()]) {
        if (seen.has(instance)) continue;
        replace(instance, []);
        lists.delete(instance);
      }
      for (const [instance, list] of seen) {
        replace(instance, list);
        lists.set(instance, list);
      }
      return { names, instances };
    },
  };
}

/** What is on the second list in the place of what is on the first one, and whether anything is. What has only another place on the list is on both sides. */
function differencesOf(before: readonly SeenApplication[], list: readonly SeenApplication[]) {
  const [gone, come]: [SeenApplication[], SeenApplication[]] = [[], []];
  let isOther = false;
  for (let index = 0; index < Math.max(before.length, list.length); index += 1) {
    const [was, is] = [before[index], list[index]];
    if (was === is) continue;
    isOther = true;
    if (was !== undefined && is !== undefined && worksAlike(was, is)) continue;
    gone.push(...(was === undefined ? [] : [was]));
    come.push(...(is === undefined ? [] : [is]));
  }
  return { gone, come, isOther };
}

/** Whether it is the same to whoever asks where an application works: comparisons alone change what an instance is judged by. */
function worksAlike(a: SeenApplication, b: SeenApplication): boolean {
  return a.name === b.name && a.isPaused === b.isPaused && a.isArriving === b.isArriving && a.isDeleting === b.isDeleting;
}
