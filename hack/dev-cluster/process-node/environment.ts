import { expand } from "./expand.ts";
import type { Container, EnvFrom, EnvVar, Pod } from "./pod.ts";
import { parseQuantity } from "./quantity.ts";

/** Reads config maps and secrets of the pod's namespace, decoded. `undefined`: there is no such object. */
export interface References {
  configMap(name: string): Readonly<Record<string, string>> | undefined;
  secret(name: string): Readonly<Record<string, string>> | undefined;
}

/** The fields of a pod that it may refer to. */
export interface PodFacts {
  readonly pod: Pod;
  readonly podIP: string;
}

export type Environment =
  | { readonly ok: true; readonly variables: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly missing: string };

/**
 * The variables of a container: `envFrom` first, then `env` in order, each able to refer to earlier ones. `missing`
 * names a required config map, secret or key that does not exist; then the container must not start.
 */
export function resolveEnvironment(container: Container, facts: PodFacts, references: References): Environment {
  const variables: Record<string, string> = {};
  for (const source of container.envFrom ?? []) {
    const all = allOf(source, references);
    if (typeof all === "string") return { ok: false, missing: all };
    for (const [key, value] of Object.entries(all)) variables[(source.prefix ?? "") + key] = value;
  }
  for (const variable of container.env ?? []) {
    const value = resolve(variable, { container, facts, references, variables });
    if (!value.ok) return value;
    if (value.value !== undefined) variables[variable.name] = value.value;
  }
  return { ok: true, variables };
}

/** Every key of the object an `envFrom` names, or a sentence naming what is missing. */
function allOf(source: EnvFrom, references: References): Readonly<Record<string, string>> | string {
  const ref = source.configMapRef ?? source.secretRef;
  if (ref === undefined) return {};
  const data = source.configMapRef ? references.configMap(ref.name) : references.secret(ref.name);
  if (data === undefined && ref.optional !== true) return missingObject(source.configMapRef ? "configmap" : "secret", ref.name);
  return data ?? {};
}

/** A field of the pod by its name in `fieldRef`. `undefined`: it has no value, or the name is not known. */
export function podField(path: string, { pod, podIP }: PodFacts): string | undefined {
  const [, map, key] = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path) ?? [];
  if (map === "labels" || map === "annotations") return pod.metadata[map]?.[key ?? ""] ?? "";
  const fields: Readonly<Record<string, string | undefined>> = {
    "metadata.name": pod.metadata.name,
    "metadata.namespace": pod.metadata.namespace,
    "metadata.uid": pod.metadata.uid,
    "metadata.labels": lines(pod.metadata.labels),
    "metadata.annotations": lines(pod.metadata.annotations),
    "spec.nodeName": pod.spec.nodeName,
    "spec.serviceAccountName": pod.spec.serviceAccountName,
    "status.podIP": podIP,
    "status.podIPs": podIP,
    "status.hostIP": "127.0.0.1",
  };
  return fields[path];
}

type Value = { readonly ok: true; readonly value: string | undefined } | { readonly ok: false; readonly missing: string };

interface Scope {
  readonly container: Container;
  readonly facts: PodFacts;
  readonly references: References;
  readonly variables: Readonly<Record<string, string>>;
}

function resolve(variable: EnvVar, scope: Scope): Value {
  const from = variable.valueFrom;
  if (from === undefined) return { ok: true, value: expand(variable.value ?? "", scope.variables) };
  if (from.fieldRef !== undefined) return { ok: true, value: podField(from.fieldRef.fieldPath, scope.facts) ?? "" };
  if (from.resourceFieldRef !== undefined) return { ok: true, value: resourceField(from.resourceFieldRef, scope.container) };
  const ref = from.configMapKeyRef ?? from.secretKeyRef;
  if (ref === undefined) return { ok: true, value: undefined };
  const kind = from.configMapKeyRef ? "configmap" : "secret";
  const data = from.configMapKeyRef ? scope.references.configMap(ref.name) : scope.references.secret(ref.name);
  const value = data?.[ref.key];
  if (value !== undefined || ref.optional === true) return { ok: true, value };
  return {
    ok: false,
    missing: data === undefined ? missingObject(kind, ref.name) : `couldn't find key ${ref.key} in ${kind} "${ref.name}"`,
  };
}

/** Whole units of the divisor, rounded up, as the kubelet does. */
function resourceField(ref: { readonly resource: string; readonly divisor?: string }, container: Container): string | undefined {
  const [kind, name = ""] = ref.resource.split(".");
  const text = (kind === "limits" ? container.resources?.limits : container.resources?.requests)?.[name];
  const quantity = parseQuantity(text ?? "");
  const divisor = parseQuantity(ref.divisor ?? "1") || 1;
  return quantity === undefined ? undefined : String(Math.ceil(quantity / divisor));
}

function lines(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
    .join("\n");
}

const missingObject = (kind: string, name: string): string => `${kind} "${name}" not found`;
