import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import { ACCESS_OUTCOMES, type AccessOutcome, type RepositoryAccess, UNPROVEN, whatFollows } from "../../domain/repository-access.ts";
import { dueAt, isConfirming, nextAccess, PROVE_AGAIN_MS } from "./next-access.ts";

const T0 = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const SILENT: readonly AccessOutcome[] = ["moved", "unknown-identity", "unreachable", "failed", "not-probed", "too-many"];
const REFUSED: readonly AccessOutcome[] = ["denied", "not-found", "not-allowed"];

/** What is known after probes that ended so, each when it was due. `undefined`: nothing was recorded before. */
function known(outcomes: readonly AccessOutcome[], before: RepositoryAccess | undefined, everyMs?: number): RepositoryAccess {
  let access = before;
  let at: Millis = millis(T0);
  for (const outcome of outcomes) {
    access = { ...nextAccess(access, { outcome, credential: "", at }), ordinal: access?.ordinal ?? 0 };
    at = everyMs === undefined ? dueAt(access, "") : millis(at + everyMs);
  }
  return access ?? UNPROVEN;
}
const times = (count: number, outcome: AccessOutcome): readonly AccessOutcome[] => Array.from({ length: count }, () => outcome);

describe("access to a repository", () => {
  it("is proven by one probe that read it, whatever was before", () => {
    for (const before of [UNPROVEN, undefined, { ...UNPROVEN, state: "lost", refusals: 7, refusedSince: millis(T0) } as const])
      expect(known(["readable"], before)).toMatchObject({ state: "proven", refusals: 0, refusedSince: undefined, provenAt: T0 });
  });

  it("is not proven by anything else", () => {
    for (const outcome of ACCESS_OUTCOMES.filter((each) => each !== "readable"))
      expect(known(times(20, outcome), UNPROVEN), outcome).toMatchObject({ state: "unproven", outcome });
  });

  it("of who used it before anybody probed counts as proven until it is lost: at an upgrade nothing stops", () => {
    for (const outcome of ACCESS_OUTCOMES) expect(known([outcome], undefined), outcome).toMatchObject({ state: "proven" });
  });

  it.each(REFUSED)("is lost when the host says %s several times over some time, and not before", (outcome) => {
    const proven = known(["readable"], UNPROVEN);
    expect(known(times(2, outcome), proven)).toMatchObject({ state: "proven", refusals: 2 });
    expect(known(times(3, outcome), proven)).toMatchObject({ state: "lost", outcome });
    expect(known(times(100, outcome), proven, 1_000), "in a minute or two").toMatchObject({ state: "proven" });
    expect(known([outcome, outcome, "readable", outcome, outcome], proven)).toMatchObject({ state: "proven", refusals: 2 });
  });

  it("is not lost for a host that is away, is another one or sends everybody elsewhere, however long", () => {
    const proven = known(["readable"], UNPROVEN);
    for (const outcome of SILENT) expect(known(times(200, outcome), proven), outcome).toMatchObject({ state: "proven" });
  });

  it("is probed at once first and with another credential, every hour once it is proven, sooner while it is refused", () => {
    const proven = known(["readable"], UNPROVEN);
    expect(dueAt(undefined, "")).toBe(0);
    expect(dueAt(UNPROVEN, "")).toBe(0);
    expect(dueAt(proven, "other")).toBe(0);
    expect(dueAt(proven, "")).toBe(T0 + PROVE_AGAIN_MS);
    expect(dueAt(known(["denied"], proven), "")).toBe(T0 + 10 * MINUTE);
    const waits = [1, 2, 3, 5, 50].map((count) => {
      const access = known(times(count, "denied"), UNPROVEN);
      return dueAt(access, "") - (access.probedAt ?? 0);
    });
    expect(waits).toEqual([5_000, 10_000, 20_000, 80_000, 120_000]);
  });

  it("raises what instances hold only where it becomes another", () => {
    const proven = known(["readable"], UNPROVEN);
    const lost = { ...proven, state: "lost" } as const;
    expect(whatFollows(UNPROVEN, proven)).toEqual({
      raisesApplications: false,
      raisesUnits: true,
      asksForApplications: true,
      tellsUsers: true,
    });
    expect(whatFollows(proven, { ...proven, ordinal: 1 })).toMatchObject({
      raisesApplications: true,
      raisesUnits: true,
      tellsUsers: false,
    });
    expect(whatFollows(proven, lost)).toMatchObject({ raisesUnits: true, raisesApplications: false, tellsUsers: true });
    expect(whatFollows(lost, proven)).toMatchObject({ raisesUnits: true, asksForApplications: true });
    expect(Object.values(whatFollows(proven, { ...proven, probedAt: millis(T0 + 1) }))).toEqual([false, false, false, false]);
  });

  it("is waited for until it was read once, or refused a few times, and with another credential", () => {
    const proven = known(["readable"], UNPROVEN);
    expect(
      [undefined, UNPROVEN, ...[1, 4].map((count) => known(times(count, "denied"), UNPROVEN))].map((one) => isConfirming(one, "")),
    ).toEqual([...[false, false, false, false]]);
    expect([proven, known(["denied"], proven), known(times(5, "denied"), UNPROVEN)].map((one) => isConfirming(one, ""))).toEqual([
      true,
      true,
      true,
    ]);
    expect(isConfirming(proven, "other")).toBe(false);
  });

  it("is proven again up to a tenth sooner than after an hour, by when it was probed", () => {
    const at = (ms: number) => dueAt({ ...known(["readable"], UNPROVEN), probedAt: millis(T0 + ms) }, "") - T0 - ms;
    expect([at(0), at(500), at(999)]).toEqual([PROVE_AGAIN_MS, PROVE_AGAIN_MS * 0.95, PROVE_AGAIN_MS * (1 - 0.0999)]);
  });
});
