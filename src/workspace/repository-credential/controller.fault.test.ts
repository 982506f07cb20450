import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UnavailableError } from "../../domain/errors.ts";
import { behindOnNamespaces, namespaceUid } from "../testing/behind.ts";
import { eventually } from "../testing/world.ts";
import { startWorld, type World } from "./testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

type Mode = "fails once" | "loses its reply once";
const CALLS: ReadonlySet<string> = new Set(["record", "revoke", "listOfWorkspace", "listKnown", "read", "readUid", "patchStatus"]);

/** Breaks the next call of one name. */
function breaking(wanted: string, mode: Mode) {
  let isArmed = false;
  let isBroken = false;
  const wrap = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function" || !CALLS.has(String(name))) return member;
        return async (...args: unknown[]): Promise<unknown> => {
          const isHit = isArmed && !isBroken && name === wanted;
          if (isHit) isBroken = true;
          if (isHit && mode === "fails once") throw new UnavailableError(`calling ${wanted}`, { code: "test.fault" });
          const answer: unknown = await Reflect.apply(member, target, args);
          if (isHit) throw new UnavailableError(`calling ${wanted}`, { code: "test.fault" });
          return answer;
        };
      },
    });
  return {
    wrap,
    isBroken: () => isBroken,
    arm: () => {
      isArmed = true;
    },
  };
}

const says = (statement: string) => async () => (await world.saidOf("guestbook")).includes(statement);
const passwords = async (): Promise<readonly string[]> => {
  const views = await world.recorded();
  const secrets = await Promise.all(views.map(({ credential }) => world.secretOf(credential.uid)));
  return secrets.map((text) => (JSON.parse(text ?? "{}") as { readonly password: string }).password);
};

describe.each<Mode>(["fails once", "loses its reply once"])("a credential converges when a call %s", (mode) => {
  it.each(["record", "listOfWorkspace", "read", "patchStatus"])("%s, while it comes and changes", async (name) => {
    const fault = breaking(name, mode);
    await world.putSecret("access", { username: "bot", password: "first" });
    await world.putCredential("guestbook");
    fault.arm();
    world.startCredentialController(undefined, fault.wrap);
    await eventually("it is valid", says("ValidRepositoryCredential=True/RepositoryCredentialUpToDate"));
    expect(fault.isBroken()).toBe(true);
    expect(await passwords()).toEqual(["first"]);
    await world.putSecret("access", { username: "bot", password: "second" });
    await eventually("the second is recorded", async () => (await passwords()).join() === "second");
  });

  it.each(["revoke", "listOfWorkspace", "read", "patchStatus"])("%s, while its Secret goes", async (name) => {
    const fault = breaking(name, mode);
    await world.putSecret("access", { username: "bot", password: "first" });
    await world.putCredential("guestbook");
    world.startCredentialController(undefined, fault.wrap);
    await eventually("it is valid", says("ValidRepositoryCredential=True/RepositoryCredentialUpToDate"));
    fault.arm();
    await world.removeSecret("access");
    await eventually("it says so", says("ErrorOccurred=True/SecretNotFound"));
    expect(fault.isBroken()).toBe(true);
    expect(await world.recorded()).toEqual([]);
  });

  it.each(["revoke", "listOfWorkspace", "readUid"])("%s, while its resource goes", async (name) => {
    const fault = breaking(name, mode);
    await world.putSecret("access", { username: "bot", password: "first" });
    await world.putCredential("guestbook");
    world.startCredentialController(undefined, fault.wrap);
    await eventually("it is recorded", async () => (await world.recorded()).length === 1);
    fault.arm();
    await world.removeCredential("guestbook");
    await eventually("it is revoked", async () => (await world.recorded()).length === 0);
    await eventually("the call was made", fault.isBroken);
  });
});

it("of a namespace that was made anew is recorded for that one, though its controller has not heard of it yet", async () => {
  await world.putSecret("access", { username: "bot", password: "first" });
  await world.putCredential("guestbook");
  world.startCredentialController();
  await eventually("it is recorded", async () => (await passwords()).length === 1);
  const { arrive, renew, isAsked } = behindOnNamespaces(world);
  await world.removeCredential("guestbook");
  const former = await namespaceUid(world);
  await renew();
  await world.putCredential("guestbook");
  await eventually("the namespace is asked for", () => isAsked());
  arrive();
  await eventually("it is recorded", async () => (await passwords()).length === 1);
  const of = (uid: string) =>
    world.store.repositoryCredentials.listOfWorkspace({ plane: "kubernetes", apiCluster: "api", namespaceUid: uid }, world.signal);
  expect((await of(former)).map(({ credential }) => credential.uid)).not.toContain((await world.readCredential("guestbook"))?.metadata.uid);
});
