import type { OutgoingHttpHeaders } from "node:http";
import { UnavailableError } from "../../../domain/errors.ts";
import { asArray, asObject, asString } from "../../../domain/json.ts";
import type { ObjectKind } from "../../event-lines.ts";
import type { WholeClusterRequest } from "../../whole-cluster-request.ts";
import { textOf, type Upstream } from "./upstream.ts";

/** What the API server says of kinds. */
export interface Kinds {
  /** The kind of the objects of a collection; `undefined`: they have no namespace, or there is no such kind. `headers`: who asks. */
  namespaced(request: WholeClusterRequest, headers: OutgoingHttpHeaders, signal: AbortSignal): Promise<ObjectKind | undefined>;
}

interface KnownKind extends ObjectKind {
  readonly isNamespaced: boolean;
}

/** Reads each group and version once, and again when it is asked for a kind that was not in it. */
export function createKinds(upstream: Pick<Upstream, "send">): Kinds {
  const known = new Map<string, ReadonlyMap<string, KnownKind>>();
  const read = async (api: string, headers: OutgoingHttpHeaders, signal: AbortSignal): Promise<ReadonlyMap<string, KnownKind>> => {
    const answer = await upstream.send({ method: "GET", path: api, headers: { ...headers, accept: "application/json" } }, signal);
    const text = await textOf(answer);
    if (answer.statusCode === 404) return new Map();
    if (answer.statusCode !== 200)
      throw new UnavailableError("Asking which kinds have a namespace", {
        code: "filter.discovery",
        context: { api, status: answer.statusCode ?? 0 },
      });
    const { groupVersion, resources } = asObject(JSON.parse(text));
    const kinds = asArray(resources).map(asObject);
    return new Map(
      kinds.map(({ name, kind, namespaced }) => [
        asString(name),
        { apiVersion: asString(groupVersion), kind: asString(kind), isNamespaced: namespaced === true },
      ]),
    );
  };
  return {
    async namespaced({ api, plural }, headers, signal) {
      let found = known.get(api)?.get(plural);
      if (found === undefined) {
        const kinds = await read(api, headers, signal);
        known.set(api, kinds);
        found = kinds.get(plural);
      }
      return found?.isNamespaced === true ? found : undefined;
    },
  };
}
