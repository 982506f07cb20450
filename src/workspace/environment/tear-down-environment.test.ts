import { expect, it } from "vitest";
import type { Environment } from "../../domain/environment.ts";
import type { EnvironmentEnd } from "../../store/environment/port.ts";
import { createTeardown } from "./tear-down-environment.ts";
import { createVisitPace } from "./visit-pace.ts";

const never = new AbortController().signal;
const KEY = "api/jane/prod";

function aWorld(end: EnvironmentEnd) {
  const visited: string[] = [];
  const ends = createTeardown({
    environments: {
      recordEnd: async () => end,
      read: async (uid: string) => ({ uid }) as Environment,
    } as unknown as Parameters<typeof createTeardown>[0]["environments"],
    isNamespaceGoing: () => false,
    resources: { readUid: async () => undefined },
    removeAccount: async ({ uid }) => visited.push(uid) === 0,
    pace: createVisitPace(),
  });
  return { ends, visited };
}

it("visits one cluster a run, and each in its turn, of a name that was made again and again at clusters that never answer", async () => {
  const { ends, visited } = aWorld("account-left");
  for (const uid of ["a", "b", "c"]) ends.saw(KEY, uid);
  const delays: (number | undefined)[] = [];
  for (let run = 0; run < 6; run += 1) delays.push(await ends.settle(KEY, undefined, never));
  expect(visited).toEqual(["a", "b", "c", "a", "b", "c"]);
  expect(delays).toEqual([2_000, 2_000, 2_000, 4_000, 4_000, 4_000]);
});

it("forgets what is gone, and soon reads again what is still in use, less often the longer that is", async () => {
  const inUse = aWorld("in-use").ends;
  inUse.saw(KEY, "a");
  expect([await inUse.settle(KEY, undefined, never), await inUse.settle(KEY, undefined, never)]).toEqual([2_000, 4_000]);
  const gone = aWorld("gone").ends;
  gone.saw(KEY, "a");
  expect(await gone.settle(KEY, undefined, never)).toBeUndefined();
});
