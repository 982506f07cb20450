import { describe, expect, it } from "vitest";
import { createByNamespace } from "./by-namespace.ts";
import { createNamespaceShare } from "./namespace-share.ts";

interface Value {
  readonly namespace: string;
  readonly name: string;
  readonly content: string;
}

function aShare(whole: number | undefined) {
  const kept = createByNamespace<Value>((a, b) => (a.name < b.name ? -1 : 1));
  const bound = whole === undefined ? undefined : { whole, reduce: (value: Value) => ({ ...value, content: "" }) };
  const share = createNamespaceShare(kept, bound);
  return {
    put(name: string, content = "much", namespace = "jane"): void {
      const value = share.fit({ namespace, name, content });
      if (value !== undefined) kept.put(value);
    },
    remove(name: string): void {
      kept.remove({ namespace: "jane", name });
      share.forget({ namespace: "jane", name });
    },
    contents: (namespace = "jane") => kept.list(namespace).map(({ name, content }) => `${name}=${content}`),
  };
}

describe("what is kept of a namespace", () => {
  it("is everything without a bound", () => {
    const share = aShare(undefined);
    for (const name of ["a", "b", "c"]) share.put(name);
    expect(share.contents()).toEqual(["a=much", "b=much", "c=much"]);
  });

  it("is as many values as may be whole, and little of each of the others; another namespace has its own share", () => {
    const share = aShare(2);
    for (const name of ["c", "b", "a"]) share.put(name);
    share.put("a", "much", "other");
    expect(share.contents()).toEqual(["a=", "b=much", "c=much"]);
    expect(share.contents("other")).toEqual(["a=much"]);
  });

  it("stays whole while it changes, and becomes whole at a change once there is room", () => {
    const share = aShare(2);
    for (const name of ["a", "b", "c"]) share.put(name);
    share.put("a", "more");
    share.put("c", "more");
    expect(share.contents()).toEqual(["a=more", "b=much", "c="]);
    share.remove("b");
    expect(share.contents()).toEqual(["a=more", "c="]);
    share.put("c", "again");
    expect(share.contents()).toEqual(["a=more", "c=again"]);
  });

  it("counts a name that was removed and comes back as a new one", () => {
    const share = aShare(1);
    for (const name of ["a", "b"]) share.put(name);
    share.remove("b");
    share.remove("a");
    for (const name of ["b", "a"]) share.put(name);
    expect(share.contents()).toEqual(["a=", "b=much"]);
  });
});
