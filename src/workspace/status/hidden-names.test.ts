import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutNames } from "./hidden-names.ts";

describe("names no user may read", () => {
  it.each([
    ["in argocd-eu-7.", "in ….", ["argocd-eu-7", "argocd-eu"]],
    ["argocd-eu-70", "…-70", ["argocd-eu-7", "argocd-eu"]],
    ["xargocd-eu argocd-eux", "xargocd-eu argocd-eux", ["argocd-eu"]],
    ["a a/a-a", "… …/…-…", ["a"]],
    ["", "", ["a"]],
    ["nothing", "nothing", []],
  ])("%j becomes %j", (text, plain, hidden) => {
    expect(withoutNames(text, hidden, "…")).toBe(plain);
  });

  it("are left nowhere as words of their own", () => {
    const name = fc.stringMatching(/^[a-c]([-a-c]{0,3}[a-c])?$/);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), fc.stringMatching(/^[-a-c ./]{0,40}$/), (hidden, text) => {
        const plain = withoutNames(text, hidden, "…");
        for (const each of hidden) expect(plain.split(/[^-a-c]+/)).not.toContain(each);
      }),
    );
  });

  it("cost no more for many of them than for one, in a message made of their beginnings", () => {
    const hidden = Array.from({ length: 5_000 }, (_, index) => `standard-${String(index).padStart(5, "0")}`);
    let compared = 0;
    const text = "standard-0000x ".repeat(1_000);
    const counting = new Proxy([...hidden], {
      get(list, key) {
        compared += 1;
        return Reflect.get(list, key);
      },
    });
    for (let message = 0; message < 20; message += 1) expect(withoutNames(text, counting, "…")).toBe(text);
    // The list itself is gone through once, not for each message.
    expect(compared).toBeLessThan(3 * hidden.length + 100);
  });
});
