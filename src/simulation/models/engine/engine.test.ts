import { describe, expect, it } from "vitest";
import { REFRESH_ANNOTATION, SKIPPED } from "./application.ts";
import { aWorld } from "./testing/world.ts";

/** Lets time pass in small steps until something holds. */
async function until(world: { run(ms: number): Promise<void> }, holds: () => boolean): Promise<void> {
  for (let steps = 0; steps < 20_000 && !holds(); steps += 1) await world.run(1);
  expect(holds()).toBe(true);
}

describe("the model of an instance's controller", () => {
  it("deploys what Git says as the account that a register lets in", async () => {
    const { world, create, permit, objects } = aWorld();
    permit();
    await world.run(1_000);
    create();
    await until(world, () => objects().length === 1);
  });

  it("tries a refused sync again, says Running with the time it was refused, and goes on once it may", async () => {
    const { world, create, permit, objects, application } = aWorld();
    create();
    await until(world, () => application()?.status?.operationState?.finishedAt !== undefined);
    expect(application()?.status?.operationState?.phase).toBe("Running");
    permit();
    await world.run(60_000);
    expect(objects()).toEqual(["app-0"]);
    expect(application()?.status?.operationState?.phase).toBe("Succeeded");
  });

  it("leaves behind what its cache has not learned yet when an Application is deleted as its first sync ends", async () => {
    const { world, create, permit, cascade, objects, application } = aWorld();
    permit();
    await world.run(1_000);
    create();
    await until(world, () => objects().length === 1);
    cascade();
    await until(world, () => application() === undefined);
    await world.run(300_000);
    expect(objects()).toEqual(["app-0"]);
  });

  it("deletes what it deployed with an Application whose objects its cache knows", async () => {
    const { world, create, permit, cascade, objects, application } = aWorld();
    permit();
    await world.run(1_000);
    create();
    await world.run(20_000);
    cascade();
    await until(world, () => application() === undefined);
    expect(objects()).toEqual([]);
  });

  it("looks at nothing of a paused Application, and hangs with one that is deleted paused until it is not", async () => {
    const { world, create, permit, cascade, objects, application, patch } = aWorld();
    permit();
    await world.run(1_000);
    create(SKIPPED);
    await world.run(60_000);
    expect(objects()).toEqual([]);
    cascade();
    await world.run(60_000);
    expect(application()).toBeDefined();
    patch({ metadata: { annotations: null } });
    await until(world, () => application() === undefined);
  });

  it("stands still for ever with a sync that was under way when it was paused, and ends it when it is not any more", async () => {
    const { world, git, create, permit, objects, application, patch } = aWorld();
    git.push("folder", { "app-0": "a", "app-1": "b", "app-2": "c", "app-3": "d" });
    permit();
    await world.run(1_000);
    create();
    await until(world, () => objects().length === 1);
    patch({ metadata: { annotations: SKIPPED } });
    await world.run(300_000);
    expect(objects().length).toBeLessThan(4);
    expect(application()?.status?.operationState?.phase).toBe("Running");
    patch({ metadata: { annotations: null } });
    await world.run(5_000);
    expect(objects()).toHaveLength(4);
    expect(application()?.status?.operationState?.phase).toBe("Succeeded");
  });

  it("begins nothing of one that does not sync by itself any more, once it has looked as it was asked to", async () => {
    const { world, git, create, permit, objects, patch, application } = aWorld();
    permit();
    await world.run(1_000);
    create();
    await world.run(20_000);
    git.push("folder", { "app-0": "second", "app-9": "new" });
    patch({ metadata: { annotations: { [REFRESH_ANNOTATION]: "normal" } }, spec: { syncPolicy: { automated: null } } });
    await until(world, () => application()?.metadata.annotations?.[REFRESH_ANNOTATION] === undefined);
    await world.run(60_000);
    expect(objects()).toEqual(["app-0"]);
  });

  it("does not try again by itself what it is told has failed, until there is another commit", async () => {
    const { world, git, create, permit, objects, patch } = aWorld();
    permit();
    await world.run(1_000);
    create(SKIPPED);
    const revision = git.head("folder");
    patch({ status: { operationState: { phase: "Failed", finishedAt: "2026-01-01T00:00:00Z", syncResult: { revision } } } });
    patch({ metadata: { annotations: null } });
    await world.run(300_000);
    expect(objects()).toEqual([]);
    git.push("folder", { "app-0": "second" });
    await world.run(300_000);
    expect(objects()).toEqual(["app-0"]);
  });

  it("is refused once the register names nobody, some milliseconds later", async () => {
    const { world, git, create, permit, revoke, objects, application } = aWorld();
    permit();
    await world.run(1_000);
    create();
    await world.run(20_000);
    revoke();
    await world.run(100);
    git.push("folder", { "app-0": "second", "app-9": "new" });
    await world.run(400_000);
    expect(objects()).toEqual(["app-0"]);
    expect(application()?.status?.operationState?.phase).toBe("Running");
  });
});
