import type { Change } from "../domain/change.ts";
import type { ApplicationId, UnitId } from "../domain/ids.ts";
import type { ChosenApplications, OwnedApplication, Store } from "../store/port.ts";
import { createOwnedIndex, type OwnedIndex } from "./owned-index.ts";

/** Rows in one statement. */
const PAGE = 5_000;
/** How many rows each reading reads in turn although nothing is known to have changed about them. */
const IN_TURN = 2_000;

/** What has to be read besides what has changed. */
export type InDoubt = Pick<ChosenApplications, "units" | "argoNames">;

/** All rows, and of which applications they were read since the last reading that succeeded, by name. */
export interface OwnedReading {
  readonly rows: OwnedIndex;
  readonly changed: ReadonlySet<string> | "all";
}

/** Which instance should work on each application, kept from one reading to the next. */
export interface OwnedRows {
  /**
   * Reads what has changed, what is in doubt and the next rows in turn, and returns all rows. They change with the next reading. All of them are read the first time, and whenever
   * notifications may have been lost.
   */
  read(inDoubt: InDoubt, signal: AbortSignal): Promise<OwnedReading>;
  /** Forgets the rows, and listens to nothing until the next reading. */
  forget(): void;
}

interface Marks {
  readonly units: Set<UnitId>;
  readonly applications: Set<ApplicationId>;
  /** Notifications may have been lost. */
  isAll: boolean;
}

const noMarks = (isAll = false): Marks => ({ units: new Set(), applications: new Set(), isAll });

/**
 * Rows are known to have changed by the notifications that each write of them sends. A write that sends none is found in turn, and what a row that is
 * out of date is thought to show is not reported before the row is read again.
 */
export function createOwnedRows({ ownership, changes }: Pick<Store, "ownership" | "changes">): OwnedRows {
  let rows = createOwnedIndex();
  let marks = noMarks(true);
  let after = "";
  let unsubscribe: (() => void) | undefined;

  const mark = (notified: readonly Change[] | "missed"): void => {
    if (notified === "missed") marks.isAll = true;
    else for (const change of notified) markOne(change);
  };
  const markOne = ({ kind, id }: Change): void => {
    if (kind === "unit") marks.units.add(id as UnitId);
    // Most statuses say nothing new about who works for what.
    else if (kind === "application" || (kind === "status" && isOpenTo(rows.get(id)))) marks.applications.add(id as ApplicationId);
  };

  const readAll = async (signal: AbortSignal): Promise<void> => {
    const all = createOwnedIndex();
    for (let last: string | undefined = ""; last !== undefined; ) {
      const { owned, next }: Awaited<ReturnType<Store["ownership"]["listOwned"]>> = await ownership.listOwned(
        { after: last, limit: PAGE },
        signal,
      );
      for (const row of owned) all.set(row);
      last = next;
    }
    rows = all;
  };
  /** Puts these in the place of what is known of these applications. Adds the names of all of them. */
  const replace = (ids: Iterable<string>, found: readonly OwnedApplication[], changed: Set<string>): void => {
    const stay = new Set<string>(found.map(({ id }) => id));
    for (const id of ids) {
      const row = rows.get(id);
      if (row !== undefined) changed.add(row.argoName);
      if (!stay.has(id)) rows.delete(id);
    }
    for (const row of found) {
      rows.set(row);
      changed.add(row.argoName);
    }
  };
  const readSome = async (
    some: { readonly marks: Marks; readonly inDoubt: InDoubt; readonly changed: Set<string> },
    signal: AbortSignal,
  ): Promise<void> => {
    const units = new Set([...some.marks.units, ...some.inDoubt.units]);
    const names = new Set(some.inDoubt.argoNames);
    const applications = new Set<string>(some.marks.applications);
    for (const row of rows.leaving()) applications.add(row.id);
    for (const unit of units) for (const row of rows.ofUnit(unit)) applications.add(row.id);
    for (const name of names) applications.add(rows.named(name)?.id ?? "");
    applications.delete("");
    const wanted = { applications: [...applications] as ApplicationId[], units: [...units], argoNames: [...names] };
    replace(applications, await readInParts(ownership, wanted, signal), some.changed);
  };
  const readInTurn = async (changed: Set<string>, signal: AbortSignal): Promise<void> => {
    const { owned, next } = await ownership.listOwned({ after, limit: IN_TURN }, signal);
    replace(rows.between(after, next), owned, changed);
    after = next ?? "";
  };

  return {
    async read(inDoubt, signal) {
      unsubscribe ??= changes.subscribe(mark);
      const taken = marks;
      marks = noMarks();
      const changed = new Set<string>();
      try {
        if (taken.isAll || !changes.isConnected()) {
          await readAll(signal);
          return { rows, changed: "all" };
        }
        await readSome({ marks: taken, inDoubt, changed }, signal);
        await readInTurn(changed, signal);
        return { rows, changed };
      } catch (error) {
        // Some of them may have been read, and all are read the next time.
        marks.isAll = true;
        throw error;
      }
    },
    forget() {
      unsubscribe?.();
      [unsubscribe, rows, marks, after] = [undefined, createOwnedIndex(), noMarks(true), ""];
    },
  };
}

/** Whether a status can change anything: there is no row yet, or one that never stood. One that is going is read each time. */
function isOpenTo(row: OwnedApplication | undefined): boolean {
  return row?.hasStood !== true;
}

async function readInParts(
  ownership: Store["ownership"],
  { applications, units, argoNames }: ChosenApplications,
  signal: AbortSignal,
): Promise<readonly OwnedApplication[]> {
  const found: OwnedApplication[] = [];
  const most = Math.max(applications.length, units.length, argoNames.length);
  for (let from = 0; from < most; from += PAGE) {
    const part = <T>(all: readonly T[]): readonly T[] => all.slice(from, from + PAGE);
    found.push(
      ...(await ownership.readOwned({ applications: part(applications), units: part(units), argoNames: part(argoNames) }, signal)),
    );
  }
  return found;
}
