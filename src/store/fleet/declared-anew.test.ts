import { expect, it } from "vitest";
import { declaredAnew } from "./declared-anew.ts";

it("a fleet that was declared in between is read again, by a code that stays", () => {
  expect(declaredAnew(7)).toMatchObject({ code: "store.fleet-stale", context: { revision: 7 } });
});
