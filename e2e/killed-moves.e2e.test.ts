import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceId, MoveId } from "../src/domain/ids.ts";
import type { Move } from "../src/domain/move.ts";
import { ACCOUNTS_NAMESPACE } from "../src/domain/names.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { readAccountName } from "../src/shard/names.ts";
import { again } from "./again.ts";
import { allReady } from "./control-plane.ts";
import { ENTER } from "./gate/postgres-gate.ts";
import type { Account, WritePoint } from "./gate/turnstile.ts";
import { callHarness } from "./harness-client.ts";
import { inSeconds } from "./in-seconds.ts";
import { askForMove, expectOneWriter, MOVE_TIMEOUT_MS, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { openTruth, type Truth } from "./truth.ts";
import { findApplication, IS_LONG, openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMESPACE = "killed-moves";
const NAMES = ["one", "two"];
const PROBE_EVERY_MS = 100;
const OBSERVE_EVERY_MS = 500;
const DEADLINE_MS = 30 * 60_000;
/** A dead process is noticed after three seconds instead of fifteen, because many die here. */
const LEASES = { ttlMs: 3_000, renewMs: 500 };
/** A process that dies with its last write may die when the row already says that the move has ended. */
const LONGER_THAN_A_MOVE_MS = 15_000;
const LAST = "database.move.DONE";
const ACTING = "api.PATCH.roles";
const ROLES: ResourceType = { ...TYPES.roleBinding, plural: "roles", kind: "Role" };
type Role = KubeObject & { readonly rules?: readonly { readonly resourceNames?: readonly string[] }[] | null };

let world: World;
let truth: Truth;
let movable: Movable;
let writes: Account["writes"] = [];

const seen = async (): Promise<Account> => (await callHarness(world.harness, "writesSeen", {})) as Account;
const members = (): readonly number[] => world.harness.argosyUrls.map((_, index) => index);
const about = async (): Promise<readonly string[]> => {
  const applications = await Promise.all(NAMES.map((name) => findApplication(world, NAMESPACE, name)));
  return [
    ENTER,
    movable.unitId,
    ...movable.accounts,
    ...applications.map((found) => found?.metadata.name ?? ""),
    `${NAMESPACE}/rolebindings`,
  ];
};

/**
 * The writes of an undisturbed move, in order, from its turn to its end, between instances that have both held the
 * unit before.
 */
async function writesOfAMove(): Promise<Account["writes"]> {
  for (let count = 0; count < 2; count += 1) await moveEnded(world, await askForMove(world, movable, await movable.other()));
  await isForgotten(await movable.other());
  await callHarness(world.harness, "watchWrites", { about: await about() });
  await moveEnded(world, await askForMove(world, movable, await movable.other()));
  const names = (await seen()).writes;
  const end = names.findIndex(({ name }) => name === LAST);
  expect(end).toBeGreaterThan(0);
  report(`a move of ${NAMES.length} applications makes ${end + 1} writes of ${new Set(names.map(({ name }) => name)).size} kinds`);
  return names.slice(0, end + 1);
}

/**
 * Waits until an instance may no longer act as the unit, as after its last stay there. That right is revoked when the
 * instance is reconciled some time later, and a move back before that has no need to grant it.
 */
async function isForgotten(instance: string): Promise<void> {
  const index = movable.instances.findIndex(({ name }) => name === instance);
  const at = { namespace: ACCOUNTS_NAMESPACE, name: readAccountName(movable.instances[index]?.id as InstanceId) };
  await until(
    `${instance} without the right to act as the unit`,
    () => world.kube.get<Role>(ROLES, at, world.signal),
    (role) => role !== undefined && !(role.rules ?? []).some(({ resourceNames }) => resourceNames?.includes(movable.accounts[index] ?? "")),
    MOVE_TIMEOUT_MS,
  );
}

/** One move in which a process died. */
interface Death {
  readonly point: WritePoint;
  /** The phase of the row then. Absent: no process reached the point. */
  readonly phase: Move["phase"] | undefined;
  readonly move: Move;
  readonly tookMs: number;
}

const nameOf = ({ name, index, when }: WritePoint): string => `${when} ${name} ${index}`;

/** Moves the unit while a process dies at this point, is restarted at once, and somebody keeps pushing. */
async function dieAt(point: WritePoint): Promise<Death> {
  const pushed = nameOf(point);
  const to = await movable.other();
  if (point.name === ACTING) await isForgotten(to);
  await callHarness(world.harness, "watchWrites", { about: await about(), point });
  const began = performance.now();
  const { id } = await askForMove(world, movable, to);
  const read = async (): Promise<Move | undefined> => truth.store.moves.read(id as MoveId, world.signal);
  const { victim, move } = await until(
    `somebody dead ${nameOf(point)}`,
    async () => ({ move: await read(), victim: (await seen()).victim, sinceMs: performance.now() - began }),
    ({ victim: dead, move: row, sinceMs }) => dead !== undefined || (row?.endedAt !== undefined && sinceMs > LONGER_THAN_A_MOVE_MS),
    MOVE_TIMEOUT_MS,
  );
  const phase = victim === undefined ? undefined : move?.phase;
  const back = victim === undefined ? undefined : callHarness(world.harness, "startArgosy", { index: victim, leases: LEASES });
  for (const name of NAMES) await movable.push(name, pushed);
  const ended = await until(
    `the end of the move that was killed at ${nameOf(point)}`,
    read,
    (found) => found?.endedAt !== undefined,
    MOVE_TIMEOUT_MS,
  );
  const tookMs = performance.now() - began;
  await back;
  for (const name of NAMES) await movable.arrived(name, pushed);
  if (ended === undefined) throw new Error("it was there");
  return { point, phase, move: ended, tookMs };
}

/** Whether it ended well: it is DONE, or was given up before the change of owner, with a reason. */
function complaintsOf({ point, phase, move }: Death): readonly string[] {
  const where = nameOf(point);
  const isCommitted = move.marks.some((mark) => mark.phase === "GRANT");
  const isWell = (move.phase === "DONE" && move.message === "") || (move.phase === "ABORTED" && move.message !== "" && !isCommitted);
  return [
    ...(phase === undefined ? [`${where}: nobody came to it`] : []),
    ...(isWell ? [] : [`${where}: it came to ${move.phase} ${move.message}`]),
  ];
}

const rowOf = ({ point, phase, move, tookMs }: Death): string =>
  [(phase ?? "–").padEnd(8), point.when.padEnd(6), `${point.name} ${point.index}`.padEnd(36), move.phase, inSeconds(tookMs)].join("  ");

const points = (when: WritePoint["when"]): readonly WritePoint[] => writes.map((write) => ({ ...write, when }));

// Short runs leave this to the fault tests of the mover and to the simulation, in which processes die at each write too.
describe.runIf(IS_LONG)("moves on real parts", () => {
  beforeAll(async () => {
    world = openWorld(2 * DEADLINE_MS);
    truth = await openTruth(world);
    movable = await openMovable(world, NAMESPACE, NAMES);
    // Going through the gates breaks existing connections; processes that have just been restarted have none yet.
    await callHarness(world.harness, "watchWrites", { about: [] });
    for (const index of members()) await callHarness(world.harness, "startArgosy", { index, leases: LEASES });
    await allReady(world);
    writes = await writesOfAMove();
  }, DEADLINE_MS);
  afterAll(async () => {
    await callHarness(world.harness, "closeGates", {});
    for (const index of members()) await callHarness(world.harness, "startArgosy", { index });
    await allReady(world);
    await truth.close();
  }, DEADLINE_MS);

  it.each(["before", "after"] as const)(
    "a process that dies %s a write of a move: the move ends, there are never two owners, nothing is created again, and pushes arrive (I1, I2, I4, I5)",
    async (when) => {
      const uids = await movable.uids();
      expect(uids).not.toContain(undefined);
      const writers: number[] = [];
      const watching = [
        again(PROBE_EVERY_MS, async () => void writers.push(await movable.writers())),
        again(OBSERVE_EVERY_MS, async () => expect(await movable.uids()).toEqual(uids)),
      ];
      const deaths: Death[] = [];
      try {
        for (const point of points(when)) {
          const death = await dieAt(point);
          deaths.push(death);
          report(rowOf(death));
        }
      } finally {
        for (const each of watching) await each.end();
      }
      expect(deaths.length).toBeGreaterThan(0);
      expect(deaths.flatMap(complaintsOf)).toEqual([]);
      expectOneWriter(writers);
      expect(await movable.uids()).toEqual(uids);
      report(
        `${deaths.length} processes died ${when} a write of a move; ${writers.length} probes, at most ${Math.max(...writers)} may write`,
      );
    },
    DEADLINE_MS,
  );
});
