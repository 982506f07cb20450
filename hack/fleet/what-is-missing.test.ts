import { describe, expect, it } from "vitest";
import type { FleetSpec } from "../../src/domain/fleet.ts";
import { parseFleetDocument } from "../../src/instance-provisioner/fleet-schema/parse-fleet.ts";
import { type FleetFacts, fleetDocument } from "./fleet-document.ts";
import { whatIsMissing } from "./what-is-missing.ts";

function aSpec(changes: Partial<FleetFacts> = {}): FleetSpec {
  const parsed = parseFleetDocument(
    fleetDocument({
      engineClusters: [{ name: "local", kubeconfigSecret: "argosy-system/engine-local" }],
      instances: { min: 2, max: 2 },
      version: "3.5.7",
      crds: "/cache/argo-cd-1/crds",
      gitHost: "127.0.0.1",
      ...changes,
    }),
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.complaints));
  return parsed.spec;
}

describe("a fleet that was declared before", () => {
  it("stays as it was declared, where nothing is missing", () => {
    const declared = aSpec({ instances: { min: 3, max: 5 } });
    expect(whatIsMissing(declared, aSpec(), () => true)).toBeUndefined();
    const other = { ...declared, pools: declared.pools.map((pool) => ({ ...pool, name: "mine" })) };
    expect(whatIsMissing(other, aSpec(), () => true)).toBeUndefined();
  });

  it("gets what this start needs and was not declared, and keeps everything else", () => {
    const declared = aSpec({
      engineClusters: [{ name: "far", kubeconfigSecret: "argosy-system/far" }],
      version: "3.5.1",
      gitHost: "10.0.0.7",
    });
    const added = whatIsMissing(declared, aSpec(), () => true);
    expect(added?.engineClusters.map(({ name }) => name)).toEqual(["far", "local"]);
    expect(added?.versions).toMatchObject({ default: "3.5.1", catalogue: [{ version: "3.5.1" }, { version: "3.5.7" }] });
    expect(added?.egress).toMatchObject({ allow: ["10.0.0.7/32", "127.0.0.0/8"], http: ["10.0.0.7", "127.0.0.1"] });
    expect(added?.pools).toEqual(declared.pools);
    expect(whatIsMissing({ ...declared, pools: [] }, aSpec(), () => true)?.pools).toEqual(aSpec().pools);
  });

  it("gets the new path of the CRDs only if they are no longer at the declared one", () => {
    const declared = aSpec({ crds: "/cache/argo-cd-0/crds" });
    expect(whatIsMissing(declared, aSpec(), () => true)).toBeUndefined();
    const mended = whatIsMissing(declared, aSpec(), () => false);
    expect(mended).toEqual(aSpec());
  });
});
