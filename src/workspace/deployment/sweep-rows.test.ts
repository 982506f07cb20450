import { describe, expect, it } from "vitest";
import type { ApplicationId, WorkspaceId } from "../../domain/ids.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { IntentStore, KnownWorkspace } from "../../store/intent/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { UserResources } from "../port.ts";
import { aNamespace, aPolicy, aResource } from "../testing/builders.ts";
import { createRowIndex } from "./row-index.ts";
import { createPublicationSweep, createRowSweep, createWorkspaceSweep } from "./sweep-rows.ts";

const { signal } = new AbortController();
const partition = { isMine: () => true, onChange: () => () => undefined };
const numbers = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${index}`.padStart(6, "0"));

/** Applications, each in a namespace of its own, all recorded, and what the sweep of their rows reads and finds. */
function applications(count: number) {
  const names = numbers(count);
  const present = new Set(names);
  const withRow = new Set(names);
  const rows = createRowIndex();
  /** Generations in rows that are not those of their resources. */
  const recorded = new Map<string, number>();
  const resourceOf = (namespace: string) => aResource({ namespace, name: "app", uid: `uid-${namespace}` });
  const found: string[] = [];
  let read = 0;
  const intents: Pick<IntentStore, "listKnown"> = {
    async listKnown(_cluster, { limit, after }) {
      const page = [...withRow].filter((id) => id > after).slice(0, limit);
      read += page.length;
      return page.map((id) => ({
        ...{ applicationId: id as ApplicationId, uid: `uid-${id}`, namespace: id, name: "app", deletedAt: undefined },
        generation: recorded.get(id) ?? resourceOf(id).generation,
      }));
    },
  };
  const resources: Pick<UserResources, "deployment" | "deployments" | "readUid"> = {
    deployment: ({ namespace }) => (present.has(namespace) ? resourceOf(namespace) : undefined),
    deployments: () => [...present].map(resourceOf),
    readUid: async ({ namespace }) => (present.has(namespace) ? `uid-${namespace}` : undefined),
  };
  const sweep = createRowSweep(
    { apiCluster: "api", intents: intents as IntentStore, resources: resources as UserResources, rows, partition },
    (keys) => void found.push(...keys),
  );
  const run = async () => {
    found.length = 0;
    read = 0;
    await sweep.run(signal);
    return { read, found: [...found] };
  };
  /** Runs until something is found; resolves to how many it took. */
  const runsUntil = async (key: string): Promise<number> => {
    for (let runs = 1; runs < 100; runs += 1) if ((await run()).found.includes(key)) return runs;
    throw new Error(`${key} is never found`);
  };
  return { sweep, run, runsUntil, present, withRow, rows, recorded, resourceOf };
}

describe("comparing the rows of applications with resources", () => {
  it.each([2_600, 26_000])("reads all of %i rows at first, and then as many with each run as of any other number", async (count) => {
    const { run } = applications(count);
    expect(await run()).toEqual({ read: count, found: [] });
    expect(await run()).toEqual({ read: 2_500, found: [] });
  });

  it("finds what no event has shown within one pass: 26,000 rows are eleven runs", async () => {
    const { run, runsUntil, present, withRow } = applications(26_000);
    await run();
    present.delete("000001");
    present.delete("025999");
    expect(await runsUntil("api|000001|app")).toBe(1);
    expect(await runsUntil("api|025999|app")).toBe(10);
    withRow.delete("000002");
    expect(await runsUntil("api|000002|app")).toBe(11);
  });

  it("compares everything when it is asked to", async () => {
    const { sweep, run, present } = applications(6_000);
    await run();
    present.delete("005999");
    sweep.visitAll();
    expect(await run()).toEqual({ read: 6_000, found: ["api|005999|app"] });
    expect((await run()).read).toBe(2_500);
  });

  it("finds in a process that knows nothing yet what the rows do not hold, and nothing that they do", async () => {
    const { run, recorded, withRow, rows, resourceOf } = applications(1_000);
    recorded.set("000007", resourceOf("000007").generation - 1);
    withRow.delete("000009");
    expect((await run()).found).toEqual(["api|000007|app", "api|000009|app"]);
    // Recorded since, by this process: an older list says nothing against that.
    const { uid, generation, refreshedAt } = resourceOf("000007");
    rows.recorded("api|000007|app", { uid, applicationId: "000007" as ApplicationId, request: `${generation}/${refreshedAt}` });
    expect((await run()).found).toEqual(["api|000009|app"]);
  });

  it("forgets a row that two passes in a row have not listed", async () => {
    const { run, present, withRow, rows } = applications(10);
    await run();
    present.delete("000003");
    withRow.delete("000003");
    await run();
    expect(rows.hasRow("uid-000003")).toBe(true);
    await run();
    expect(rows.hasRow("uid-000003")).toBe(false);
  });
});

/** Workspaces whose namespaces were deleted without an event, of those that `gone` names. */
function workspaces(count: number, gone: ReadonlySet<string>) {
  const known = numbers(count).map(
    (id): KnownWorkspace => ({
      workspaceId: id as WorkspaceId,
      namespace: `ns-${id}`,
      namespaceUid: `uid-${id}`,
      state: "active",
      classes: [],
    }),
  );
  const ended: string[] = [];
  let read = 0;
  let breaks = 0;
  const counted = <T extends readonly unknown[]>(rows: T): T => {
    read += rows.length;
    return rows;
  };
  const intents: Pick<IntentStore, "listKnownWorkspaces" | "readKnownWorkspaces" | "recordWorkspaceEnds"> = {
    listKnownWorkspaces: async (_cluster, { limit, after }) =>
      counted(known.filter(({ workspaceId }) => workspaceId > after).slice(0, limit)),
    async readKnownWorkspaces(_cluster, namespaces) {
      breaks -= 1;
      if (breaks >= 0) throw new Error("no answer");
      return counted(known.filter(({ namespace }) => namespaces.includes(namespace)));
    },
    recordWorkspaceEnds: async (ids) => void ended.push(...ids),
  };
  const uidOf = (name: string): string | undefined => (gone.has(name) ? undefined : `uid-${name.slice(3)}`);
  const namespace = (name: string) => (gone.has(name) ? undefined : aNamespace({ name, uid: uidOf(name) ?? "" }));
  const resources = { namespace, readNamespaceUid: async (name: string) => uidOf(name) } as unknown as UserResources;
  const sweep = createWorkspaceSweep({
    ...{ apiCluster: "api", intents: intents as IntentStore, resources, rows: createRowIndex(), partition },
    ...{ policy: () => aPolicy(), clock: systemClock, log: silentLog },
  });
  const during = async (run: () => Promise<void>) => {
    [read, ended.length] = [0, 0];
    await run();
    return { read, ended: [...ended] };
  };
  return {
    sweep,
    run: () => during(() => sweep.run(signal)),
    visitChanged: () => during(() => sweep.visitChanged(signal)),
    breakOnce() {
      breaks = 1;
    },
  };
}

describe("comparing workspaces with namespaces", () => {
  it("reads a thousand with each run after the first, and ends those whose namespace is gone", async () => {
    const gone = new Set<string>();
    const { run } = workspaces(2_500, gone);
    expect(await run()).toEqual({ read: 2_500, ended: [] });
    gone.add("ns-002400");
    expect([await run(), await run(), await run()]).toEqual([
      { read: 1_000, ended: [] },
      { read: 1_000, ended: [] },
      { read: 500, ended: ["002400"] },
    ]);
  });

  it("reads those of namespaces that have changed and no others, once, and again when that failed", async () => {
    const gone = new Set(["ns-000007"]);
    const { sweep, visitChanged, breakOnce } = workspaces(2_500, gone);
    sweep.changed("ns-000007");
    sweep.changed("ns-000008");
    breakOnce();
    await expect(visitChanged()).rejects.toThrow("no answer");
    expect(await visitChanged()).toEqual({ read: 2, ended: ["000007"] });
    expect(await visitChanged()).toEqual({ read: 0, ended: [] });
  });
});

describe("announcing what users have not heard", () => {
  it("leaves alone whose first status is waited for, and announces all others, also those of rows that are not known here", async () => {
    const rows = createRowIndex();
    const ids = numbers(1_200) as readonly ApplicationId[];
    for (const id of ids.slice(0, -1)) rows.recorded(`api|${id}|app`, { uid: `uid-${id}`, applicationId: id });
    const intents: Pick<IntentStore, "listUnpublished"> = {
      listUnpublished: async (_cluster, { limit, after }) => ids.filter((id) => id > after).slice(0, limit),
    };
    const unpublished = new Set<ApplicationId>();
    const announced: string[] = [];
    const sweep = createPublicationSweep({
      ...{ apiCluster: "api", intents: intents as IntentStore, rows, partition, unpublished },
      resources: { deployment: () => aResource({}) },
      isAwaited: (key) => key === "api|000007|app" || key === "api|001198|app",
      announce: (id, when) => announced.push(`${id} ${when}`),
    });
    await sweep(signal);
    expect(announced).toEqual(ids.filter((id) => id !== "000007" && id !== "001198").map((id) => `${id} now`));
    expect([...unpublished]).toEqual(ids);
  });
});
