import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { MovePhase } from "../src/domain/move.ts";
import { again } from "./again.ts";
import { type FarWorld, openFar } from "./far-world.ts";
import { askForMove, expectOneWriter, MOVE_TIMEOUT_MS, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { watchUser } from "./user-watch.ts";
import { IS_LONG, openWorld, report, TYPES, until, type World } from "./world.ts";

const LOST = "failing-1";
const STEADY = ["steady-1", "steady-2"] as const;
const NAMES = ["home", "shop"] as const;
const PROBE_EVERY_MS = 100;
const PUSH_EVERY_MS = 1_000;
/** A redirect takes half a minute on an idle machine; a busy one may take ten times as long. */
const DEADLINE_MS = 20 * 60_000;
/** In these phases the source is stopped or the row is changed already: a move is no longer given up. */
const CUT_IN: readonly MovePhase[] = ["REVOKE", "COMMIT", "GRANT"];

describe.runIf(IS_LONG)("an instance that is lost once it is the owner, before it works", () => {
  let world: World;
  let far: FarWorld;
  beforeAll(async () => {
    world = openWorld(2 * DEADLINE_MS);
    far = await openFar(world);
    await far.declare(STEADY.length);
  }, 600_000);
  afterAll(() => far.close(), 600_000);

  /** A workspace on an instance that stays, which is to be moved to the one that will be lost. */
  async function settle(namespace: string): Promise<Movable> {
    await far.cordon(LOST, true);
    const movable = await openMovable(world, namespace, NAMES);
    await far.cordon(LOST, false);
    return movable;
  }

  const read = (id: string) => world.rest.get<MoveView>(`/v1/moves/${id}`);
  const inPhase = (id: string, what: string, phases: readonly MovePhase[]) =>
    until(
      what,
      () => read(id),
      ({ phase }) => phases.includes(phase),
      MOVE_TIMEOUT_MS,
    );

  /**
   * Begins a move that loses its target when nobody may write any more. Resolves when it waits for the target, which
   * owns the workspace.
   */
  async function loseTarget(movable: Movable): Promise<MoveView> {
    const asked = await askForMove(world, movable, LOST);
    await inPhase(asked.id, "a move past the point where its source may write", CUT_IN);
    await far.cut();
    const stuck = await inPhase(asked.id, "a move that waits for an instance that went", ["ACTIVATE"]);
    expect(await movable.owner()).toBe(LOST);
    return stuck;
  }

  it.each([
    ["back to where it came from", "redirect-back", true],
    ["to a third", "redirect-on", false],
  ] as const)(
    "is failed over %s: never two owners, nothing is deleted, and users wait only as long as the person takes (I1, I2, I4)",
    async (_where, namespace, isBack) => {
      const movable = await settle(namespace);
      const source = await movable.owner();
      const to = isBack ? source : (STEADY.find((name) => name !== source) ?? "");
      const uids = await movable.uids();
      expect([STEADY.includes(source as never), uids.includes(undefined)]).toEqual([true, false]);

      const writers: number[] = [];
      const user = await watchUser(world, namespace);
      let pushes = 0;
      const watching = [
        again(PROBE_EVERY_MS, async () => void writers.push(await movable.writers())),
        again(PUSH_EVERY_MS, async () => {
          pushes += 1;
          await movable.push(NAMES[pushes % NAMES.length] ?? "home", String(pushes));
          expect(await movable.uids()).toEqual(uids);
        }),
      ];
      let moves: readonly [first: MoveView, second: MoveView];
      try {
        const lost = await loseTarget(movable);
        // A request for an ordinary move is refused: one is under way already, and the answer says what to do about it.
        const refused = await askForMove(world, movable, to).catch((error: unknown) => String(error));
        expect(refused).toContain("it is being moved already");
        expect(refused).toContain("argosy move --fail-over");
        const redirected = await world.rest.post<MoveView>("/v1/moves", { workspace: namespace, to, failOver: true });
        const second = await moveEnded(world, redirected);
        moves = [await read(lost.id), second];
      } finally {
        for (const each of watching) await each.end();
      }
      const [first, second] = moves;
      report(`redirected from ${source} to ${to}: gap ${first.gapMs} and ${second.gapMs} ms, whole ${second.tookMs} ms, ${pushes} pushes`);
      expect([first.phase, second.phase, second.failOver, await movable.owner()]).toEqual(["REDIRECTED", "DONE", true, to]);
      expectOneWriter(writers);
      expect(writers.length).toBeGreaterThan(20);
      expect(user.gone()).toEqual([]);
      expect.soft(user.odd()).toEqual([]);
      await user.close();
      for (const name of NAMES) await movable.push(name, "over");
      for (const name of NAMES) await movable.arrived(name, "over");
      expect(await movable.uids()).toEqual(uids);

      await far.restore();
      for (const instance of [LOST, ...STEADY].filter((name) => name !== to))
        await until(
          `nothing on ${instance}`,
          () => far.standingOn(instance, namespace),
          (all) => all.length === 0,
          2 * MOVE_TIMEOUT_MS,
        );
      for (const name of NAMES) await movable.push(name, "after");
      for (const name of NAMES) await movable.arrived(name, "after");
      expect(await movable.uids()).toEqual(uids);
      await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    },
    DEADLINE_MS,
  );
});
