import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { type ResourceType, resourcePath } from "../../../src/runtime/kube/resource.ts";
import { writeVolume } from "./container-root.ts";
import type { References } from "./environment.ts";
import { type Container, configMapType, type DataObject, type Pod, secretType, serviceAccountType, type Volume } from "./pod.ts";
import { filesOf, referredBy, type TokenFile } from "./volume-files.ts";

/** Keeps a pod's volumes on disk equal to their sources. */
export interface Volumes {
  directory(volume: string): string;
  /** Reads everything the pod refers to. */
  references(signal: AbortSignal): Promise<References>;
  /**
   * Writes the volumes. Returns a sentence about what is missing, if something is. Tokens are renewed after four
   * fifths of their life.
   */
  write(references: References, signal: AbortSignal): Promise<string | undefined>;
}

export interface VolumesOptions {
  readonly client: KubeClient;
  readonly pod: Pod;
  readonly podIP: string;
  readonly directory: string;
  readonly nowMs: () => number;
}

export function createVolumes(options: VolumesOptions): Volumes {
  const { client, pod } = options;
  const written = new Map<string, string>();
  const renewAtMs = new Map<string, number>();
  const directory = (volume: string) => join(options.directory, volume);

  const writeToken = async (at: string, token: TokenFile, signal: AbortSignal) => {
    if ((renewAtMs.get(at) ?? 0) > options.nowMs()) return;
    const issued = await requestToken({ client, pod, token }, signal);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, issued, { mode: 0o600 });
    renewAtMs.set(at, options.nowMs() + token.expirationSeconds * 800);
  };
  return {
    directory,
    references: (signal) => readReferences(client, pod, signal),
    async write(references, signal) {
      for (const volume of pod.spec.volumes ?? []) {
        const planned = filesOf(volume, { pod, podIP: options.podIP }, references);
        if (!planned.ok) return planned.missing;
        mkdirSync(directory(volume.name), { recursive: true });
        if (hasFiles(volume))
          writeVolume(directory(volume.name), { files: planned.files, others: planned.tokens.map(({ path }) => path) }, written);
        for (const token of planned.tokens) await writeToken(join(directory(volume.name), token.path), token, signal);
      }
      return undefined;
    },
  };
}

/** Whether only this node writes the files of a volume. In others (emptyDir) the programs write. */
function hasFiles(volume: Volume): boolean {
  return (
    volume.configMap !== undefined || volume.secret !== undefined || volume.projected !== undefined || volume.downwardAPI !== undefined
  );
}

/** File with the service account's token as `container` sees it, if it mounts one in the usual place. */
export function tokenFileOf(pod: Pod, container: Container, volumes: Volumes): string | undefined {
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === "/var/run/secrets/kubernetes.io/serviceaccount");
  const volume = pod.spec.volumes?.find(({ name }) => name === mount?.name);
  const token = volume?.projected?.sources?.find((source) => source.serviceAccountToken !== undefined)?.serviceAccountToken;
  return volume === undefined || token === undefined ? undefined : join(volumes.directory(volume.name), token.path);
}

async function readReferences(client: KubeClient, pod: Pod, signal: AbortSignal): Promise<References> {
  const mentioned = referredBy(pod.spec.volumes ?? []);
  const env = pod.spec.containers.flatMap((container) => container.env ?? []).map((variable) => variable.valueFrom);
  const envFrom = pod.spec.containers.flatMap((container) => container.envFrom ?? []);
  const names = (all: readonly (string | undefined)[]) => [...new Set(all.filter((name) => name !== undefined))];
  const read = async (type: ResourceType, all: readonly string[]) => {
    const objects = await Promise.all(all.map((name) => client.get<DataObject>(type, { namespace: pod.metadata.namespace, name }, signal)));
    return new Map(all.map((name, at) => [name, objects[at]]));
  };
  const configMaps = await read(
    configMapType,
    names([...mentioned.configMaps, ...env.map((from) => from?.configMapKeyRef?.name), ...envFrom.map((from) => from.configMapRef?.name)]),
  );
  const secrets = await read(
    secretType,
    names([...mentioned.secrets, ...env.map((from) => from?.secretKeyRef?.name), ...envFrom.map((from) => from.secretRef?.name)]),
  );
  return {
    configMap(name) {
      const found = configMaps.get(name);
      return found && { ...found.data, ...decoded(found.binaryData) };
    },
    secret(name) {
      const found = secrets.get(name);
      return found && decoded(found.data);
    },
  };
}

function decoded(data: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

/** Requests a token of the pod's account that is bound to the pod (authentication.k8s.io/v1, TokenRequest). */
async function requestToken(
  ask: { readonly client: KubeClient; readonly pod: Pod; readonly token: TokenFile },
  signal: AbortSignal,
): Promise<string> {
  const { metadata, spec } = ask.pod;
  const path = resourcePath(serviceAccountType, {
    namespace: metadata.namespace,
    name: spec.serviceAccountName ?? "default",
    subresource: "token",
  });
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: metadata.name, uid: metadata.uid };
  const audiences = ask.token.audience === undefined ? {} : { audiences: [ask.token.audience] };
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { ...audiences, expirationSeconds: ask.token.expirationSeconds, boundObjectRef },
  };
  const answer = await ask.client.request<{ readonly status: { readonly token: string } }>(
    { method: "POST", path, body, idempotent: true },
    signal,
  );
  return answer.status.token;
}
