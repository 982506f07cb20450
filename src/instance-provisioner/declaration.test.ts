import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { declarationOf } from "./declaration.ts";
import { aFleet, anInstance, aPool } from "./testing/instances.ts";

describe("what an instance is rendered from", () => {
  it("is its pool and the release it is asked to run", () => {
    const instance = anInstance({ version: "3.5.6", desiredVersion: "3.5.7" });
    expect(declarationOf(instance, aFleet(), { systemNamespace: "argosy-system" })).toMatchObject({
      kind: "renderable",
      crds: "/crds/3.5.7",
      parameters: { release: { version: "3.5.7" }, instance: { name: "standard-1" }, systemNamespace: "argosy-system" },
    });
  });

  it("has another hash when its pool, release, egress or access to its cluster changes, and the same when other pools change", () => {
    const hashOf = (fleet = aFleet(), instance = anInstance()) => {
      const declaration = declarationOf(instance, fleet, { systemNamespace: "argosy-system" });
      return declaration.kind === "renderable" ? declaration.hash : undefined;
    };
    const { versions } = aFleet();
    const before = hashOf();
    expect(hashOf(aFleet({ pools: [aPool(), aPool({ name: "big" })] }))).toBe(before);
    expect(hashOf(aFleet({ pools: [aPool({ instances: { min: 1, max: 9 } })] }))).toBe(before);
    const others = [
      hashOf(aFleet({ egress: { allow: ["10.0.0.0/8"], http: [] } })),
      hashOf(aFleet({ pools: [aPool({ engine: { ...aPool().engine, k8sClientQps: 1 } })] })),
      hashOf(aFleet(), anInstance({ desiredVersion: "3.5.6" })),
      hashOf(aFleet({ versions: { ...versions, catalogue: versions.catalogue.map((one) => ({ ...one, crds: "/elsewhere" })) } })),
      hashOf(aFleet({ engineClusters: [{ name: "eu-1", region: "eu", access: { kind: "secret", secret: "argosy/eu-1" } }] })),
    ];
    expect(new Set([before, ...others]).size).toBe(6);
  });

  it("has what it was given beyond its pool, as far as that allows it", () => {
    const fleet = aFleet({ pools: [aPool({ resources: { ...aPool().resources, max: { controller: { memory: "6Gi" } } } })] });
    const given = (memory: string) => anInstance({ raised: { amounts: { "controller.memory": memory }, at: millis(0) } });
    const of = (instance = anInstance(), declared = fleet) => {
      const declaration = declarationOf(instance, declared, { systemNamespace: "argosy-system" });
      if (declaration.kind === "impossible") throw new Error(declaration.reason);
      return { hash: declaration.hash, resources: declaration.parameters.resources };
    };
    // A maximum alone changes nothing that is written.
    expect(of()).toEqual(of(anInstance(), aFleet()));
    expect(of(given("5Gi")).resources).toEqual({ ...aPool().resources, controller: { cpu: "2", memory: "5Gi" } });
    expect(of(given("8Gi")).resources.controller.memory).toBe("6Gi");
    expect(of(given("5Gi"), aFleet())).toEqual(of());
    expect(of(given("5Gi")).hash).not.toBe(of().hash);
  });

  it.each([
    ["without a fleet", undefined, anInstance(), "pool standard is not declared any more"],
    ["of a pool that is gone", aFleet({ pools: [] }), anInstance(), "pool standard is not declared any more"],
    ["of an unknown release", aFleet(), anInstance({ desiredVersion: "3.4.0" }), "version 3.4.0 is not in the catalogue of fleet.yaml"],
  ])("is not known %s", (_what, fleet, instance, reason) => {
    expect(declarationOf(instance, fleet, { systemNamespace: "argosy-system" })).toEqual({ kind: "impossible", reason });
  });
});
