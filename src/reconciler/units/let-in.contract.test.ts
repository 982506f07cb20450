import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ANNOTATION_LET_IN } from "../../domain/names.ts";
import { clusterEntryName, projectName } from "../../shard/names.ts";
import { ENGINE_SECRETS, PROJECTS } from "../adapters/kubernetes/types.ts";
import { type Deployed, deploying, type Raw } from "../testing/deploy.ts";
import { eventually } from "../testing/until.ts";
import { DESTINATION, startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { readApplication, isAcknowledged } = deploying(() => world);

async function deploy(): Promise<Deployed> {
  const instance = await world.rows.addInstance("one", { entries: "filtered" });
  const application = await world.rows.addApplication("team-a", "web");
  return { instance, unit: await world.rows.place(application, instance.id), application };
}
const projectAt = ({ instance, unit }: Deployed) => ({ namespace: instance.namespace, name: projectName(unit.id) });
const projectOf = (deployed: Deployed) => world.hands.engine.get<Raw>(PROJECTS, projectAt(deployed), world.signal);
const say = (deployed: Deployed, letIn: string) =>
  world.hands.engine.mergePatch(PROJECTS, projectAt(deployed), { metadata: { annotations: { [ANNOTATION_LET_IN]: letIn } } }, world.signal);

describe("on an instance with filtered entries", () => {
  test("an Application is made once the cache of the instance has its namespace, and no sooner", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("the project stands", async () => (await projectOf(deployed)) !== undefined);
    await say(deployed, "team-b");
    const waiting = async () =>
      (await world.rows.operations(deployed.application.id)).some(({ message }) =>
        message.includes("does not have the workspace's namespace yet"),
      );
    await eventually("people can read what it waits for", waiting);
    expect(await readApplication(deployed)).toBeUndefined();
    await say(deployed, "team-a");
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    expect((await readApplication(deployed))?.spec).toMatchObject({ destination: { server: DESTINATION.server, namespace: "team-a" } });
    expect((await projectOf(deployed))?.metadata.annotations).toMatchObject({ [ANNOTATION_LET_IN]: "team-a" });
  });

  test("the cluster keeps its address, and is entered through the filter", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    const at = { namespace: deployed.instance.namespace, name: clusterEntryName(DESTINATION.server) };
    const entry = () => world.hands.engine.get<Raw>(ENGINE_SECRETS, at, world.signal);
    await eventually("the entry", async () => (await entry()) !== undefined);
    const decoded = Object.entries((await entry())?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]);
    const { server, config = "" } = Object.fromEntries(decoded) as Readonly<Record<string, string>>;
    expect(server).toBe(DESTINATION.server);
    expect(JSON.parse(config)).toMatchObject({ proxyUrl: expect.stringMatching(/^http:\/\/127\.\d+\.\d+\.\d+:6444$/) });
  });
});
