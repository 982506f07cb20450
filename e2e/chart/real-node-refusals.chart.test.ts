import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { missingForRealNode } from "../../hack/dev-cluster/real-node/requirements.ts";
import { installObjects } from "../../src/cli/install/render.ts";
import { SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { migrate } from "../../src/store/adapters/postgres/migrate.ts";
import { migration, readMigrations } from "../../src/store/adapters/postgres/migration-files.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { until } from "../world.ts";
import { imageOfCheckout } from "./argosy-image.ts";
import { CHART, type ChartCluster, hostOf, imageValues, RELEASE, startChartCluster } from "./chart-cluster.ts";
import type { Ended } from "./run-program.ts";
import { type SomebodysDatabase, startDatabase, startOlder } from "./test-database.ts";

const { signal } = new AbortController();
const missing = missingForRealNode();
const found = missing === undefined ? await imageOfCheckout(signal) : { skip: `${missing.why}. ${missing.remedy}` };
if ("skip" in found) process.stdout.write(`chart: refusals on a real node are not tried: ${found.skip}\n`);

const NAMESPACED = [
  ...["deployments", "statefulsets", "services", "serviceaccounts", "secrets", "configmaps", "networkpolicies"],
  ...["poddisruptionbudgets", "roles", "rolebindings"],
];
const CLUSTER_SCOPED = [
  ...["namespaces", "customresourcedefinitions", "clusterroles", "clusterrolebindings"],
  ...["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
];
/** What stays of a pod that failed, for it says why; and what helm keeps of an attempt. The next attempt replaces both. */
const OF_THE_ATTEMPT = /(argosy-migrate|secret\/sh\.helm\.release\..*)$/;

/** A fleet in which nothing has to start. */
const NO_INSTANCES = ["--set", "fleet.pools[0].instances.min=0"];

const say = (text: string): void => void process.stdout.write(`chart: ${text}\n`);

describe.skipIf("skip" in found)("an installation that cannot work", () => {
  let cluster: ChartCluster;
  let values: string;
  let database: SomebodysDatabase;
  let before: readonly string[];
  beforeAll(async () => {
    if ("skip" in found) return;
    cluster = await startChartCluster({ nodes: 1, images: [found.image] }, signal);
    values = cluster.valuesFile("values", {
      ...{ image: imageValues(found.image), replicas: 1, postgresql: {} },
      database: { existingSecret: "argosy-database", requireVerifiedTls: false, waitSeconds: 0 },
      test: { waitSeconds: 5 },
    });
    database = await startDatabase(cluster, signal);
    await database.query("create database argosy");
    await putSecret({ url: database.url("argosy") });
    before = await everything();
  });
  afterAll(() => cluster?.stop());

  const putSecret = (stringData: Readonly<Record<string, string>>, name = "argosy-database") =>
    put({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: SYSTEM_NAMESPACE }, stringData });
  const put = (...items: readonly unknown[]) =>
    cluster.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const remove = (...what: readonly string[]) => cluster.kubectl(["delete", "--namespace", SYSTEM_NAMESPACE, ...what]);
  /** Names of all that an installation makes, or could. */
  const everything = async (): Promise<readonly string[]> => {
    const kinds = [...NAMESPACED, ...CLUSTER_SCOPED].join(",");
    const listed = await cluster.kubectl(["get", kinds, "--namespace", SYSTEM_NAMESPACE, "--output", "name"]);
    return listed
      .split("\n")
      .filter((name) => name !== "" && !OF_THE_ATTEMPT.test(name))
      .sort();
  };
  const install = (...more: readonly string[]): Promise<Ended> =>
    cluster.helm(["install", RELEASE, CHART, "--values", values, ...NO_INSTANCES, "--timeout", "2m", ...more]);
  /** Last line of what the migration's pod said, as its status has it: whoever waits says before what he waits for. */
  const statusOfMigration = async (): Promise<string> => {
    const path = "jsonpath={.items[0].status.containerStatuses[0].state.terminated.message}";
    const labels = ["--selector", "app.kubernetes.io/component=migrate"];
    const said = await cluster.kubectl(["get", "pods", "--namespace", SYSTEM_NAMESPACE, ...labels, "--output", path]);
    return said.trim().split("\n").at(-1) ?? "";
  };
  /** That an attempt fails with the sentence, and makes nothing. Returns what helm said. */
  const expectRefused = async (attempt: Promise<Ended>, sentence: string): Promise<string> => {
    const { code, err } = await attempt;
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(sentence) });
    expect(await everything()).toEqual(before);
    say(err.trim().replaceAll("\n", "\n       "));
    return err;
  };
  /** Runs helm, which has to succeed, and returns what it said. */
  const helm = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await cluster.helm(args);
    if (code === 0) return out;
    const pods = await cluster.kubectl(["get", "pods", "--namespace", SYSTEM_NAMESPACE, "--output", "wide"]);
    throw new Error(`helm ${args[0]}: ${err}\n${out}\n${pods}`);
  };
  const uninstall = () => cluster.helm(["uninstall", RELEASE, "--ignore-not-found"]);

  describe("for its Secrets", () => {
    it("names the one that is not there", async () => {
      const refused = install("--set", "database.existingSecret=not-here");
      await expectRefused(refused, "database.existingSecret: the namespace argosy-system has no Secret not-here: create it first");
    });

    it("names the key that one does not have", async () => {
      const refused = install("--set", "database.key=dsn");
      await expectRefused(refused, "database.existingSecret: the Secret argosy-database has no key dsn, it has url");
    });
  });

  describe("for its database", () => {
    const VERIFIED = ["--set", "database.requireVerifiedTls=true"];
    interface Refusal {
      readonly what: string;
      readonly url: (at: SomebodysDatabase) => string;
      readonly sentence: string;
      readonly more?: readonly string[];
    }
    const refusals: readonly Refusal[] = [
      {
        what: "a name that does not resolve, after a wait",
        url: () => "postgres://u:p@nowhere.argosy-system.svc.cluster.local/x",
        sentence: "connecting to the database (getaddrinfo ENOTFOUND nowhere.argosy-system.svc.cluster.local)",
        more: ["--set", "database.waitSeconds=2"],
      },
      {
        what: "an address where nothing listens",
        url: () => `postgres://u:p@${hostOf(cluster.git)}:5432/x`,
        sentence: "connecting to the database (connect ECONNREFUSED",
      },
      {
        what: "a password that is refused",
        url: (at) => at.url("argosy").replace(/:[^:@]+@/, ":geheim@"),
        sentence: "it refuses this user, password or database name. Correct DATABASE_URL",
      },
      {
        what: "a user who may not create tables",
        url: (at) => at.url("argosy").replace(/argosy:[^@]+@/, "guest:guest@"),
        sentence:
          "creating tables: this user may not. Let the owner of the tables run `argosy migrate`; in an empty database let an administrator grant create on schema public to it.",
      },
      {
        what: "an address that asks for no verified TLS",
        url: (at) => at.url("argosy").replace(/[?].*/, ""),
        sentence:
          "DATABASE_URL: has no sslmode, and database.requireVerifiedTls asks for a server whose certificate is verified. End it with",
        more: VERIFIED,
      },
      {
        what: "a server without TLS",
        // Nothing said of TLS means the same.
        url: (at) => at.url("argosy").replace(/[?].*/, ""),
        sentence: "it offers no TLS, and the address asks for it",
      },
      { what: "a newer Argosy's", url: (at) => at.url("newer"), sentence: "who works with it has to know migration 9001" },
    ];

    beforeAll(async () => {
      if ("skip" in found) return;
      await database.query("create role guest login password 'guest'");
      await database.query("create database newer");
      const migrations = [...(await readMigrations()), migration("9001-of-a-newer-argosy", "create table newer (id text)\n")];
      await migrate({ url: database.url("newer"), log: silentLog, signal, migrations });
    });
    // One that did not go as expected leaves the others their turn.
    afterEach(uninstall);
    afterAll(async () => {
      if (!("skip" in found)) await putSecret({ url: database.url("argosy") });
    });

    /** That an installation with this address fails with the sentence, which the pod's status has too; removed, it is as if it had not been tried. */
    const expectSaid = async (url: string, sentence: string, ...more: readonly string[]): Promise<void> => {
      await putSecret({ url });
      const err = await expectRefused(install(...more), sentence);
      const status = await statusOfMigration();
      expect(status).toContain(sentence);
      expect(err).toContain(status);
      expect(err).toContain("pod argosy-migrate failed");
      expect(`${err}${status}`).not.toMatch(/geheim|correct-horse/);
      expect(await uninstall()).toMatchObject({ code: 0 });
    };

    it.each(refusals)("says so of $what", async ({ url, sentence, more = [] }) => {
      await expectSaid(url(database), sentence, ...more);
    });

    it("says so of PostgreSQL 14", async () => {
      const older = await startOlder(database, { address: cluster.api.hostForPods, version: "140011" });
      try {
        const url = database.url("argosy").replace(database.host, cluster.api.hostForPods);
        await expectSaid(url, "database.url: using PostgreSQL 14. Use PostgreSQL 15 or newer.");
      } finally {
        await older.stop();
      }
    });
  });

  it("says that an Argosy is there which `argosy manifests` installed", async () => {
    const theirs = installObjects("api").filter(({ kind }) => kind === "ClusterRole");
    await put(...theirs);
    const { code, err } = await install();
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("this cluster has an Argosy that was not installed by helm") });
    await remove("clusterrole", ...theirs.map(({ metadata }) => metadata.name));
    expect(await everything()).toEqual(before);
  });

  describe("for its namespace", () => {
    afterEach(() => remove("resourcequotas,limitranges", "--all"));
    const quota = (name: string, hard: Readonly<Record<string, string>>) => ({
      ...{ apiVersion: "v1", kind: "ResourceQuota", metadata: { name, namespace: SYSTEM_NAMESPACE }, spec: { hard } },
    });

    it("says that a quota has no room for its pods", async () => {
      await put(quota("no-pods", { pods: "0" }));
      await expectRefused(install(), "the ResourceQuota no-pods of the namespace argosy-system has room for 0 pods (pods: 0)");
    });

    it("says that a container may not have the memory that it needs", async () => {
      const spec = { limits: [{ type: "Container", max: { memory: "1Gi" } }] };
      await put({ apiVersion: "v1", kind: "LimitRange", metadata: { name: "small", namespace: SYSTEM_NAMESPACE }, spec });
      const sentence =
        "the LimitRange small of the namespace argosy-system allows a container 1Gi of memory at most, and workloads.workspace";
      await expectRefused(install(), sentence);
    });

    it("shows what the API server says of anything else that forbids a pod", async () => {
      await put(quota("processors", { "limits.cpu": "4" }));
      await until(
        "the quota in force",
        () => cluster.kubectl(["get", "resourcequota", "processors", "--namespace", SYSTEM_NAMESPACE, "-o", "jsonpath={.status.hard}"]),
        (hard) => hard.includes("limits.cpu"),
        60_000,
      );
      await expectRefused(install(), 'pods "argosy-migrate" is forbidden: failed quota: processors: must specify limits.cpu for: migrate');
    });
  });

  it("works when it is repeated over a failed one and nothing is in its way any more, and mends rights that are taken away", async () => {
    // The last attempt is still in helm's list.
    const again = ["upgrade", "--install", RELEASE, CHART, "--values", values, ...NO_INSTANCES, "--wait", "--timeout", "5m"];
    expect((await helm("list", "--all", "--short")).trim()).toBe(RELEASE);
    await helm(...again, "--set", "database.waitSeconds=60");

    // From the first test that passes on nothing is missing that only takes time.
    await until(
      "every check passed",
      () => cluster.helm(["test", RELEASE, "--timeout", "2m"]),
      ({ code }) => code === 0,
      3 * 60_000,
    );

    await cluster.kubectl(["delete", "clusterrolebinding", "argosy-reconciler"]);
    const test = await cluster.helm(["test", RELEASE, "--logs", "--timeout", "2m"]);
    expect(test).toMatchObject({ code: 1, err: expect.stringContaining("pod argosy-doctor failed") });
    const words = test.out.replaceAll(/\s+/g, " ");
    expect(words).toContain("missing for system:serviceaccount:argosy-system:argosy-reconciler (role reconciler):");
    expect(words).toContain("rolebindings.rbac.authorization.k8s.io");
    expect(words).toContain("helm upgrade");

    await helm(...again, "--set", "test.waitSeconds=120");
    expect(await helm("test", RELEASE, "--logs", "--timeout", "3m")).toMatch(/all \d+ checks passed/);
  });

  it("says that the cluster has another release, wherever it is tried", async () => {
    const other = ["install", "other", CHART, "--values", values, ...NO_INSTANCES];
    const sentence = "this cluster has Argosy as the release argosy, and there can be one only";
    const there = await everything();
    expect(await cluster.helm(other)).toMatchObject({ code: 1, err: expect.stringContaining(sentence) });
    await cluster.kubectl(["create", "namespace", "elsewhere"]);
    expect(await cluster.helm([...other, "--namespace", "elsewhere"])).toMatchObject({
      ...{ code: 1, err: expect.stringContaining("Argosy is installed in the namespace argosy-system and no other") },
    });
    expect((await everything()).filter((name) => name !== "namespace/elsewhere")).toEqual(there);
    await helm("uninstall", RELEASE, "--wait");
    // The users' kinds and the keys are still those of that release.
    expect(await cluster.helm(other)).toMatchObject({ code: 1, err: expect.stringContaining("install it under this name again") });
  });
});
