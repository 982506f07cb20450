import { asObject } from "../../../../domain/json.ts";
import { type Discovery, parseDiscovery, parseGroups, parseLegacyResources } from "../../../../domain/parse-discovery.ts";
import type { KubeClient } from "../../../../runtime/kube/client.ts";

/** Everything in one answer, from Kubernetes 1.27 on; older servers name their groups only. */
const AGGREGATED = ["v2", "v2beta1"].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`);
const ACCEPT = [...AGGREGATED, "application/json"].join(",");
/** Longest answer that is read, in bytes: three thousand definitions. */
const LONGEST_ANSWER = 2 * 1024 * 1024;
/** How long all of it may take, in ms: somebody may wait for this visit who has no owner meanwhile. */
const DISCOVERY_MS = 4_000;
/** Versions of groups that an older server is asked about one by one, and how many of them at once. */
const VERSIONS_AT_MOST = 200;
const AT_ONCE = 8;

/**
 * What a user's cluster serves outside the core group; `undefined` where it does not say, or says more than is read, or not in time. It never
 * throws for that: rights that stand do not depend on it.
 */
export async function discoverKinds(client: KubeClient, signal: AbortSignal): Promise<Discovery | undefined> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(DISCOVERY_MS)]);
  const ask = (path: string): Promise<unknown> =>
    client.request({ method: "GET", path, accept: ACCEPT, idempotent: false, longestBody: LONGEST_ANSWER }, limited);
  try {
    const answer = await ask("/apis");
    return parseDiscovery([answer]) ?? (await discoverEach(answer, ask));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** One request for each version of a group. One that does not answer is silent, and nothing in it is known. */
async function discoverEach(answer: unknown, ask: (path: string) => Promise<unknown>): Promise<Discovery | undefined> {
  const versions = asObject(answer)["kind"] === "APIGroupList" ? parseGroups(answer) : [];
  if (versions.length === 0 || versions.length > VERSIONS_AT_MOST) return undefined;
  const found: Discovery[] = [];
  for (let index = 0; index < versions.length; index += AT_ONCE)
    found.push(...(await Promise.all(versions.slice(index, index + AT_ONCE).map((version) => discoverVersion(version, ask)))));
  return { resources: found.flatMap(({ resources }) => resources), silentGroups: found.flatMap(({ silentGroups }) => silentGroups) };
}

async function discoverVersion(version: string, ask: (path: string) => Promise<unknown>): Promise<Discovery> {
  const [group = ""] = version.split("/");
  const answer = /^[a-z0-9][-.a-z0-9]*\/[a-z0-9]+$/.test(version) ? await ask(`/apis/${version}`).catch(() => undefined) : undefined;
  return { resources: parseLegacyResources(group, answer), silentGroups: answer === undefined ? [group] : [] };
}
