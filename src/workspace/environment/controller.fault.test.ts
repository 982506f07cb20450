import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UnavailableError } from "../../domain/errors.ts";
import { behindOnNamespaces, namespaceUid } from "../testing/behind.ts";
import { eventually } from "../testing/world.ts";
import { type ControllerPorts, type EnvironmentWorld, SERVER, startEnvironmentWorld } from "./testing/environment-world.ts";

let world: EnvironmentWorld;
beforeEach(async () => {
  world = await startEnvironmentWorld();
});
afterEach(() => world.close());

const MODES = ["fails once", "loses its reply once"] as const;
/** What a controller waits for; the rest answers from memory. */
const WAITING = ["claim", "connect", "withdraw", "recordEnd", "listKnown", "putCredential", "read", "readUid", "patchStatus", "probe"];
const FIRST_READS = ["readFleet", "listInstances"];

/** Breaks the first call of this name, whichever port it is of. */
function breaking(
  name: string,
  mode: (typeof MODES)[number],
): { readonly change: (ports: ControllerPorts) => ControllerPorts; broke(): boolean } {
  let hasBroken = false;
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, key) {
        const member: unknown = Reflect.get(object, key);
        if (typeof member !== "function" || key !== name) return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (hasBroken) return Reflect.apply(member, object, args);
          hasBroken = true;
          if (mode === "loses its reply once") await Reflect.apply(member, object, args);
          throw new UnavailableError(`calling ${name}`, { code: "test.fault" });
        };
      },
    });
  const change = ({ store, resources, secrets, probe, accounts }: ControllerPorts): ControllerPorts => ({
    store: {
      ...store,
      environments: wrap(store.environments),
      credentials: wrap(store.credentials),
      placements: wrap(store.placements),
      fleet: wrap(store.fleet),
    },
    resources: wrap(resources),
    secrets: wrap(secrets),
    probe: wrap(probe),
    accounts: wrap(accounts),
  });
  return { change, broke: () => hasBroken };
}

const isConnected = async (): Promise<boolean> =>
  (await world.saidOfEnvironment()).includes("Ready=True/Succeeded") &&
  (await world.rows())[0]?.state === "connected" &&
  (await world.storedToken()) === "token-1";

/** An environment comes, loses its Secret, gets it back and goes. */
async function live(): Promise<void> {
  world.clusters.serve(SERVER, "token-1");
  await world.putSecret("token-1");
  await world.putEnvironment();
  await eventually("it is connected", isConnected);
  await world.removeSecret();
  await eventually("it is withdrawn", async () => (await world.rows())[0]?.state === "withdrawn");
  await eventually("its user knows", async () => (await world.saidOfEnvironment()).includes("Ready=False/SecretNotFound"));
  await world.putSecret("token-1");
  await eventually("it is connected again", isConnected);
  await world.removeEnvironment();
  await eventually("nothing is left of it", async () => (await world.rows()).length === 0);
}

describe.each(MODES)("the controller for environments converges when a call %s", (mode) => {
  it.each([...FIRST_READS, ...WAITING])("%s", async (name) => {
    const { change, broke } = breaking(name, mode);
    world.startEnvironmentController(change);
    await live();
    expect(broke()).toBe(true);
  });

  it("at its start, when rows are compared with what there is", async () => {
    const controller = world.startEnvironmentController();
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment();
    await eventually("it is connected", isConnected);
    await controller.stop();
    await world.removeEnvironment();
    const { change, broke } = breaking("listKnown", mode);
    world.startEnvironmentController(change);
    await eventually("nothing is left of it", async () => (await world.rows()).length === 0);
    expect(broke()).toBe(true);
  });
});

/** An environment with an account of its own comes and goes; its workspace has a deployment that is placed. */
async function liveWithAccount(): Promise<void> {
  world.clusters.serve(SERVER, "token-1");
  await world.putSecret("token-1");
  await world.putEnvironment({ createNewServiceAccount: true });
  await eventually("an account stands there and is used", async () => {
    const [name] = world.clusters.accountsAt(SERVER);
    return name !== undefined && (await world.storedToken()) === `token-of-${name}` && (await world.rows())[0]?.state === "connected";
  });
  await world.removeEnvironment();
  await eventually("nothing is left of it", async () => (await world.rows()).length === 0);
  expect(world.clusters.accountsAt(SERVER)).toEqual([]);
}

describe.each(MODES)("the account of an environment is made once and removed when a call %s", (mode) => {
  it.each(["install", "remove", "noteAccount", "readUnitsOf", "putCredential", "recordEnd", "connect", "claim"])("%s", async (name) => {
    world.startController();
    await world.apply("guestbook");
    await eventually("it is recorded", async () => (await world.row("guestbook")) !== undefined);
    await world.answer("guestbook");
    const { change, broke } = breaking(name, mode);
    world.startEnvironmentController(change);
    await liveWithAccount();
    expect(broke()).toBe(true);
  });
});

describe("what a controller merely cannot see", () => {
  it("I2: is not ended, because the API server is asked", async () => {
    world.startEnvironmentController();
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment();
    await eventually("it is connected", isConnected);
    let asked = 0;
    const blind = world.startEnvironmentController((ports) => ({
      ...ports,
      resources: {
        ...ports.resources,
        get: () => undefined,
        list: () => [],
        readUid(at, signal) {
          asked += 1;
          return ports.resources.readUid(at, signal);
        },
      },
    }));
    await eventually("the blind controller has asked", () => asked > 0);
    await blind.stop();
    expect(await world.rows()).toMatchObject([{ state: "connected" }]);
  });
});

it("an environment of a namespace that was made anew is recorded for that one, though its controller has not heard of it yet", async () => {
  world.startEnvironmentController();
  world.clusters.serve(SERVER, "token-1");
  await world.putSecret("token-1");
  await world.putEnvironment({}, "jane", "first");
  await eventually("the first one is connected", async () => (await world.rows())[0]?.state === "connected");
  const { arrive, renew, isAsked } = behindOnNamespaces(world);
  await renew();
  await world.putEnvironment();
  await eventually("the namespace is asked for", () => isAsked());
  arrive();
  const claimed = async () => (await world.rows()).find(({ name }) => name === "prod");
  await eventually("it is recorded", async () => (await claimed()) !== undefined);
  const known = await world.store.intents.listKnownWorkspaces("api", { limit: 1_000, after: "" }, world.signal);
  const uid = await namespaceUid(world);
  expect(known.map(({ namespaceUid: of }) => of)).toContain(uid);
  const claim = await world.store.environments.read((await claimed())?.uid ?? "", world.signal);
  expect(claim?.workspaceId).toBe(known.find(({ namespaceUid: of }) => of === uid)?.workspaceId);
});
