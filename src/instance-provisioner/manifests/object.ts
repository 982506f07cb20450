import type { EngineObject } from "../../domain/engine.ts";
import { contentHash } from "../../domain/hash.ts";
import type { Instance } from "../../domain/instance.ts";
import { ANNOTATION_HASH, LABEL_INSTANCE, LABEL_MANAGED_BY } from "../../domain/names.ts";
import type { FieldsOf, Kind } from "./kubernetes-types.ts";

/**
 * Who writes an instance's own objects. Not the name the reconciler's objects carry: each of the two watches, repairs and
 * clears away by this label, and must never take the other's objects for its own.
 */
export const PROVISIONED_BY = "argosy-provisioner";

export type ManifestIdentity = Pick<Instance, "id" | "name" | "namespace" | "pool" | "class">;

export type Labels = Readonly<Record<string, string>>;

/** What is written down of an object beside its identity and labels. */
export type ObjectContent<K extends Kind> = FieldsOf<K> & {
  readonly apiVersion: string;
  readonly kind: K;
  readonly name: string;
  readonly component?: string;
  readonly labels?: Labels;
};

/** Labels of every object of an instance; Argo CD itself reads `part-of` on the objects that hold its settings. */
export function labelsOf(instance: ManifestIdentity, name: string, component?: string): Labels {
  return {
    "app.kubernetes.io/name": name,
    ...(component === undefined ? {} : { "app.kubernetes.io/component": component }),
    "app.kubernetes.io/instance": instance.name,
    "app.kubernetes.io/part-of": "argocd",
    [LABEL_MANAGED_BY]: PROVISIONED_BY,
    [LABEL_INSTANCE]: instance.id,
  };
}

/** An object of the instance's namespace (or the namespace itself), complete with labels and the hash of its own content. */
export function objectOf<K extends Kind>(instance: ManifestIdentity, content: ObjectContent<K>): EngineObject {
  const { apiVersion, kind, name, component, labels, ...fields } = content;
  const metadata = {
    name,
    ...(kind === "Namespace" ? {} : { namespace: instance.namespace }),
    labels: { ...labelsOf(instance, name, component), ...labels },
  };
  const object = { apiVersion, kind, metadata, ...fields };
  return { ...object, metadata: { ...metadata, annotations: { [ANNOTATION_HASH]: contentHash(object) } } };
}

export function configMap(instance: ManifestIdentity, name: string, data: Readonly<Record<string, string>>): EngineObject {
  return objectOf(instance, { apiVersion: "v1", kind: "ConfigMap", name, data });
}

/** A Secret from plain text; what is written is base64, because that is what a server returns and hashes compare. */
export function secret(instance: ManifestIdentity, name: string, texts: Readonly<Record<string, string>>): EngineObject {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, "utf8").toString("base64")]));
  return objectOf(instance, { apiVersion: "v1", kind: "Secret", name, type: "Opaque", data });
}
