import type { JsonMap } from "./json.ts";
import { isMap, mapAt } from "./json.ts";

export type Selector = (object: JsonMap) => boolean;

/** Parses a label selector (`a=b,c!=d,e in (f,g),h notin (i),j,!k`); `undefined` if the server would not understand it. */
export function parseLabelSelector(text: string): Selector | undefined {
  const parts = text === "" ? [] : text.split(/,(?![^(]*\))/).map((part) => parseRequirement(part.trim()));
  const requirements = parts.filter((part) => part !== undefined);
  if (requirements.length !== parts.length) return undefined;
  return (object) => {
    const labels = mapAt(mapAt(object, "metadata"), "labels");
    return requirements.every((holds) => holds(labels));
  };
}

function parseRequirement(text: string): ((labels: JsonMap) => boolean) | undefined {
  const set = /^([\w./-]+)\s+(in|notin)\s+\(([^()]*)\)$/.exec(text);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return (labels) => values.includes(String(labels[key] ?? "\0")) === (operator === "in");
  }
  const compared = /^([\w./-]+)\s*(==|=|!=)\s*([\w.-]*)$/.exec(text);
  if (compared !== null) {
    const [, key = "", operator, value] = compared;
    return (labels) => (labels[key] === value) === (operator !== "!=");
  }
  const exists = /^(!?)([\w./-]+)$/.exec(text);
  return exists === null ? undefined : (labels) => Object.hasOwn(labels, exists[2] ?? "") === (exists[1] === "");
}

/** Parses a field selector (`metadata.name=a,spec.nodeName!=b`); `undefined` if the server would not understand it. */
export function parseFieldSelector(text: string, isBuiltIn: boolean): Selector | undefined {
  const parts = text === "" ? [] : text.split(",").map((part) => /^([\w.]+)(==|=|!=)(.*)$/.exec(part.trim()));
  const known = (path: string) => isBuiltIn || path === "metadata.name" || path === "metadata.namespace";
  if (!parts.every((part) => part !== null && known(part[1] ?? ""))) return undefined;
  return (object) => parts.every((part) => (fieldAt(object, part?.[1] ?? "") === part?.[3]) === (part?.[2] !== "!="));
}

function fieldAt(object: JsonMap, path: string): string {
  const value = path.split(".").reduce<unknown>((parent, key) => (isMap(parent) ? parent[key] : undefined), object);
  return value === undefined || value === null ? "" : String(value);
}
