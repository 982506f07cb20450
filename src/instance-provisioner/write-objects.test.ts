import { expect, it } from "vitest";
import type { EngineObject } from "../domain/engine.ts";
import { systemClock } from "../runtime/clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { silentLog } from "../telemetry/log.ts";
import { declarationOf } from "./declaration.ts";
import type { EngineClusterPort } from "./port.ts";
import { aFleet, anInstance } from "./testing/instances.ts";
import { someParameters } from "./testing/parameters.ts";
import { createInstanceObjectWriter } from "./write-objects.ts";

const never = new AbortController().signal;

it("refuses other definitions than those that a release was first used with, and writes nothing then", async () => {
  const store = createMemoryStore({ clock: systemClock });
  const written: string[] = [];
  const cluster = {
    name: "eu-1",
    ensureCrds: async ({ objects }) => objects.map((object) => `${written.push(object.metadata.name)}`),
    applyObjects: async () => [],
    leftOf: async () => undefined,
  } as Partial<EngineClusterPort> as EngineClusterPort;
  const writerOf = (content: string) => {
    const object: EngineObject = { apiVersion: "v1", kind: "CustomResourceDefinition", metadata: { name: content } };
    const secrets = { read: async () => someParameters().secrets } as never;
    return createInstanceObjectWriter({ crds: { read: async () => [object] }, store, secrets, log: silentLog });
  };
  const instance = anInstance({ state: "CREATING" });
  const writing = (version: string) => {
    const declaration = declarationOf({ ...instance, desiredVersion: version }, aFleet(), { systemNamespace: "argosy-system" });
    if (declaration.kind !== "renderable") throw new Error(declaration.reason);
    return { instance, declaration, stages: undefined };
  };
  await writerOf("first").write(writing("3.5.7"), cluster, never);
  await expect(writerOf("other").write(writing("3.5.7"), cluster, never)).rejects.toMatchObject({ code: "fleet.crds-changed" });
  await writerOf("first").write(writing("3.5.7"), cluster, never);
  await writerOf("other").write(writing("3.5.6"), cluster, never);
  expect(written).toEqual(["first", "first", "other"]);
});
