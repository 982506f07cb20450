import { describe, expect, it } from "vitest";
import { type ClusterProbes, chooseCluster } from "./choose.ts";

/** A machine with these tools. It records which it was asked about. */
function aMachine(has: { readonly go?: boolean; readonly kind?: boolean }) {
  const asked: string[] = [];
  const answer = (what: string, is: boolean | undefined) => async () => {
    asked.push(what);
    return is === true;
  };
  const probes: ClusterProbes = { hasGo: answer("go", has.go), hasKind: answer("kind", has.kind) };
  return { probes, asked };
}

const nothing = { kubeconfig: undefined, kind: false, realNode: false };

describe("the cluster", () => {
  it.each([
    [{ ...nothing, kubeconfig: "k" }, { go: true, kind: true }, "existing", []],
    [nothing, { go: true, kind: true }, "development", ["go"]],
    [nothing, { kind: true }, "kind", ["go", "kind"]],
    [{ ...nothing, kind: true }, { go: true, kind: true }, "kind", ["kind"]],
  ] as const)("requested as %j on a machine with %j is %s, after asking for %j", async (request, has, expected, questions) => {
    const { probes, asked } = aMachine(has);
    const { is, why } = await chooseCluster(request, probes);
    expect([is, asked]).toEqual([expected, questions]);
    expect(why).toMatch(/^because /);
  });

  it.each([
    [nothing, {}],
    [{ ...nothing, kind: true }, { go: true }],
  ])("requested as %j is not possible on a machine with %j, and the error names all three remedies", async (request, has) => {
    await expect(chooseCluster(request, aMachine(has).probes)).rejects.toMatchObject({
      code: "up.no-cluster",
      remedy: expect.stringMatching(/Go.*kind.*--kubeconfig/),
    });
  });

  it("gets a real node where that is wanted and Go is installed, and says that it needs Go where it is not", async () => {
    const request = { ...nothing, realNode: true };
    expect(await chooseCluster(request, aMachine({ go: true, kind: true }).probes)).toMatchObject({ is: "development", realNode: true });
    await expect(chooseCluster(request, aMachine({ kind: true }).probes)).rejects.toMatchObject({
      ...{ code: "up.no-cluster", path: "--node" },
      remedy: expect.stringMatching(/Go.*leave --node out/),
    });
  });
});
