import type { PolicyRule } from "./deployer-rules.ts";
import type { ObservedObject } from "./managed-object.ts";
import { asArray, asObject, asString, parseObject } from "./parse-object.ts";

/** A Role that names the accounts somebody may impersonate. */
export interface ObservedRole extends ObservedObject {
  readonly resourceNames: ReadonlySet<string>;
}

/** A Secret that the cluster fills with a ServiceAccount's token; no token yet is `undefined`. */
export interface ObservedToken extends ObservedObject {
  readonly token: string | undefined;
}

export function parseRole(raw: unknown): ObservedRole | undefined {
  const object = parseObject("role", raw);
  if (object === undefined) return undefined;
  return { ...object, resourceNames: new Set(parseRules(asObject(raw)["rules"]).flatMap((rule) => rule.resourceNames)) };
}

export function parseToken(raw: unknown): ObservedToken | undefined {
  const object = parseObject("token", raw);
  if (object === undefined) return undefined;
  const encoded = asString(asObject(asObject(raw)["data"])["token"]);
  const token = encoded === "" ? undefined : Buffer.from(encoded, "base64").toString("utf8");
  return { ...object, token };
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
