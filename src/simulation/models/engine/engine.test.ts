import { describe, expect, it } from "vitest";
import { REFRESH_ANNOTATION, SKIPPED } from "./application.ts";
import { aWorld } from "./testing/world.ts";

/** Lets time pass in small steps until something holds. */
async function until(world: { run(ms: number): Promise<void> }, holds: () => boolean): Promise<void> {
  for (let steps = 0; steps < 20_000 && !holds(); steps += 1) await world.run(1);
  expect(holds()).toBe(true);
}

describe("the model of an instance's controller", () => {
  it("deploys what Git has as the account that an owner binding lets in", async () => {
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

  it("leaves objects behind that its cache has not learnt of yet when an Application is deleted as its first sync ends", async () => {
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

  it("deletes the objects of an Application with it if its cache knows them", async () => {
    const { world, create, permit, cascade, objects, application } = aWorld();
    permit();
    await world.run(1_000);
    create();
    await world.run(20_000);
    cascade();
    await until(world, () => application() === undefined);
    expect(objects()).toEqual([]);
  });

  it("does nothing about a paused Application, not even about its deletion, until it is unpaused", async () => {
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

  it("leaves a sync that was under way when its Application was paused for ever, and ends it once that is unpaused", async () => {
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

  it("begins no sync after a refresh that was requested with automated sync turned off", async () => {
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

  it("does not retry by itself a sync whose status says that it failed, until there is another commit", async () => {
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

  it("is refused some milliseconds after the owner binding names nobody", async () => {
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
