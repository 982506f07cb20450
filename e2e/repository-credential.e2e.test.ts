import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { callHarness } from "./harness-client.ts";
import {
  conditionOf,
  configMapFile,
  type DeploymentResource,
  findApplication,
  openWorkspace,
  openWorld,
  TYPES,
  until,
  type Workspace,
  type World,
} from "./world.ts";

type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };

const REPOSITORY = "vault/shop";
const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
const PASSWORDS = { first, second, third };

describe("a private repository", () => {
  let world: World;
  let owner: Workspace;
  const url = () => `${world.harness.privateGitUrl}/${REPOSITORY}.git`;

  const deploy = async ({ namespace }: Workspace, name: string, repoURL: string) => {
    const spec = { source: { repoURL, path: "app", targetRevision: "main" }, type: "automated" };
    const resource = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: "GitOpsDeployment", metadata: { name, namespace }, spec };
    await world.kube.apply(TYPES.deployment, resource, { fieldManager: "user" }, world.signal);
  };
  const putSecret = ({ namespace }: Workspace, name: string, data: Readonly<Record<string, string>>) =>
    world.kube.apply(
      TYPES.secret,
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace },
        type: "managed-gitops.redhat.com/repository-credential",
        data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
      } as KubeObject,
      { fieldManager: "user" },
      world.signal,
    );
  const putCredential = async ({ namespace }: Workspace, name: string, repository: string) => {
    const { kind } = TYPES.credential;
    const metadata = { name, namespace };
    const resource = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind, metadata, spec: { repository, secret: name } };
    await world.kube.apply(TYPES.credential, resource, { fieldManager: "user" }, world.signal);
  };
  const said = async ({ namespace }: Workspace, name: string): Promise<Readonly<Record<string, string>>> => {
    const found = await world.kube.get<DeploymentResource>(TYPES.credential, { namespace, name }, world.signal);
    return Object.fromEntries((found?.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status}/${reason ?? ""}`]));
  };
  const untilSaid = (workspace: Workspace, name: string, expected: Readonly<Record<string, string>>) =>
    until(
      `${name} say ${JSON.stringify(expected)}`,
      () => said(workspace, name),
      (conditions) => Object.entries(expected).every(([type, what]) => conditions[type] === what),
    );
  /** Repository Secrets of all instances for a URL, decoded. */
  const delivered = async (repoUrl: string) => {
    const page = await world.kube.listPage<SecretObject>(
      TYPES.secret,
      { labelSelector: "argocd.argoproj.io/secret-type in (repository,repo-creds)" },
      world.signal,
    );
    return page.items
      .map(({ data = {} }) => Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()])))
      .filter((fields) => fields["url"] === repoUrl);
  };
  const poke = (workspace: Workspace, name: string) => workspace.annotate(name, { "argosy.dev/refreshed-at": String(performance.now()) });
  const complaint = (resource: DeploymentResource | undefined) => {
    const said = conditionOf(resource, "ErrorOccurred") ?? conditionOf(resource, "ComparisonError");
    return said?.status === "True" ? (said.message ?? "") : "";
  };

  const VALID = {
    Ready: "True/RepositoryCredentialUpToDate",
    ErrorOccurred: "False/RepositoryCredentialUpToDate",
    ValidRepositoryURL: "True/ValidRepositoryUrl",
    ValidRepositoryCredential: "True/RepositoryCredentialUpToDate",
  };
  const INVALID = {
    Ready: "False/InvalidCredentials",
    ErrorOccurred: "True/InvalidCredentials",
    ValidRepositoryURL: "True/ValidRepositoryUrl",
    ValidRepositoryCredential: "False/InvalidCredentials",
  };

  beforeAll(async () => {
    world = openWorld();
    await callHarness(world.harness, "commitPrivate", {
      repository: REPOSITORY,
      files: { "app/a.json": configMapFile("from-vault", { at: "1" }) },
    });
    await callHarness(world.harness, "protect", { repository: REPOSITORY, username: "bot", password: PASSWORDS.first });
    owner = await openWorkspace(world, "vault-owner");
  });

  it("cannot be deployed without a credential, and the user reads that one is required", async () => {
    await deploy(owner, "shop", url());
    const resource = await until(
      "the refusal",
      () => owner.read("shop"),
      (seen) => complaint(seen) !== "",
    );
    expect(complaint(resource)).toMatch(/authentication required/i);
  });

  it("is not opened by a wrong password, which reaches no instance", async () => {
    await putSecret(owner, "shop-access", { username: "bot", password: "wrong" });
    await putCredential(owner, "shop-access", url());
    await untilSaid(owner, "shop-access", INVALID);
    expect(await delivered(url())).toEqual([]);
  });

  it("is deployed with the right one, which serves only the workspace's project", async () => {
    await putSecret(owner, "shop-access", { username: "bot", password: PASSWORDS.first });
    await untilSaid(owner, "shop-access", VALID);
    const [secret, ...others] = await delivered(url());
    expect(others).toEqual([]);
    expect(secret).toEqual({ type: "git", url: url(), project: expect.stringMatching(/^ws-/), username: "bot", password: PASSWORDS.first });
    await poke(owner, "shop");
    await owner.settled("shop");
    expect((await owner.configMap("from-vault"))?.data).toEqual({ at: "1" });
  });

  it("is not opened to another workspace that names it", async () => {
    const stranger = await openWorkspace(world, "vault-stranger");
    await deploy(stranger, "shop", url());
    const resource = await until(
      "the refusal",
      () => stranger.read("shop"),
      (seen) => complaint(seen) !== "",
    );
    expect(complaint(resource)).toMatch(/authentication required/i);
    expect(await stranger.configMap("from-vault")).toBeUndefined();
  });

  it("W2: is read with the new password once it is changed on both sides", async () => {
    await callHarness(world.harness, "protect", { repository: REPOSITORY, username: "bot", password: PASSWORDS.second });
    await putSecret(owner, "shop-access", { username: "bot", password: PASSWORDS.second });
    await until(
      "the new password on the instance",
      () => delivered(url()),
      (found) => found.length === 1 && found[0]?.["password"] === PASSWORDS.second,
    );
    await untilSaid(owner, "shop-access", VALID);
    await callHarness(world.harness, "commitPrivate", {
      repository: REPOSITORY,
      files: { "app/a.json": configMapFile("from-vault", { at: "2" }) },
    });
    await poke(owner, "shop");
    await until(
      "what the new password reads",
      () => owner.configMap("from-vault"),
      (seen) => seen?.data?.["at"] === "2",
    );
  });

  it("is closed to everybody once the credential becomes invalid, and the instance no longer holds it", async () => {
    await callHarness(world.harness, "protect", { repository: REPOSITORY, username: "bot", password: PASSWORDS.third });
    await world.kube.mergePatch(
      TYPES.credential,
      { namespace: owner.namespace, name: "shop-access" },
      { metadata: { annotations: { "argosy.dev/refreshed-at": "now" } } },
      world.signal,
    );
    await untilSaid(owner, "shop-access", INVALID);
    await until(
      "the revocation",
      () => delivered(url()),
      (found) => found.length === 0,
    );
    expect((await owner.configMap("from-vault"))?.data).toEqual({ at: "2" });
  });

  it("is reported by its deployment to require credentials again; the deployment keeps what it deployed and goes on with the next valid ones", async () => {
    await callHarness(world.harness, "commitPrivate", {
      repository: REPOSITORY,
      files: { "app/a.json": configMapFile("from-vault", { at: "3" }) },
    });
    await poke(owner, "shop");
    const resource = await until(
      "the refusal",
      () => owner.read("shop"),
      (seen) => conditionOf(seen, "ComparisonError")?.status === "True",
    );
    expect(conditionOf(resource, "ComparisonError")?.message).toMatch(/authentication required/i);
    expect(conditionOf(resource, "Ready")).toMatchObject({ status: "False", reason: "ComparisonError" });
    expect((await owner.configMap("from-vault"))?.data).toEqual({ at: "2" });

    await putSecret(owner, "shop-access", { username: "bot", password: PASSWORDS.third });
    await untilSaid(owner, "shop-access", VALID);
    await poke(owner, "shop");
    await until(
      "what the third password reads",
      () => owner.configMap("from-vault"),
      (seen) => seen?.data?.["at"] === "3",
    );
    const mended = await owner.settled("shop");
    expect(conditionOf(mended, "ComparisonError")?.status).toBe("False");

    const at = { namespace: owner.namespace, name: "shop-access" };
    await world.kube.delete(TYPES.credential, at, {}, world.signal);
    await until(
      "the revocation",
      () => delivered(url()),
      (found) => found.length === 0,
    );
    expect((await owner.configMap("from-vault"))?.data).toEqual({ at: "3" });
  });

  it("over SSH is deployed with a key, until its Secret is deleted", async () => {
    const repoUrl = `${world.harness.privateSshUrl}/${REPOSITORY}.git`;
    const sshPrivateKey = (await callHarness(world.harness, "issueSshKey", {})) as string;
    const workspace = await openWorkspace(world, "vault-ssh");
    await putSecret(workspace, "key", { sshPrivateKey });
    await putCredential(workspace, "key", repoUrl);
    await untilSaid(workspace, "key", VALID);
    await deploy(workspace, "shop", repoUrl);
    await workspace.settled("shop");
    expect((await workspace.configMap("from-vault"))?.data).toEqual({ at: "3" });
    await world.kube.delete(TYPES.secret, { namespace: workspace.namespace, name: "key" }, {}, world.signal);
    await untilSaid(workspace, "key", { Ready: "False/SecretNotFound", ErrorOccurred: "True/SecretNotFound" });
    await until(
      "the revocation",
      () => delivered(repoUrl),
      (found) => found.length === 0,
    );
  });
});

describe("a host where upper and lower case are different repositories", () => {
  type ApplicationObject = KubeObject & { readonly spec: { readonly source: { readonly repoURL: string } } };

  it("another spelling poisons origin: whoever comes later deploys all the same, and reads the address as it was written", async () => {
    const world = openWorld();
    const commit = (repository: string, from: string) => world.git.commit(repository, { "app/a.json": configMapFile("spelled", { from }) });
    await Promise.all([commit("spelling/shop", "the attacker"), commit("spelling/Shop", "the victim")]);
    await world.git.commit("spelling/own", { "app/a.json": configMapFile("own", {}) });
    const names = ["spelling-a", "spelling-b", "spelling-c"] as const;
    const placed = await Promise.all(
      names.map(async (name) => {
        const workspace = await openWorkspace(world, name);
        await workspace.apply("own", { repository: "spelling/own", path: "app" });
        await workspace.settled("own");
        const instance = (await findApplication(world, name, "own"))?.metadata.namespace;
        return { workspace, instance };
      }),
    );
    // With three workspaces on two instances, two of them share one.
    const [attacker, victim] = placed.flatMap((one, at) => {
      const other = placed.slice(at + 1).find(({ instance }) => instance === one.instance);
      return other === undefined ? [] : [one.workspace, other.workspace];
    });
    if (attacker === undefined || victim === undefined) throw new Error("no two workspaces share an instance");
    await attacker.apply("shop", { repository: "spelling/shop", path: "app" });
    await attacker.settled("shop");
    await victim.apply("shop", { repository: "spelling/Shop", path: "app" });
    const settled = await victim.settled("shop");
    expect((await victim.configMap("spelled"))?.data).toEqual({ from: "the victim" });
    expect((await attacker.configMap("spelled"))?.data).toEqual({ from: "the attacker" });
    expect(JSON.stringify(settled?.status)).toContain(`"repoURL":"${world.git.url("spelling/Shop")}"`);
    const given = async (who: Workspace) =>
      ((await findApplication(world, who.namespace, "shop")) as ApplicationObject).spec.source.repoURL;
    expect(await given(attacker)).toBe(world.git.url("spelling/shop"));
    expect(await given(victim)).toBe(world.git.url("spelling/Shop").replace(/:(?=\d+\/)/, ":0"));
  });
});
