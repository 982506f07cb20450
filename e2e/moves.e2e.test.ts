import { expect, it } from "vitest";
import { percentile } from "../bench/statistics.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import { again } from "./again.ts";
import { askForMove, expectOneWriter, moveEnded, openMovable } from "./moves-world.ts";
import { type DeploymentResource, openWorld, report, TYPES } from "./world.ts";

const NAMES = ["one", "two", "three", "four", "five"];
const NAMESPACE = "moves-team";
const MOVES = 10;
const PROBE_EVERY_MS = 100;
const LOOK_EVERY_MS = 250;
const PUSH_EVERY_MS = 1_000;
/** On a machine of its own ten moves take a minute and a half; a shared one may take ten times as long. */
const DEADLINE_MS = 20 * 60_000;

it(
  "hands a workspace over again and again under pushes: never two owners, nothing deleted, nobody sees it (I1, I2, I3, P1)",
  async () => {
    const world = openWorld();
    const movable = await openMovable(world, NAMESPACE, NAMES);
    const uids = await movable.uids();
    expect(uids).not.toContain(undefined);

    const owners: number[] = [];
    const seen = new Set<string>();
    let pushes = 0;
    const watching = [
      again(PROBE_EVERY_MS, async () => void owners.push(await movable.writers())),
      again(LOOK_EVERY_MS, async () => {
        const { items } = await world.kube.listPage<DeploymentResource>(TYPES.deployment, { namespace: NAMESPACE }, world.signal);
        for (const { status } of items) {
          seen.add(`sync ${status?.sync?.status}`);
          seen.add(`health ${status?.health?.status}`);
        }
      }),
      again(PUSH_EVERY_MS, async () => expect(await movable.uids()).toEqual(uids)),
      again(PUSH_EVERY_MS, async () => {
        pushes += 1;
        await movable.push(NAMES[pushes % NAMES.length] ?? "one", String(pushes));
      }),
    ];
    const moves: MoveView[] = [];
    try {
      for (let count = 0; count < MOVES; count += 1) {
        const move = await moveEnded(world, await askForMove(world, movable, await movable.other()));
        moves.push(move);
        report(`move ${count + 1}: ${move.phase}, gap ${move.gapMs} ms, whole ${move.tookMs} ms`);
      }
    } finally {
      for (const each of watching) await each.end();
    }

    expect(moves.map(({ phase, message }) => [phase, message])).toEqual(moves.map(() => ["DONE", ""]));
    expect(owners.length).toBeGreaterThan(MOVES);
    expectOneWriter(owners);
    expect(seen).toContain("sync Synced");
    expect(await movable.uids()).toEqual(uids);
    for (const wrong of ["sync Unknown", "health Unknown", "health Missing", "sync undefined", "health undefined"])
      expect(seen).not.toContain(wrong);
    // What was pushed last is what stands: the last owner works.
    for (const name of NAMES) await movable.push(name, "last");
    for (const name of NAMES) await movable.arrived(name, "last");
    const [gaps, whole] = [moves.map(({ gapMs }) => gapMs ?? 0), moves.map(({ tookMs }) => tookMs ?? 0)];
    const figures = `gap p50 ${percentile(gaps, 0.5)} ms, p99 ${percentile(gaps, 0.99)} ms; whole move p50 ${percentile(whole, 0.5)} ms`;
    report(`${moves.length} moves of five applications, ${pushes} pushes, ${owners.length} probes: ${figures}`);
  },
  DEADLINE_MS,
);
