import { expect, it } from "vitest";
import { abandonable } from "./signals.ts";

it("leaves no failure unheard of what was abandoned before it began", async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  await expect(abandonable(Promise.reject(new Error("late")), AbortSignal.abort("enough"))).rejects.toBe("enough");
  await new Promise(setImmediate);
  process.off("unhandledRejection", hear);
  expect(unheard).toEqual([]);
});
