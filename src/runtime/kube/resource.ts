/** A kind of Kubernetes object as the API addresses it. `group` is empty for the core group. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The fields of an object that the toolkit itself reads; everything else is the caller's business. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

export interface ObjectName {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** Path of a collection (no name), an object, or one of its subresources; every segment is URI-encoded. */
export function resourcePath(
  type: ResourceType,
  at: { readonly namespace?: string; readonly name?: string; readonly subresource?: string } = {},
): string {
  const base = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const segments = [
    ...(type.namespaced && at.namespace !== undefined && at.namespace !== "" ? ["namespaces", at.namespace] : []),
    type.plural,
    ...(at.name === undefined ? [] : [at.name]),
    ...(at.subresource === undefined ? [] : [at.subresource]),
  ];
  return `${base}/${segments.map(encodeURIComponent).join("/")}`;
}

const OBJECTS = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?([a-z]+)/;

/** The plural of what a path of `resourcePath` is about; empty for any other. */
export function pluralOf(path: string): string {
  return OBJECTS.exec(path)?.[1] ?? "";
}

export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}
