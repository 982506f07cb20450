import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { UNPROVEN } from "../../domain/repository-access.ts";
import { aSpec } from "../../store/testing/builders.ts";
import { createWorld, soon } from "../../store/testing/world.ts";
import { eventually } from "../testing/world.ts";
import type { CredentialOutcome } from "./outcome.ts";
import { startWorld, URL, type World } from "./testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const BASIC = { username: "bot", password: "first" };
const isSaid = (name: string, ...expected: readonly string[]) =>
  eventually(`${name} says ${expected.join(" ")}`, async () => {
    const conditions = await world.saidOf(name);
    return expected.every((each) => conditions.includes(each));
  });
const uidOf = async (name: string) => (await world.readCredential(name))?.metadata.uid ?? "";
const names = async () => (await world.recorded()).map(({ credential }) => credential.name).sort();
const passwordOf = async (name: string): Promise<unknown> =>
  (JSON.parse((await world.secretOf(await uidOf(name))) ?? "{}") as { password?: unknown }).password;

const VALID = [
  "ErrorOccurred=False/RepositoryCredentialUpToDate",
  "ValidRepositoryCredential=True/RepositoryCredentialUpToDate",
  "ValidRepositoryURL=True/ValidRepositoryUrl",
];
const INVALID = [
  "ErrorOccurred=True/InvalidCredentials",
  "ValidRepositoryCredential=False/InvalidCredentials",
  "ValidRepositoryURL=True/ValidRepositoryUrl",
];

async function aValidOne(name = "guestbook"): Promise<void> {
  await world.putSecret("access", BASIC);
  await world.putCredential(name);
  world.startCredentialController();
  await isSaid(name, ...VALID);
}

