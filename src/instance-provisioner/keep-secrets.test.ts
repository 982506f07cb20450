import { describe, expect, it } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createSecretMaker } from "./adapters/certificates/secret-maker.ts";
import { createSecretKeeper } from "./keep-secrets.ts";

const YEAR_MS = 365 * 86_400_000;
const instance = { id: "00000000-0000-7000-8000-000000000001" as InstanceId, namespace: "argosy-standard-1" };
const { signal } = new AbortController();

describe("an instance's secrets", () => {
  it("are the same for all processes that create them at the same time", async () => {
    const clock = createVirtualClock();
    const { credentials } = createMemoryStore({ clock });
    const keepers = [1, 2, 3].map(() => createSecretKeeper({ credentials, maker: createSecretMaker(), clock }));
    const [first, ...others] = await Promise.all(keepers.map((keeper) => keeper.read(instance, signal)));
    for (const other of others) expect(other).toEqual(first);
    expect(await keepers[0]?.read(instance, signal)).toEqual(first);
  });

  it("stay the same until their certificates expire soon", async () => {
    const clock = createVirtualClock();
    const { credentials } = createMemoryStore({ clock });
    const keeper = createSecretKeeper({ credentials, maker: createSecretMaker(), clock });
    const first = await keeper.read(instance, signal);
    await clock.advance(YEAR_MS);
    expect(await keeper.read(instance, signal)).toEqual(first);
    await clock.advance(4 * YEAR_MS);
    const renewed = await keeper.read(instance, signal);
    expect(renewed.certificates.notAfter).toBeGreaterThan(first.certificates.notAfter);
    expect(renewed).toEqual({ ...first, certificates: renewed.certificates });
    expect(await keeper.read(instance, signal)).toEqual(renewed);
  });
});
