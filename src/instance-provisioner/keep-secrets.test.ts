import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { silentLog } from "../telemetry/log.ts";
import { createSecretMaker } from "./adapters/certificates/secret-maker.ts";
import { createSecretKeeper } from "./keep-secrets.ts";

const DAY_MS = 86_400_000;
const instance = { id: "00000000-0000-7000-8000-000000000001" as InstanceId, name: "standard-1", namespace: "argosy-standard-1" };
const { signal } = new AbortController();

function keeperWith(clock: VirtualClock) {
  const { credentials } = createMemoryStore({ clock });
  return () => createSecretKeeper({ credentials, maker: createSecretMaker(), clock, log: silentLog });
}

describe("an instance's secrets", () => {
  it("are the same for all processes that create them at the same time", async () => {
    const keepers = [1, 2, 3].map(keeperWith(createVirtualClock()));
    const [first, ...others] = await Promise.all(keepers.map((keeper) => keeper.read(instance, signal)));
    for (const other of others) expect(other).toEqual(first);
    expect(await keepers[0]?.read(instance, signal)).toEqual(first);
  });

  it("stay the same but for certificates, which each time are of an authority that both sides trusted before", async () => {
    const clock = createVirtualClock();
    const keeper = keeperWith(clock)();
    const seen = [await keeper.read(instance, signal)];
    for (let day = 1; day <= 365; day += 1) {
      await clock.advance(DAY_MS);
      const now = await keeper.read(instance, signal);
      expect(await keeper.read(instance, signal)).toEqual(now);
      if (JSON.stringify(now) !== JSON.stringify(seen.at(-1))) seen.push(now);
      expect(Date.parse(new X509Certificate(now.certificates.server.certificate).validTo)).toBeGreaterThan(clock.now() + 60 * DAY_MS);
    }
    // Every sixty to ninety days.
    expect(seen.length).toBeGreaterThanOrEqual(1 + 4);
    expect(seen.length).toBeLessThanOrEqual(1 + 6);
    for (const [index, { certificates, ...rest }] of seen.entries()) {
      const before = seen[index - 1];
      if (before === undefined) continue;
      expect(rest).toEqual({ serverSecretKey: before.serverSecretKey, redisPassword: before.redisPassword });
      for (const { certificate } of [certificates.server, certificates.client]) {
        expect(trusts(before.certificates.authorities, certificate)).toBe(true);
        expect(trusts(certificates.authorities, certificate)).toBe(true);
      }
      // A side whose pod is still to be replaced is understood; the certificates before are no longer.
      for (const { certificate } of [before.certificates.server, before.certificates.client])
        expect(trusts(certificates.authorities, certificate)).toBe(true);
      const long = seen[index - 2]?.certificates.server.certificate;
      if (long !== undefined) expect(trusts(certificates.authorities, long)).toBe(false);
    }
  });
});

function trusts(authorities: string, certificate: string): boolean {
  const each = authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return each.some((authority) => new X509Certificate(certificate).verify(new X509Certificate(authority).publicKey));
}
