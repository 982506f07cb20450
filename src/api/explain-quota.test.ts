import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { WorkspacesSpec } from "../domain/fleet.ts";
import { explainQuota, quotaText } from "./explain-quota.ts";

const [USUAL, LARGE] = ["eu/shared/public", "eu/large/public"];
const declared: WorkspacesSpec = {
  ...{ selector: {}, everyNamespace: true },
  quota: { deployments: 100, syncsPerMinute: 1, environments: 7, environmentObjects: 20_000 },
  classQuotas: [{ class: LARGE, deployments: 900, syncsPerMinute: 60, environments: 1 }],
  cpuShares: [
    { class: USUAL, share: 0.25 },
    { class: LARGE, share: 0.5 },
  ],
};
const assigned = { class: LARGE, actor: "ada", reason: "asked for", at: millis(0) };
const explained = (units: Parameters<typeof explainQuota>[1]["units"], over: Partial<WorkspacesSpec> = {}, directive = {}) => {
  const quota = explainQuota({ ...declared, ...over }, { units, directive });
  return { quota, text: quotaText(quota) };
};

describe("which quota holds for a workspace", () => {
  it("is said with its class, in numbers and as a sentence", () => {
    expect(explained([{ class: LARGE }])).toEqual({
      quota: { classes: [LARGE], deployments: 900, syncsPerMinute: 60, environments: 1, environmentObjects: 20_000, cpuShare: 0.5 },
      text: "may have 900 deployments and 1 environment of at most 20000 objects each, and begin 60 syncs a minute (class eu/large/public), and is reported when it takes more than 50 % of an instance's CPU",
    });
  });

  it("is the smaller one on its way to another class, with the share of where its parts live", () => {
    expect(explained([{ class: USUAL, wantedClass: LARGE }, { class: USUAL }])).toEqual({
      quota: { classes: [LARGE, USUAL], deployments: 100, syncsPerMinute: 1, environments: 1, environmentObjects: 20_000, cpuShare: 0.25 },
      text: expect.stringContaining(
        "begin 1 sync a minute (the smaller of each, between the classes eu/large/public and eu/shared/public), and is reported",
      ),
    });
    expect(explained([{ class: USUAL }, { class: LARGE }]).quota.cpuShare).toBe(0.25);
  });

  it("goes by the class that was assigned before there is a unit, and says where that is not known", () => {
    expect(explained([], {}, { assigned }).quota).toMatchObject({ classes: [LARGE], deployments: 900, cpuShare: null });
    expect(explained([{ class: USUAL }], {}, { assigned }).quota).toMatchObject({ classes: [USUAL], deployments: 100 });
    expect(explained([])).toMatchObject({
      quota: { classes: [], deployments: 100 },
      text: expect.stringContaining("unless its first deployment gets a class with a quota of its own"),
    });
  });

  it("leaves out what is not declared", () => {
    const { cpuShares: _shares, ...rest } = declared;
    const { quota, text } = explained([{ class: USUAL }], { ...rest, quota: { deployments: 1, syncsPerMinute: 2 }, cpuShares: [] });
    expect(quota).toMatchObject({ environments: 50, environmentObjects: null, cpuShare: null });
    expect(text).toBe("may have 1 deployment and 50 environments, and begin 2 syncs a minute (class eu/shared/public)");
  });
});
