import { GoneError, RefusedError, StaleError } from "../../../domain/errors.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { listInPages } from "../../../runtime/kube/list.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import type { AdoptedCluster } from "../../port.ts";

const ARGO = { group: "argoproj.io", version: "v1alpha1", namespaced: true } as const;
const TYPES = {
  application: { ...ARGO, plural: "applications", kind: "Application" },
  project: { ...ARGO, plural: "appprojects", kind: "AppProject" },
  deployment: {
    group: "managed-gitops.redhat.com",
    version: "v1alpha1",
    namespaced: true,
    plural: "gitopsdeployments",
    kind: "GitOpsDeployment",
  },
  namespace: { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
  settings: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
} as const satisfies Record<string, ResourceType>;

const PAGE = 500;

interface DeploymentObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] };
}

/** The cluster that `client` is connected to, with the client's rights. */
export function createAdoptedCluster(client: KubeClient): AdoptedCluster {
  const list = async (type: ResourceType, namespace: string | undefined, signal: AbortSignal): Promise<readonly KubeObject[]> => {
    const found: KubeObject[] = [];
    const options = { limit: PAGE, ...(namespace === undefined ? {} : { namespace }) };
    await listInPages({ client, type, options, onObject: (object) => found.push(object) }, signal);
    return found;
  };
  return {
    async read(namespace, signal) {
      const settings = await client.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(
        TYPES.settings,
        { namespace, name: "argocd-cm" },
        signal,
      );
      const applications = settings === undefined ? [] : await list(TYPES.application, namespace, signal);
      return {
        applications: applications.map((raw) => ({ name: raw.metadata.name, raw })),
        projects: settings === undefined ? [] : await list(TYPES.project, namespace, signal),
        namespaces: await list(TYPES.namespace, undefined, signal),
        deployments: await list(TYPES.deployment, undefined, signal),
        settings: settings === undefined ? undefined : (settings.data ?? {}),
      };
    },
    async create(at, { annotations, spec }, signal) {
      const { group, version, kind } = TYPES.deployment;
      const object = { apiVersion: `${group}/${version}`, kind, metadata: { ...at, annotations }, spec };
      const made = await client.create<KubeObject>(TYPES.deployment, object, signal);
      return made.metadata.uid ?? "";
    },
    async annotate(kind, { uid, ...at }, { annotation, value }, signal) {
      try {
        // A uid in a patch is a precondition: the server refuses it for an object with another uid.
        return await client.mergePatch<KubeObject>(
          TYPES[kind],
          at,
          { metadata: { uid, annotations: { [annotation]: value ?? null } } },
          signal,
        );
      } catch (error) {
        const isAnother = error instanceof RefusedError && error.context["status"] === 422;
        if (!(isAnother || error instanceof GoneError || error instanceof StaleError)) throw error;
        const options = { code: "adoption.changed", context: { kind, ...at }, cause: error };
        throw new StaleError(`${at.namespace}/${at.name} is not the ${kind} that was read: run the command again`, options);
      }
    },
    async complaint(at, signal) {
      const seen = await client.get<DeploymentObject>(TYPES.deployment, at, signal);
      return seen?.status?.conditions?.find(({ type, status }) => type === "ErrorOccurred" && status === "True")?.message;
    },
  };
}
