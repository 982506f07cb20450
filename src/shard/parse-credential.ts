import { millis } from "../domain/clock.ts";
import type { EnvironmentCredential } from "../domain/environment.ts";
import { asObject, asString, type Json } from "../domain/json.ts";

/** Reads a stored credential; `undefined` for what is none, or belongs to another server than `server`. */
export function parseCredential(stored: string | undefined, server: string): EnvironmentCredential | undefined {
  const source = asObject(stored === undefined ? undefined : parseJson(stored));
  if (source["server"] !== server) return undefined;
  const pair = asObject(source["certificate"]);
  const readAgainAt = source["readAgainAt"];
  const [cert, key] = [asString(pair["cert"]), asString(pair["key"])];
  return {
    server,
    ...texts(source, ["token", "ca", "serverName"]),
    ...(cert === "" || key === "" ? {} : { certificate: { cert, key } }),
    ...(typeof readAgainAt === "number" && Number.isSafeInteger(readAgainAt) ? { readAgainAt: millis(readAgainAt) } : {}),
  };
}

function texts<Name extends string>(source: Json, names: readonly Name[]): { readonly [Field in Name]?: string } {
  const present = names.filter((name) => asString(source[name]) !== "");
  return Object.fromEntries(present.map((name) => [name, asString(source[name])])) as { readonly [Field in Name]?: string };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
