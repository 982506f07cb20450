import { asArray, asObject, asString } from "../domain/json.ts";
import { FIELD_MANAGER } from "../domain/names.ts";
import type { PolicyRule } from "./deployer-rules.ts";
import type { ObservedObject } from "./managed-object.ts";
import { parseObject } from "./parse-object.ts";

/** A Role that names the accounts somebody may impersonate. */
export interface ObservedRole extends ObservedObject {
  readonly resourceNames: ReadonlySet<string>;
}

/** Who wrote to an object last beside us, in the words of the API server; the name is the writer's own choice. */
export interface LastWrite {
  readonly manager: string;
  readonly operation: string;
  /** RFC 3339; empty where it is not given. */
  readonly at: string;
}

/** A RoleBinding, and who else wrote to it. */
export interface ObservedBinding extends ObservedObject {
  readonly lastWrite: LastWrite | undefined;
}

export function parseBinding(raw: unknown): ObservedBinding | undefined {
  const object = parseObject("binding", raw);
  return object === undefined ? undefined : { ...object, lastWrite: parseLastWrite(asObject(asObject(raw)["metadata"])["managedFields"]) };
}

/** Longer names are cut: whoever writes may choose them. */
const LONGEST_NAME = 100;

function parseLastWrite(raw: unknown): LastWrite | undefined {
  const writes = asArray(raw)
    .map(asObject)
    .map((entry) => ({ manager: plain(entry["manager"]), operation: plain(entry["operation"]), at: plain(entry["time"]) }))
    .filter(({ manager }) => manager !== FIELD_MANAGER);
  return writes.reduce<LastWrite | undefined>((last, write) => (last === undefined || write.at >= last.at ? write : last), undefined);
}

/** Printable ASCII of bounded length: it goes to people's terminals. */
function plain(raw: unknown): string {
  return asString(raw)
    .slice(0, LONGEST_NAME)
    .replaceAll(/[^ -~]|"/g, "?");
}

export function parseRole(raw: unknown): ObservedRole | undefined {
  const object = parseObject("role", raw);
  if (object === undefined) return undefined;
  return { ...object, resourceNames: new Set(parseRules(asObject(raw)["rules"]).flatMap((rule) => rule.resourceNames)) };
}

/** Rules of a role; entries of a wrong shape count as empty. */
export function parseRules(raw: unknown): readonly (PolicyRule & { readonly resourceNames: readonly string[] })[] {
  return asArray(raw).map((entry) => {
    const rule = asObject(entry);
    return {
      apiGroups: strings(rule["apiGroups"]),
      resources: strings(rule["resources"]),
      verbs: strings(rule["verbs"]),
      resourceNames: strings(rule["resourceNames"]),
    };
  });
}

function strings(raw: unknown): readonly string[] {
  return asArray(raw).filter((entry) => typeof entry === "string");
}
