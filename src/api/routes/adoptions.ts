import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { millis } from "../../domain/clock.ts";
import { RefusedError } from "../../domain/errors.ts";
import { REFUSED_GROUPS } from "../../domain/fleet.ts";
import type { ApiDeps } from "../port.ts";

/** Whoever was to have a name and was not recorded for so long was given back, or is gone: it waits half a minute to be. */
const GONE_MS = 10 * 60_000;
const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);

const rulesView = z.object({
  selector: z.record(z.string(), z.string()).describe("labels of namespaces that are workspaces"),
  everyNamespace: z.boolean().describe("whether namespaces are workspaces without any label"),
  allowedGroups: z.array(z.string()).describe("what may be deployed beside the kinds of Kubernetes that always may"),
  refusedGroups: z.array(z.string()).describe("what may not, whatever is allowed"),
  instanceNamespaces: z.array(z.string()),
  clusterUid: z.string().describe("uid of the namespace kube-system of the cluster users' resources are on"),
});
const keptName = z.strictObject({
  namespace: z.string().max(63),
  name: z.string().max(253),
  uid: z.string().min(1).max(253).describe("of the GitOpsDeployment"),
  argoName: z
    .string()
    .max(253)
    .regex(/^(?!argosy-)[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "is no name of an Application, or one of Argosy's own")
    .describe("name of the Application it stands for, which it keeps"),
});
export type AdoptionRulesView = z.infer<typeof rulesView>;

/** Which namespaces are workspaces, for who plans what to take over. */
export function addAdoptionRules(server: FastifyInstance, { store, apiClusterUid }: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/adoptions/rules",
    {
      schema: { operationId: "readAdoptionRules", summary: "Which namespaces are workspaces", security, response: { 200: rulesView } },
    },
    async () => {
      const fleet = await store.fleet.readFleet(deadline());
      const instances = await store.fleet.listInstances(deadline());
      return {
        selector: { ...fleet?.spec.workspaces.selector },
        everyNamespace: fleet?.spec.workspaces.everyNamespace === true,
        allowedGroups: [...(fleet?.spec.deployments.allowedGroups ?? [])],
        refusedGroups: [...(fleet?.spec.deployments.refusedGroups ?? REFUSED_GROUPS)],
        instanceNamespaces: instances.map(({ namespace }) => namespace).sort(),
        clusterUid: await apiClusterUid(deadline()),
      };
    },
  );
}

/** Names that Applications made by hand keep. */
export function addAdoptionRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().post(
    "/v1/adoptions",
    {
      schema: {
        operationId: "keepName",
        summary: "Lets a GitOpsDeployment that is taken over keep the name of its Application in Argo CD",
        security,
        body: keptName,
        response: { 200: keptName },
      },
    },
    async ({ body, actor }) => {
      await keepName(deps, body, actor);
      return body;
    },
  );
}

async function keepName({ store, clock }: ApiDeps, { uid, argoName, ...at }: z.infer<typeof keptName>, actor: string): Promise<void> {
  const outcome = await store.intents.keepName({ uid, argoName, goneBefore: millis(clock.now() - GONE_MS) }, deadline());
  const where = `${at.namespace}/${at.name}`;
  if (outcome === "late")
    throw new RefusedError(
      `${where} has another name in Argo CD already: it is the fleet's under that; leave the other Application paused`,
      {
        code: "adoption.late",
        context: at,
      },
    );
  if (outcome === "taken")
    throw new RefusedError(`${where} cannot have the name ${argoName}: another application has it, or it is to have another`, {
      code: "adoption.taken",
      context: at,
    });
  const decision = { subject: uid, kind: "directive", verdict: "ADOPTED", rule: "ASKED", details: { ...at, argoName, actor } } as const;
  await store.decisions.append([{ at: clock.now(), ...decision }], deadline());
}