describe("a repository credential", () => {
  it("that works is recorded with its secret, and said to be valid in the old words", async () => {
    await aValidOne();
    expect(await passwordOf("guestbook")).toBe("first");
    const { status, metadata } = (await world.readCredential("guestbook")) ?? {};
    expect(status?.observedGeneration).toBe(metadata?.generation);
    expect(status?.conditions?.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        "RepositoryCredentials are Valid",
        `Repository ${URL} exists`,
        `Repository Credentials provided access for Repository ${URL} are valid`,
      ]),
    );
    expect(await world.saidOf("guestbook")).toContain("Ready=False/WaitingForCapacity");
  });

  it("is Ready once the instance that holds its workspace has it", async () => {
    await world.apply("app");
    world.startController();
    await eventually("the deployment is recorded", async () => (await world.row("app")) !== undefined);
    await world.answer("app");
    await aValidOne();
    await isSaid("guestbook", "Ready=False/Reconciling");
    const unit = (await world.row("app"))?.application.unitId ?? ("" as never);
    const row = await world.store.shards.readUnit(unit, world.signal);
    const at = { subject: unit, instanceId: row?.unit.owner ?? ("" as never), epoch: row?.unit.epoch ?? 0, uid: "u", hash: "h" };
    const appliedRevision = row?.unit.desiredRevision ?? 0;
    await world.store.shards.acknowledge(
      (["account", "owner-binding", "project"] as const).map((kind) => ({ ...at, kind, appliedRevision })),
      world.signal,
    );
    await isSaid("guestbook", "Ready=True/RepositoryCredentialUpToDate");
  });

  it("that is refused is not recorded, and says so in the old words", async () => {
    world.answerWith(() => "denied");
    await world.putSecret("access", BASIC);
    await world.putCredential("guestbook");
    world.startCredentialController();
    await isSaid("guestbook", ...INVALID, "Ready=False/InvalidCredentials", "Stalled=True/InvalidCredentials");
    expect(await world.recorded()).toEqual([]);
  });

  it("W2: follows its Secret from one valid content to the next", async () => {
    await aValidOne();
    await world.putSecret("access", { ...BASIC, password: "second" });
    await eventually("the second is recorded", async () => (await passwordOf("guestbook")) === "second");
    await isSaid("guestbook", ...VALID);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ["its Secret goes", () => world.removeSecret("access"), "ErrorOccurred=True/SecretNotFound"],
    [
      "its Secret says nothing of use any more",
      () => world.putSecret("access", { username: "bot", password: "" }),
      "ErrorOccurred=True/SecretIncomplete",
    ],
    [
      "it names another Secret that is not there",
      () => world.putCredential("guestbook", { secret: "other" }),
      "ErrorOccurred=True/SecretNotFound",
    ],
    [
      "it is for an address inside now",
      () => world.putCredential("guestbook", { repository: "https://127.0.0.1/a" }),
      "ErrorOccurred=True/InvalidRepositoryUrl",
    ],
  ])("is taken out of use when %s", async (_, change, said) => {
    await aValidOne();
    await change();
    await eventually("it is revoked", async () => (await world.recorded()).length === 0);
    await isSaid("guestbook", said);
  });

  it.each<[CredentialOutcome, readonly string[]]>([
    ["denied", INVALID],
    ["not-found", ["ErrorOccurred=True/InvalidRepositoryUrl", "ValidRepositoryURL=False/InvalidRepositoryUrl"]],
    ["moved", ["ErrorOccurred=True/InvalidRepositoryUrl"]],
    ["not-allowed", ["ErrorOccurred=True/InvalidRepositoryUrl"]],
  ])("W7: is taken out of use when another probe shows that it is %s", async (outcome, said) => {
    await aValidOne();
    world.answerWith(() => outcome);
    await world.putCredential("guestbook", { annotations: { "argosy.dev/refreshed-at": "now" } });
    await eventually("it is revoked", async () => (await world.recorded()).length === 0);
    await isSaid("guestbook", ...said);
  });

  it.each<[CredentialOutcome, string]>([
    ["unreachable", "RepositoryUnreachable"],
    ["unknown-identity", "RepositoryIdentityUnknown"],
    ["failed", "ValidationFailed"],
  ])("W7: stays in use, and is not called invalid, when a probe ends %s", async (outcome, reason) => {
    await aValidOne();
    world.answerWith(() => outcome);
    await world.putSecret("access", { ...BASIC, password: "second" });
    await isSaid(
      "guestbook",
      `ErrorOccurred=True/${reason}`,
      `ValidRepositoryCredential=Unknown/${reason}`,
      `ValidRepositoryURL=Unknown/${reason}`,
    );
    expect(await passwordOf("guestbook")).toBe("first");
  });

  it.each([
    ["SecretNotFound", undefined],
    ["SecretInvalidType", "Opaque"],
    ["SecretInvalidType", "managed-gitops.redhat.com/managed-environment"],
  ])("says %s without a probe (%s)", async (reason, type) => {
    if (type !== undefined) await world.putSecret("access", BASIC, { type });
    await world.putCredential("guestbook");
    world.startCredentialController();
    await isSaid(
      "guestbook",
      ...["ErrorOccurred=True", "ValidRepositoryCredential=False", "ValidRepositoryURL=False", "Ready=False"].map(
        (each) => `${each}/${reason}`,
      ),
    );
    expect(world.observations()).toEqual([]);
  });

  it("says what became of a Secret that was made after it, whatever its type, and goes on with the right one", async () => {
    await world.putCredential("guestbook");
    world.startCredentialController();
    await isSaid("guestbook", "ErrorOccurred=True/SecretNotFound");
    await world.putSecret("access", BASIC, { type: "Opaque" });
    await isSaid("guestbook", "ErrorOccurred=True/SecretInvalidType");
    await world.removeSecret("access");
    await isSaid("guestbook", "ErrorOccurred=True/SecretNotFound");
    await world.putSecret("access", BASIC);
    await isSaid("guestbook", "ErrorOccurred=False/RepositoryCredentialUpToDate");
  });

  it("says so when it names no Secret", async () => {
    await world.putCredential("guestbook", { secret: " " });
    world.startCredentialController();
    await isSaid("guestbook", "ErrorOccurred=True/SecretNotSpecified");
  });

  it.each([".", "..", "../../../bob/secrets/access", "a/b", "Access"])("never has the Secret '%s' asked for", async (secret) => {
    await world.putCredential("guestbook", { secret });
    world.startCredentialController();
    await isSaid("guestbook", "ErrorOccurred=True/SecretNotFound");
    expect(world.server.requests().filter(({ method, url }) => method === "GET" && /\/secrets\//.test(url))).toEqual([]);
  });

  it("goes with its resource, also when that happens while nobody watches", async () => {
    await aValidOne();
    await world.removeCredential("guestbook");
    await eventually("it is revoked", async () => (await world.recorded()).length === 0);
  });

  it("gives way to the older one for the same repository, says so, and takes over when that goes", async () => {
    await world.putSecret("access", BASIC);
    await world.putCredential("first");
    world.startCredentialController();
    await isSaid("first", ...VALID);
    await world.putCredential("second", { repository: `${URL}.git` });
    const [older, younger] = await orderOf("first", "second");
    await isSaid(
      younger,
      "Ready=False/DuplicateRepository",
      "ErrorOccurred=True/DuplicateRepository",
      "ValidRepositoryCredential=True/RepositoryCredentialUpToDate",
    );
    const message = (await world.readCredential(younger))?.status?.conditions?.find(({ type }) => type === "Ready")?.["message"];
    expect(message).toContain(older);
    expect(await names()).toEqual(["first", "second"]);
    await world.removeCredential(older);
    await isSaid(younger, ...VALID);
  });

  it("that is paused is left as it is", async () => {
    await aValidOne();
    world.answerWith(() => "denied");
    await world.putCredential("guestbook", { annotations: { "argosy.dev/paused": "true", "argosy.dev/refreshed-at": "now" } });
    await isSaid("guestbook", "Paused=True/Paused", ...VALID);
    expect(await names()).toEqual(["guestbook"]);
  });

  it("in a namespace that is no workspace is nobody's", async () => {
    await world.namespace("kube-public");
    await world.putSecret("access", BASIC, { namespace: "kube-public" });
    await world.putCredential("guestbook", { namespace: "kube-public" });
    await aValidOne();
    expect(await world.saidOf("guestbook", "kube-public")).toEqual([]);
    expect(world.observations()).toHaveLength(1);
  });

  it("is probed within what the fleet declares, and again when that changes", async () => {
    await world.putSecret("access", BASIC);
    await world.putCredential("guestbook", { repository: "https://10.1.2.3/a" });
    world.startCredentialController();
    await isSaid("guestbook", "ErrorOccurred=True/InvalidRepositoryUrl");
    await world.applyFleet({ egress: { allow: ["10.1.0.0/16"], http: [] } });
    await isSaid("guestbook", ...VALID);
    expect(world.observations().map(({ egress }) => egress)).toEqual([{ allow: ["10.1.0.0/16"], http: [] }]);
  });

  it("is probed once, not again by every process that starts", async () => {
    await aValidOne();
    world.startCredentialController();
    await world.putCredential("late", { repository: "https://git.example/late" });
    await isSaid("late", ...VALID);
    expect(world.observations().filter(({ url }) => url === URL)).toHaveLength(1);
  });
});

