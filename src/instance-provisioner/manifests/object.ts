import type { EngineObject } from "../../domain/engine.ts";
import { contentHash } from "../../domain/hash.ts";
import type { Instance } from "../../domain/instance.ts";
import { ANNOTATION_HASH, LABEL_INSTANCE, LABEL_MANAGED_BY } from "../../domain/names.ts";
import type { FieldsOf, Kind } from "./kubernetes-types.ts";

/**
 * The writer of an instance's own objects, as a label. It differs from the label on the reconciler's objects: each of
 * the two watches, repairs and deletes by its label, and must not take the other's objects for its own.
 */
export const PROVISIONED_BY = "argosy-provisioner";

export type ManifestIdentity = Pick<Instance, "id" | "name" | "namespace" | "pool" | "class">;

export type Labels = Readonly<Record<string, string>>;

/** An object without its identity and labels. */
export type ObjectContent<K extends Kind> = FieldsOf<K> & {
  readonly apiVersion: string;
  readonly kind: K;
  readonly name: string;
  readonly component?: string;
  readonly labels?: Labels;
};

/** Labels of every object of an instance. Argo CD itself reads `part-of` on the objects that hold its settings. */
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

/** An object in the instance's namespace (or the namespace itself), with labels and the hash of its own content. */
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

/** A Secret from plain text. It is written as base64, because servers return that and hashes are compared. */
export function secret(instance: ManifestIdentity, name: string, texts: Readonly<Record<string, string>>): EngineObject {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, "utf8").toString("base64")]));
  return objectOf(instance, { apiVersion: "v1", kind: "Secret", name, type: "Opaque", data });
}
