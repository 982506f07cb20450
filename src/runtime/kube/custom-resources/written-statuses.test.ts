import { describe, expect, it } from "vitest";
import { createWrittenStatuses as createOf, type Versioned } from "./written-statuses.ts";

interface Resource extends Versioned {
  readonly conditions: readonly { readonly type: string; readonly reason: string }[];
}

const createWrittenStatuses = () =>
  createOf<Resource>((seen, { resourceVersion, conditions }) => ({ ...seen, resourceVersion, conditions }));

const version = (resourceVersion: string, reason = "", over: Partial<Resource> = {}): Resource => ({
  ...{ namespace: "jane", name: "guestbook", uid: "uid-1", resourceVersion },
  conditions: reason === "" ? [] : [{ type: "Ready", reason }],
  ...over,
});

describe("what was written and not yet seen", () => {
  it("stands over what the watch shows until the watch has it", () => {
    const written = createWrittenStatuses();
    const kept = version("9");
    written.wrote(version("10", "Written"), kept);
    expect(written.over(kept)).toMatchObject({ resourceVersion: "10", conditions: [{ reason: "Written" }] });
    // Something older on its way changes nothing about that.
    written.seen(kept);
    expect(written.over(version("9"))).toMatchObject({ resourceVersion: "10" });
    const caughtUp = version("11", "Later");
    written.seen(caughtUp);
    expect(written.over(caughtUp)).toBe(caughtUp);
    expect(written.over(kept)).toBe(kept);
  });

  it("is not kept where the watch was faster, nor over another resource or one that is gone", () => {
    const written = createWrittenStatuses();
    const kept = version("10", "Written");
    written.wrote(version("10", "Written"), kept);
    expect(written.over(kept)).toBe(kept);
    written.wrote(version("12", "Late"), undefined);
    expect(written.over(kept)).toBe(kept);
    written.wrote(version("12", "Written"), kept);
    const namesake = version("11", "", { uid: "other" });
    expect(written.over(namesake)).toBe(namesake);
    written.seen(namesake);
    expect(written.over(kept)).toBe(kept);
    written.wrote(version("12", "Written"), kept);
    written.forget(kept);
    expect(written.over(kept)).toBe(kept);
    expect(written.over(undefined)).toBeUndefined();
  });

  it("keeps nothing over versions that cannot be compared", () => {
    const written = createWrittenStatuses();
    const kept = version("a");
    written.wrote(version("b", "Written"), kept);
    expect(written.over(kept)).toBe(kept);
  });
});
