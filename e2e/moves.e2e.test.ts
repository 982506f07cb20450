import { expect, it } from "vitest";
import { percentile } from "../bench/statistics.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { healsPutOff } from "./controller-log.ts";
import { askForMove, expectOneWriter, MOVE_TIMEOUT_MS, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { secondSyncs, watchSyncs } from "./sync-watch.ts";
import { watchUser } from "./user-watch.ts";
import { configMapFile, IS_LONG, openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMES = ["one", "two", "three", "four", "five"];
const NAMESPACE = "moves-team";
/** Its user changes the path in Git again and again. */
const EDITED = "edited";
/** Its user syncs it by hand with each move. */
const MANUAL = "manual";
const MOVES = IS_LONG ? 100 : 5;
const PROBE_EVERY_MS = 100;
const PUSH_EVERY_MS = 1_000;
const EDIT_EVERY_MS = 2_000;
/** How far back other syncs are listed beside one that was made twice. */
const AROUND_MS = 60_000;
/** A hundred moves take a quarter of an hour on an idle machine; a busy one may take four times as long. */
const DEADLINE_MS = 60 * 60_000;
type RunResource = KubeObject & { readonly status?: { readonly phase?: string } };

/** What people do all the time, each with a count. */
function busyPeople(world: World, movable: Movable) {
  const { workspace } = movable;
  const done = { pushes: 0, edits: 0, runs: 0 };
  return {
    done,
    async push(): Promise<void> {
      done.pushes += 1;
      await movable.push(NAMES[done.pushes % NAMES.length] ?? "one", String(done.pushes));
    },
    /** The directory changes each time, so nothing is deployed a second time because somebody asked for it. */
    async edit(): Promise<void> {
      done.edits += 1;
      const path = `${EDITED}/${done.edits}`;
      await world.git.commit(NAMESPACE, { [`${path}/config.yaml`]: configMapFile(EDITED, { edit: String(done.edits) }) });
      await workspace.apply(EDITED, { repository: NAMESPACE, path });
    },
    /** Requests one sync of what has just been pushed, and waits for its end. */
    async run(): Promise<() => Promise<void>> {
      done.runs += 1;
      const name = `run-${done.runs}`;
      await world.git.commit(NAMESPACE, { [`${MANUAL}/config.yaml`]: configMapFile(MANUAL, { run: name }) });
      if (done.runs === 1) await workspace.apply(MANUAL, { repository: NAMESPACE, path: MANUAL, type: "manual" });
      const kind = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: TYPES.syncRun.kind, metadata: { name, namespace: NAMESPACE } };
      await world.kube.create(TYPES.syncRun, { ...kind, spec: { gitopsDeploymentName: MANUAL } } as KubeObject, world.signal);
      return async () => {
        await until(
          `${name} Succeeded`,
          () => world.kube.get<RunResource>(TYPES.syncRun, kind.metadata, world.signal),
          (found) => found?.status?.phase === "Succeeded",
          MOVE_TIMEOUT_MS,
        );
        expect((await workspace.configMap(MANUAL))?.data).toEqual({ run: name });
      };
    },
  };
}

it(
  "moves a workspace again and again under pushes, edits and syncs by hand: never two owners, nothing deleted or synced twice, nothing visible to its user (I1, I2, I3, I6, P1)",
  async () => {
    const world = openWorld(DEADLINE_MS);
    const movable = await openMovable(world, NAMESPACE, NAMES);
    const people = busyPeople(world, movable);
    await people.edit();
    await movable.workspace.settled(EDITED);
    await (await people.run())();
    // The run is over as soon as its sync is. What Argo CD reports about the deployment is older until it has compared again.
    await movable.workspace.settled(MANUAL);
    const uids = await movable.uids();
    expect(uids).not.toContain(undefined);

    const writers: number[] = [];
    const user = await watchUser(world, NAMESPACE);
    const syncs = await watchSyncs(world, movable.unitId);
    const watching = [
      again(PROBE_EVERY_MS, async () => void writers.push(await movable.writers())),
      again(PUSH_EVERY_MS, async () => expect(await movable.uids()).toEqual(uids)),
      again(PUSH_EVERY_MS, people.push),
      again(EDIT_EVERY_MS, people.edit),
    ];
    const moves: MoveView[] = [];
    try {
      for (let count = 0; count < MOVES; count += 1) {
        const to = await movable.other();
        // A sync by hand is under way when every second move begins, and is requested in the middle of the others.
        const early = count % 2 === 0 ? await people.run() : undefined;
        const asked = await askForMove(world, movable, to);
        const succeeded = early ?? (await people.run());
        const move = await moveEnded(world, asked);
        await succeeded();
        moves.push(move);
        report(`move ${count + 1}: ${move.phase}, gap ${move.gapMs} ms, whole ${move.tookMs} ms`);
      }
    } finally {
      for (const each of watching) await each.end();
    }

    expect(moves.map(({ phase, message }) => [phase, message])).toEqual(moves.map(() => ["DONE", ""]));
    expect(writers.length).toBeGreaterThan(MOVES);
    expectOneWriter(writers);
    expect(await movable.uids()).toEqual(uids);
    expect(user.states()).toBeGreaterThan(MOVES);
    expect(user.syncs()).toContain("Synced");
    expect.soft(user.odd()).toEqual([]);
    expect.soft(user.gone()).toEqual([]);
    // The last request is what is deployed in the end, so the last owner works.
    for (const name of NAMES) await movable.push(name, "last");
    for (const name of NAMES) await movable.arrived(name, "last");
    await until(
      "the last edit",
      () => movable.workspace.configMap(EDITED),
      (found) => found?.data?.["edit"] === String(people.done.edits),
    );
    const seen = syncs.seen();
    await syncs.close();
    await user.close();
    const { pushes, edits, runs } = people.done;
    expect(seen.length).toBeGreaterThan(pushes / 2);
    expect(seen.filter(({ source }) => source.includes(`"${EDITED}/`)).length).toBeGreaterThan(1);
    const twice = secondSyncs(seen);
    for (const { application, startedAt } of twice) {
      const own = seen.filter((each) => each.application === application && Date.parse(startedAt) - Date.parse(each.startedAt) < AROUND_MS);
      report(`${application} synced twice: ${own.map((each) => `${each.startedAt} ${each.revision.slice(0, 7)}`).join(", ")}`);
      report(
        `last moves: ${moves
          .slice(-3)
          .map(({ to, createdAt, tookMs }) => `to ${to}, asked ${createdAt}, ${tookMs} ms`)
          .join("; ")}`,
      );
    }
    const putOff = await Promise.all(movable.instances.map(({ name }) => healsPutOff(world, name)));
    report(`heals put off by the controllers: ${putOff.join(", ")}`);
    expect(twice).toEqual([]);
    const [gaps, whole] = [moves.map(({ gapMs }) => gapMs ?? 0), moves.map(({ tookMs }) => tookMs ?? 0)];
    const figures = `gap p50 ${percentile(gaps, 0.5)} ms, p99 ${percentile(gaps, 0.99)} ms; whole move p50 ${percentile(whole, 0.5)} ms`;
    report(
      `${moves.length} moves under ${pushes} pushes, ${edits} edits, ${runs} syncs by hand; ${seen.length} syncs, none twice; ${writers.length} probes`,
    );
    report(figures);
  },
  DEADLINE_MS,
);
