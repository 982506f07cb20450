import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argoName } from "./argo-name.ts";

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

describe("the name of an Application", () => {
  it("says whose it is and which, and ends in a hash of the uid", () => {
    expect(argoName({ namespace: "jane", name: "guestbook", uid: "u-1" })).toMatch(/^jane-guestbook-[0-9a-f]{16}$/);
  });

  it("differs for another resource of the same name, and is the same for the same one", () => {
    const first = { namespace: "jane", name: "guestbook", uid: "u-1" };
    expect(argoName(first)).toBe(argoName({ ...first }));
    expect(argoName({ ...first, uid: "u-2" })).not.toBe(argoName(first));
  });

  it("is a DNS label whatever the names are", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ maxLength: 300 }), fc.uuid(), (namespace, name, uid) => {
        expect(argoName({ namespace, name, uid })).toMatch(label);
      }),
    );
  });

  it("is no longer than what Helm takes for the name of a release, whatever the names are", () => {
    expect(argoName({ namespace: "a".repeat(63), name: "b.c".repeat(80), uid: "u" })).toHaveLength(53);
    expect(argoName({ namespace: "-", name: "-", uid: "u" })).toMatch(/^[0-9a-f]{16}$/);
  });
});
