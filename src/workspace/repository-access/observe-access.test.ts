import { beforeEach, describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import type { RepositoryAccess } from "../../domain/repository-access.ts";
import type { RepositoryCredential } from "../../domain/repository-credential.ts";
import type { AccessRecord, ConfirmedAccess, WorkspaceRepositories } from "../../store/repository-access/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { CredentialOutcome } from "../repository-credential/outcome.ts";
import type { RepositoryProbes, WantedProbe } from "../repository-credential/try-repositories.ts";
import { aPolicy } from "../testing/builders.ts";
import { PROVE_AGAIN_MS } from "./next-access.ts";
import { CONFIRMED, createAccessWork } from "./observe-access.ts";

const T0 = Date.UTC(2026, 0, 1);
const never = new AbortController().signal;
const URL = "https://git.example/team/a";
const CREDENTIAL = {
  ...{ id: "credential", workspaceId: "workspace", name: "access", uid: "uid", generation: 1, createdAt: "2026-01-01T00:00:00Z" },
  ...{ url: "https://git.example/Team/A.git", urlKey: "https://git.example/team/a", credentialId: "secret", secretVersion: "1" },
} as unknown as RepositoryCredential;

describe("proving what a workspace can read", () => {
  let now: Millis;
  let repositories: Map<string, RepositoryAccess | undefined>;
  let credentials: RepositoryCredential[];
  let asked: (WantedProbe & { readonly key: string })[];
  let answers: Map<string, { readonly stamp: string; readonly outcome: CredentialOutcome }>;
  let recorded: AccessRecord[];
  let isMine: boolean;
  let readings: number;
  let confirmed: (readonly ConfirmedAccess[])[];
  let announced: number;
  let access: ReturnType<typeof createAccessWork>;
  beforeEach(() => {
    [readings, confirmed, announced] = [0, [], 0];
    [now, repositories, credentials, asked, answers, recorded, isMine] = [
      millis(T0),
      new Map([[URL, undefined]]),
      [],
      [],
      new Map(),
      [],
      true,
    ];
    access = createWork();
  });

  const probes: Pick<RepositoryProbes, "ask" | "last" | "forget"> = {
    ask: (key, wanted) => asked.push({ ...wanted, key }),
    last: (key) => answers.get(key),
    forget: (key) => void answers.delete(key),
  };
  const found = (): WorkspaceRepositories => ({
    ...{ workspaceId: "workspace" as WorkspaceId, apiCluster: "api", namespace: "jane", credentials },
    repositories: [...repositories].map(([url, access]) => ({ url, access })),
  });
  const createWork = () =>
    createAccessWork({
      store: {
        async readRepositories() {
          readings += 1;
          return found();
        },
        listDue: async () => [],
        readOverdue: async () => ({ count: 0 }),
        async record(record) {
          recorded.push(record);
          repositories.set(record.url, { ...record.access, ordinal: 0 });
        },
        async confirm(some) {
          confirmed.push(some);
          for (const { url, at } of some)
            repositories.set(url, { ...(repositories.get(url) as RepositoryAccess), probedAt: at, provenAt: at });
        },
      },
      onConfirmed() {
        announced += 1;
      },
      credentials: { read: async () => '{"kind":"bearer","token":"t0ken"}' },
      ...{ probes, policy: () => aPolicy(), apiCluster: "api", log: silentLog },
      partition: { isMine: () => isMine },
      clock: { now: () => now, monotonicMs: () => now } as never,
    });
  const run = () => access.work("workspace", never);
  /** The last probe that was asked for ends. Returns the workspace that has to be worked on. */
  const end = (outcome: CredentialOutcome): WorkspaceId | undefined => {
    const last = asked.at(-1);
    if (last === undefined) throw new Error("nothing was asked");
    answers.set(last.key, { stamp: last.stamp, outcome });
    return access.ended(last.key);
  };
  const answer = (outcome: CredentialOutcome): void => expect(end(outcome)).toBe("workspace");

  it("probes once, as anybody, and records what it showed", async () => {
    await run();
    expect(asked).toMatchObject([{ address: { url: URL }, secret: undefined }]);
    answer("readable");
    expect(await run()).toEqual({ requeueAfterMs: PROVE_AGAIN_MS });
    expect(recorded).toMatchObject([{ url: URL, access: { state: "proven", credential: "", probedAt: T0 } }]);
    await run();
    expect(asked).toHaveLength(1);
    now = millis(T0 + PROVE_AGAIN_MS);
    await run();
    expect(asked).toHaveLength(2);
    // Nobody waits for the second.
    expect(asked.map(({ isRepeated }) => isRepeated)).toEqual([false, true]);
    expect(recorded).toHaveLength(1);
  });

  describe("that is proven", () => {
    const proven = (at: number): RepositoryAccess => ({
      ...{ state: "proven", outcome: "readable", credential: "", refusals: 0, refusedSince: undefined, ordinal: 0 },
      ...{ probedAt: millis(at), provenAt: millis(at) },
    });
    beforeEach(() => {
      repositories = new Map([[URL, proven(T0 - PROVE_AGAIN_MS)]]);
    });

    it("is confirmed by one reading of the workspace, and recorded with others", async () => {
      expect(await run()).toEqual({ requeueAfterMs: PROVE_AGAIN_MS });
      expect(end("readable")).toBeUndefined();
      expect([readings, recorded, confirmed, announced]).toEqual([1, [], [], 1]);
      // Before it is recorded it counts already.
      now = millis(T0 + 1_000);
      expect(await run()).toEqual({ requeueAfterMs: PROVE_AGAIN_MS - 1_000 });
      expect(asked).toHaveLength(1);
      expect(await access.work(CONFIRMED, never)).toEqual({});
      expect(confirmed).toEqual([[{ workspaceId: "workspace", url: URL, credential: "", at: T0 }]]);
      expect(await run()).toEqual({ requeueAfterMs: PROVE_AGAIN_MS - 1_000 });
      expect(await access.work(CONFIRMED, never)).toEqual({});
      expect(confirmed.at(-1)).toEqual([]);
    });

    it("is recorded in parts where there is much of it", async () => {
      repositories = new Map(Array.from({ length: 501 }, (_, index) => [`${URL}${index}`, proven(T0 - PROVE_AGAIN_MS)]));
      await run();
      for (const { key, stamp } of asked.slice()) {
        answers.set(key, { stamp, outcome: "readable" });
        access.ended(key);
      }
      expect(await access.work(CONFIRMED, never)).toEqual({ requeueAfterMs: 0 });
      expect(await access.work(CONFIRMED, never)).toEqual({});
      expect(confirmed.map(({ length }) => length)).toEqual([500, 1]);
    });

    it("is confirmed by .git at its end where the host sends everybody there", async () => {
      await run();
      expect(end("moved")).toBe("workspace");
      await run();
      expect(end("readable")).toBe("workspace");
      expect(await run()).toEqual({ requeueAfterMs: PROVE_AGAIN_MS });
      expect([recorded, announced]).toEqual([[], 1]);
    });

    it("is doubted where it is refused, and no longer only confirmed then", async () => {
      await run();
      expect(end("denied")).toBe("workspace");
      await run();
      expect(recorded).toMatchObject([{ access: { state: "proven", outcome: "denied", refusals: 1 } }]);
      now = millis(T0 + PROVE_AGAIN_MS);
      await run();
      expect(end("readable")).toBe("workspace");
      await run();
      expect(recorded.at(-1)).toMatchObject({ access: { outcome: "readable", refusals: 0 } });
      expect(announced).toBe(0);
    });

    it("is probed with another repository of the workspace when it is nearly due", async () => {
      const nearly = T0 - PROVE_AGAIN_MS * 0.95;
      repositories.set(`${URL}/early`, proven(T0 - PROVE_AGAIN_MS * 0.85));
      repositories.set(`${URL}/nearly`, proven(nearly));
      await run();
      expect(asked.map(({ address }) => address.url)).toEqual([URL, `${URL}/nearly`]);
    });

    it("is not confirmed by the probe of before, where another is under way", async () => {
      await run();
      const [first] = asked;
      repositories.set(URL, proven(T0 - PROVE_AGAIN_MS - 1));
      await run();
      expect(asked.map(({ key }) => key)).toEqual([first?.key, first?.key]);
      answers.set(first?.key ?? "", { stamp: first?.stamp ?? "", outcome: "readable" });
      expect(access.ended(first?.key ?? "")).toBe("workspace");
      expect(announced).toBe(0);
    });

    it("is what the probe was of, whatever has changed meanwhile", async () => {
      await run();
      credentials = [CREDENTIAL];
      await run();
      // The answer to the first comes first.
      const [first] = asked;
      answers.set(first?.key ?? "", { stamp: first?.stamp ?? "", outcome: "readable" });
      expect(access.ended(first?.key ?? "")).toBe("workspace");
      expect(confirmed).toEqual([]);
      expect(announced).toBe(0);
    });
  });

  it("probes with the credential that an instance would take, and at once with another", async () => {
    await run();
    answer("denied");
    await run();
    credentials = [CREDENTIAL];
    await run();
    expect(asked.map(({ secret }) => secret)).toEqual([undefined, { kind: "bearer", token: "t0ken" }]);
    answer("readable");
    await run();
    credentials = [{ ...CREDENTIAL, secretVersion: "2" }];
    await run();
    expect(asked).toHaveLength(3);
    credentials = [];
    await run();
    expect(asked).toHaveLength(4);
  });

  it("tries the address with .git where a host sends everybody elsewhere", async () => {
    for (const [second, state] of [
      ["readable", "proven"],
      ["not-found", "unproven"],
    ] as const) {
      repositories.set(URL, { state: "unproven", outcome: undefined, refusals: 0, credential: "", ordinal: 0 } as never);
      await run();
      answer("moved");
      await run();
      expect(asked.at(-1)?.address.url).toBe(`${URL}.git`);
      answer(second);
      await run();
      expect(recorded.at(-1)?.access).toMatchObject({ state, outcome: second === "readable" ? "readable" : "moved" });
    }
  });

  it("asks no host about a URL that has none, and records that", async () => {
    repositories = new Map([["ssh://git.example/no-user", { state: "unproven", refusals: 0, credential: "", ordinal: 0 } as never]]);
    await run();
    expect(asked).toEqual([]);
    expect(recorded).toMatchObject([{ access: { state: "unproven", outcome: "not-probed" } }]);
  });

  it("leaves what is another process's to it", async () => {
    isMine = false;
    expect(await run()).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