describe("a host that does not answer", () => {
  it("delays neither another workspace's credentials, nor what needs no probe, nor more than two probes of its own at once", async () => {
    let release = (): void => undefined;
    const held = new Promise<CredentialOutcome>((resolve) => {
      release = () => resolve("unreachable");
    });
    world.answerWith(({ url }) => (url.includes("silent") ? held : "readable"));
    await world.namespace("other");
    await world.putSecret("access", BASIC);
    await world.putSecret("access", BASIC, { namespace: "other" });
    for (let index = 0; index < 12; index += 1)
      await world.putCredential(`silent-${index}`, { repository: `https://silent.example/${index}` });
    world.startCredentialController();
    await eventually("two probes hang", () => world.observations().length === 2);
    await world.putCredential("broken", { secret: "nowhere" });
    await world.putCredential("fine", { namespace: "other" });
    await isSaid("broken", "ErrorOccurred=True/SecretNotFound");
    await eventually("the other workspace's is valid", async () => (await world.saidOf("fine", "other")).includes(VALID[0] ?? ""));
    expect(world.observations().filter(({ url }) => url.includes("silent"))).toHaveLength(2);
    world.answerWith(() => "readable");
    release();
  });
});

/** By age, then uid: resources made within one second are of one age. */
async function orderOf(...both: readonly string[]): Promise<readonly [string, string]> {
  const found = await Promise.all(both.map(async (name) => ({ name, metadata: (await world.readCredential(name))?.metadata })));
  const key = ({ metadata }: (typeof found)[number]): string => `${metadata?.creationTimestamp} ${metadata?.uid}`;
  const [older, younger] = found.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map(({ name }) => name);
  return [older ?? "", younger ?? ""];
}

describe("access that was proven long ago", () => {
  it("is probed again, and recorded when it is confirmed", async () => {
    const before = millis(Date.now() - 2 * 60 * 60_000);
    const workspace = {
      plane: "kubernetes",
      apiCluster: "api",
      namespace: "jane",
      namespaceUid: "uid-of-jane",
      trustClass: "public",
    } as const;
    const deployed = await createWorld(world.store).deploy({ workspace, spec: aSpec({ repoUrl: URL }), provesAccess: true });
    const { workspaceId } = deployed;
    const access = { ...UNPROVEN, state: "proven", outcome: "readable", probedAt: before, provenAt: before } as const;
    await world.store.repositoryAccess.record({ workspaceId, url: URL, access }, soon());
    world.startCredentialController();
    await eventually("it is recorded as probed now", async () => {
      const [found] = (await world.store.repositoryAccess.readRepositories(workspaceId, soon()))?.repositories ?? [];
      return (found?.access?.probedAt ?? 0) > before;
    });
    expect(world.observations().map(({ url }) => url)).toEqual([URL]);
  });
});
