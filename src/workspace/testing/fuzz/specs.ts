import fc from "fast-check";
import { type CrdSchema, kindSchemas } from "../../api/schema.ts";
import { hostileText, hostileValue } from "./texts.ts";

export type Kind = keyof ReturnType<typeof kindSchemas>;

/** Values that work, for fields whose schema alone does not say what does; by the end of the field's path. */
const GOOD: Readonly<Record<string, readonly unknown[]>> = {
  repoURL: [
    "https://git.example/jane/guestbook",
    "ssh://git@git.example/jane/x.git",
    "git@git.example:jane/x",
    "https://git.example/a b?c=%41&d;e",
  ],
  path: [".", "overlays/dev", "a/../b", "sub dir/é"],
  targetRevision: ["", "main", "v1.2", "3f2c1d0", "release/1"],
  "destination.environment": ["", "prod-eu"],
  "destination.namespace": ["", "guestbook"],
  syncOptions: ["CreateNamespace=true", "CreateNamespace=false"],
  type: ["automated", "manual"],
  gitopsDeploymentName: ["guestbook"],
  revisionID: ["", "main", "3f2c1d0"],
  apiURL: ["https://api.prod.example:6443", "https://api.prod.example/clusters/a/"],
  credentialsSecret: ["prod-eu-creds"],
  namespaces: ["guestbook", "a", "b-1"],
  repository: ["https://git.example/jane/guestbook", "git@git.example:jane/x", "ssh://git@git.example/x"],
  secret: ["guestbook-repo"],
};

const schemas = kindSchemas();

/** A spec as a user means it. */
const goodSpec = (kind: Kind): fc.Arbitrary<unknown> => madeOf(schemas[kind].spec, "", goodText);

/** A spec whose shape is right and whose texts are anything. */
const hostileSpec = (kind: Kind): fc.Arbitrary<unknown> => madeOf(schemas[kind].spec, "", () => hostileText);

/** A spec that is right but for one thing, which may be anything, or missing. */
const almostGoodSpec = (kind: Kind): fc.Arbitrary<unknown> =>
  fc.tuple(goodSpec(kind), fc.nat(), fc.option(hostileValue, { nil: undefined })).map(([spec, where, value]) => {
    const places = [...placesOf(spec)];
    return replaced(spec, places[where % places.length] ?? [], value);
  });

/** Specs of one kind in all degrees of wrong, made from its schema: a field that is new there is new here. */
export const anySpec = (kind: Kind): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 1, arbitrary: goodSpec(kind) },
    { weight: 4, arbitrary: almostGoodSpec(kind) },
    { weight: 4, arbitrary: hostileSpec(kind) },
    { weight: 1, arbitrary: hostileValue },
  );

function goodText(path: string): fc.Arbitrary<string> {
  const found = Object.entries(GOOD).find(([end]) => path === end || path.endsWith(`.${end}`));
  return fc.constantFrom(...((found?.[1] ?? ["text"]) as readonly string[]));
}

function madeOf(schema: CrdSchema, path: string, textAt: (path: string) => fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const properties = schema["properties"] as Readonly<Record<string, CrdSchema>> | undefined;
  switch (schema["type"]) {
    case "object": {
      const fields = Object.entries(properties ?? {}).map(([name, each]) => [name, madeOf(each, `${path}.${name}`, textAt)] as const);
      return fc.record(Object.fromEntries(fields), { requiredKeys: (schema["required"] ?? []) as string[] });
    }
    case "array":
      return fc.array(madeOf(schema["items"] as CrdSchema, path, textAt), { maxLength: 4 });
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.nat({ max: 2_147_483_647 });
    default:
      return textAt(path);
  }
}

type Place = readonly (string | number)[];

function* placesOf(value: unknown, at: Place = []): Generator<Place> {
  yield at;
  if (value === null || typeof value !== "object") return;
  for (const [key, each] of Object.entries(value)) yield* placesOf(each, [...at, Array.isArray(value) ? Number(key) : key]);
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((each: unknown, index) => (index === key ? replaced(each, rest, by) : each));
  const fields = Object.entries(value as Readonly<Record<string, unknown>>).map(([name, each]) => [
    name,
    name === key ? replaced(each, rest, by) : each,
  ]);
  return Object.fromEntries(fields.filter(([, each]) => each !== undefined));
}
