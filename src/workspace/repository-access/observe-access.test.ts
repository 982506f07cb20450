import { beforeEach, describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import type { RepositoryAccess } from "../../domain/repository-access.ts";
import type { RepositoryCredential } from "../../domain/repository-credential.ts";
import type { AccessRecord, WorkspaceRepositories } from "../../store/repository-access/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { CredentialOutcome } from "../repository-credential/outcome.ts";
import type { RepositoryProbes, WantedProbe } from "../repository-credential/try-repositories.ts";
import { aPolicy } from "../testing/builders.ts";
import { PROVE_AGAIN_MS } from "./next-access.ts";
import { createAccessWork } from "./observe-access.ts";

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
  beforeEach(() => {
    [now, repositories, credentials, asked, answers, recorded, isMine] = [
      millis(T0),
      new Map([[URL, undefined]]),
      [],
      [],
      new Map(),
      [],
      true,
    ];
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
  const access = createAccessWork({
    store: {
      readRepositories: async () => found(),
      listDue: async () => [],
      readOverdue: async () => ({ count: 0 }),
      async record(record) {
        recorded.push(record);
        repositories.set(record.url, { ...record.access, ordinal: 0 });
      },
    },
    credentials: { read: async () => '{"kind":"bearer","token":"t0ken"}' },
    ...{ probes, policy: () => aPolicy(), apiCluster: "api", log: silentLog },
    partition: { isMine: () => isMine },
    clock: { now: () => now, monotonicMs: () => now } as never,
  });
  const run = () => access.work("workspace", never);
  /** The last probe that was asked for ends. */
  const answer = (outcome: CredentialOutcome): void => {
    const last = asked.at(-1);
    if (last === undefined) throw new Error("nothing was asked");
    expect(access.workspaceOf(last.key)).toBe("workspace");
    answers.set(last.key, { stamp: last.stamp, outcome });
  };

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
