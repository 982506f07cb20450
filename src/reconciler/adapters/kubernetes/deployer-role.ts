import { RefusedError, StaleError } from "../../../domain/errors.ts";
import { DEPLOYER_ROLE, READER_ROLE } from "../../../domain/names.ts";
import { type Discovery, parseDiscovery, parseGroups, parseLegacyResources } from "../../../domain/parse-discovery.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { parseRules } from "../../../shard/parse-rights.ts";
import type { DeployerRole, KeptRole } from "../../port.ts";
import { CLUSTER_ROLES } from "./types.ts";

/** Everything in two answers; servers before 1.30 answer in the old way. */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

export function createDeployerRole(client: KubeClient): DeployerRole {
  const get = (path: string, signal: AbortSignal): Promise<unknown> => client.request({ method: "GET", path, accept: AGGREGATED }, signal);

  /** One request per group version, in turn: this is the exception, and runs once a minute. */
  const discoverEach = async (signal: AbortSignal): Promise<Discovery> => {
    const versions = ["/api/v1", ...parseGroups(await get("/apis", signal)).map((version) => `/apis/${version}`)];
    const found: Discovery[] = [];
    for (const path of versions) {
      const group = path.split("/")[2] === "v1" ? "" : (path.split("/")[2] ?? "");
      const answer = await get(path, signal).catch((error: unknown) => (signal.aborted ? Promise.reject(error) : undefined));
      found.push(
        answer === undefined
          ? { resources: [], silentGroups: [group] }
          : { resources: parseLegacyResources(group, answer), silentGroups: [] },
      );
    }
    return { resources: found.flatMap((one) => one.resources), silentGroups: found.flatMap((one) => one.silentGroups) };
  };

  return {
    ...createKeptRole(client, DEPLOYER_ROLE),
    async discover(signal) {
      const [core, groups] = await Promise.all([get("/api", signal), get("/apis", signal)]);
      return parseDiscovery([core, groups]) ?? (await discoverEach(signal));
    },
  };
}

/** The role by which instances read. */
export function createReaderRole(client: KubeClient): KeptRole {
  return createKeptRole(client, READER_ROLE);
}

function createKeptRole(client: KubeClient, name: string): KeptRole {
  const at = { namespace: "", name };
  return {
    async read(signal) {
      const raw = await client.get<KubeObject & { readonly rules?: unknown }>(CLUSTER_ROLES, at, signal);
      const { uid, resourceVersion, annotations = {} } = raw?.metadata ?? {};
      if (uid === undefined || resourceVersion === undefined) return undefined;
      return { uid, resourceVersion, annotations, rules: parseRules(raw?.rules) };
    },
    async replaceRules({ uid, resourceVersion, annotations }, rules, signal) {
      const patch = [
        { op: "test", path: "/metadata/uid", value: uid },
        { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
        { op: "add", path: "/rules", value: rules },
        ...(annotations === undefined ? [] : [{ op: "add", path: "/metadata/annotations", value: annotations } as const]),
      ] as const;
      try {
        await client.jsonPatch(CLUSTER_ROLES, at, patch, signal);
      } catch (error) {
        if (!(error instanceof RefusedError) || error.code !== "kube.test-failed") throw error;
        throw new StaleError("changing a role that Argosy keeps", { code: "reconciler.test-failed", cause: error });
      }
    },
  };
}
