import { describe, expect, test } from "vitest";
import { createVirtualClock } from "../../../runtime/testing/virtual-clock.ts";
import type { ObjectChange, ObservedObject } from "../../../shard/managed-object.ts";
import { parseObject } from "../../../shard/parse-object.ts";
import { createOwnWrites } from "./own-writes.ts";

const AT = { namespace: "argocd-1", name: "a" };

function version(resourceVersion: string, uid = "u"): ObservedObject {
  const observed = parseObject("project", { metadata: { ...AT, uid, resourceVersion } });
  if (observed === undefined) throw new Error("unreadable");
  return observed;
}

/** Own writes over a watch that shows what the test says. */
function aWatch() {
  const clock = createVirtualClock();
  const delivered: string[] = [];
  const own = createOwnWrites<ObservedObject>({
    clock,
    deliver: (change) => delivered.push(change.kind === "delete" ? "deleted" : change.now.resourceVersion),
  });
  let shown: ObservedObject | undefined;
  const see = (now: ObservedObject): void => {
    const change: ObjectChange<ObservedObject> = { kind: "upsert", at: AT, now, before: shown };
    shown = now;
    own.seen(change);
  };
  const end = (before: ObservedObject): void => {
    shown = undefined;
    own.seen({ kind: "delete", at: AT, before });
  };
  const write = (run: () => Promise<ObservedObject>) => own.write(AT, () => shown, run);
  return { clock, own, delivered, see, end, write };
}

describe("what we wrote ourselves", () => {
  test("is seen at once and its echo is no change, whether it comes after the answer", async () => {
    const { own, delivered, see, write } = aWatch();
    await write(async () => version("5"));
    expect(own.get(AT)?.resourceVersion).toBe("5");
    see(version("5"));
    expect(delivered).toEqual([]);
    expect(own.get(AT)).toBeUndefined();
  });

  test("or before it", async () => {
    const { own, delivered, see, write } = aWatch();
    await write(async () => {
      see(version("5"));
      return version("5");
    });
    expect(delivered).toEqual([]);
    expect(own.get(AT)).toBeUndefined();
  });

  test("hides nothing that others did meanwhile", async () => {
    const { own, delivered, see, end, write } = aWatch();
    await write(async () => {
      see(version("5"));
      see(version("6"));
      return version("5");
    });
    expect(delivered).toEqual(["6"]);
    await write(async () => version("7"));
    see(version("8"));
    expect(own.get(AT)).toBeUndefined();
    end(version("8"));
    expect(delivered).toEqual(["6", "8", "deleted"]);
  });

  test("stays while the watch shows what was before it", async () => {
    const { own, see, end, write } = aWatch();
    await write(async () => version("5"));
    see(version("4"));
    end(version("4", "the one before"));
    expect(own.get(AT)?.resourceVersion).toBe("5");
    end(version("5"));
    expect(own.get(AT)).toBeUndefined();
  });

  test("is not believed where the object's end is seen before the answer", async () => {
    const { own, delivered, see, end, write } = aWatch();
    see(version("4"));
    await write(async () => {
      see(version("5"));
      end(version("5"));
      return version("5");
    });
    expect(own.get(AT)).toBeUndefined();
    expect(delivered).toEqual(["4", "deleted"]);
    await write(async () => {
      see(version("6", "another"));
      end(version("6", "another"));
      return version("7", "the next");
    });
    expect(own.get(AT)?.resourceVersion).toBe("7");
  });

  test("holds changes back until the last of two writes has ended", async () => {
    const { delivered, see, write } = aWatch();
    const gate = Promise.withResolvers<void>();
    const slow = write(async () => {
      await gate.promise;
      return version("6");
    });
    await write(async () => version("5"));
    see(version("6"));
    expect(delivered).toEqual([]);
    gate.resolve();
    await slow;
    expect(delivered).toEqual([]);
  });

  test("that failed lets everything through", async () => {
    const { own, delivered, see, write } = aWatch();
    await expect(
      write(async () => {
        see(version("5"));
        throw new Error("lost");
      }),
    ).rejects.toThrow("lost");
    expect(delivered).toEqual(["5"]);
    expect(own.get(AT)).toBeUndefined();
  });

  test("is believed for a while only, in case the watch never shows it", async () => {
    const { clock, own, write } = aWatch();
    await write(async () => version("5"));
    await clock.advance(31_000);
    expect(own.get(AT)).toBeUndefined();
    await write(async () => version("6"));
    own.forget(AT);
    expect(own.get(AT)).toBeUndefined();
  });
});
