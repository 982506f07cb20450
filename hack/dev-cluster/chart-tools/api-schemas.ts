/** What the file `swagger.json` of a Kubernetes release has of a type. */
interface Definition {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly items?: Definition;
  readonly additionalProperties?: Definition;
  readonly properties?: Readonly<Record<string, Definition>>;
  readonly required?: readonly string[];
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface OpenApi {
  readonly definitions: Readonly<Record<string, Definition>>;
}

type Schema = Readonly<Record<string, unknown>>;

/** What JSON Schema is to say of types that are written in two ways: the OpenAPI document names but one. */
const WRITTEN_IN_TWO_WAYS: Readonly<Record<string, Schema>> = {
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: ["integer", "string"] },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: ["string", "number"] },
};

/** API servers serve versions like `v1`; alpha and beta versions only where somebody turns them on, though the document has them. */
const SERVED_BY_DEFAULT = /^v\d+$/;

/**
 * Renders a JSON schema for each kind that an API server of a release serves by default, by the file name that kubeconform asks for:
 * `deployment-apps-v1.json`. A field that is not declared is refused, as `kubectl apply` refuses it. So is null: an API server takes it for a
 * field that is not there, but in a chart it is a value that somebody forgot.
 */
export function renderApiSchemas({ definitions }: OpenApi): ReadonlyMap<string, Schema> {
  const schemas = new Map<string, Schema>();
  for (const [name, definition] of Object.entries(definitions)) {
    const kinds = definition["x-kubernetes-group-version-kind"] ?? [];
    const [kind] = kinds;
    // Those of several groups are options and events, which nobody applies.
    if (kind === undefined || kinds.length > 1 || !SERVED_BY_DEFAULT.test(kind.version)) continue;
    schemas.set(fileNameOf(kind), renderSchema(definitions, name));
  }
  return schemas;
}

function fileNameOf({ group, version, kind }: GroupVersionKind): string {
  const parts = [kind, ...(group === "" ? [] : [group.split(".")[0]]), version];
  return `${parts.join("-").toLowerCase()}.json`;
}

/** References are resolved in place, so that errors name the field that is wrong; but for types that contain themselves. */
function renderSchema(definitions: OpenApi["definitions"], name: string): Schema {
  const recursive = new Set<string>();
  const ofType = (type: string, within: readonly string[]): Schema => {
    const known = WRITTEN_IN_TWO_WAYS[type];
    if (known !== undefined) return known;
    if (!within.includes(type)) return of(definitions[type] ?? {}, [...within, type]);
    recursive.add(type);
    return { $ref: `#/definitions/${type}` };
  };
  const of = (definition: Definition, within: readonly string[]): Schema => {
    if (definition.$ref !== undefined) return ofType(definition.$ref.replace("#/definitions/", ""), within);
    const { items, required, properties } = definition;
    return {
      ...pick(definition, "type"),
      ...pick(definition, "format"),
      ...(items === undefined ? {} : { items: of(items, within) }),
      ...(required === undefined ? {} : { required }),
      ...(properties === undefined ? {} : { properties: mapValues(properties, (property) => of(property, within)) }),
      ...others(definition, within),
    };
  };
  const others = ({ properties, additionalProperties }: Definition, within: readonly string[]): Schema => {
    if (additionalProperties !== undefined) return { additionalProperties: of(additionalProperties, within) };
    return properties === undefined ? {} : { additionalProperties: false };
  };
  const root = ofType(name, []);
  const kept: Record<string, Schema> = {};
  // What is found while a recursive type is rendered is added to the set, and its turn comes.
  for (const type of recursive) kept[type] = of(definitions[type] ?? {}, [type]);
  return { $schema: "http://json-schema.org/draft-07/schema#", ...root, ...(recursive.size === 0 ? {} : { definitions: kept }) };
}

function pick(definition: Definition, key: "type" | "format"): Schema {
  return definition[key] === undefined ? {} : { [key]: definition[key] };
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Readonly<Record<string, B>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
