import { InputError } from "../../../src/domain/errors.ts";
import { type AddressRange, isWithin, parseCidr, subtractRanges } from "./addresses.ts";
import { type LabelSelector, parseSelector } from "./label-selector.ts";
import { type Fields, readFields, readList, readOneOf, readPortNumber, readText, wrong } from "./read-fields.ts";

export const PROTOCOLS = ["TCP", "UDP", "SCTP"] as const;
export type Protocol = (typeof PROTOCOLS)[number];
export type Direction = "ingress" | "egress";

/** What a NetworkPolicy says. Several of them that select the same pod add up. */
export interface Policy {
  readonly namespace: string;
  readonly name: string;
  /** Pods of its namespace that it isolates in the directions it has. */
  readonly selector: LabelSelector;
  /** What it allows in a direction; absent: it does not isolate pods in this direction. */
  readonly ingress?: readonly PolicyRule[];
  readonly egress?: readonly PolicyRule[];
  /** What it says that could not be enforced as it is written. */
  readonly problems: readonly Problem[];
}

/** Connections that are allowed: with one of the peers, on one of the ports. */
export interface PolicyRule {
  readonly peers: "any" | readonly Peer[];
  readonly ports: "any" | readonly PolicyPort[];
}

export type Peer =
  | { readonly kind: "pods"; readonly namespaces: "own" | LabelSelector; readonly pods: LabelSelector }
  | { readonly kind: "addresses"; readonly ranges: readonly AddressRange[] };

export type PolicyPort = NumberedPorts | NamedPort;

/** Ports of one protocol from `first` to `last`, both included; 0 to 65535 are all. */
export interface NumberedPorts {
  readonly protocol: Protocol;
  readonly first: number;
  readonly last: number;
}

/** The port that containers of the connection's target call so. */
export interface NamedPort {
  readonly protocol: Protocol;
  readonly name: string;
}

/** Something that is not enforced as its author means it, and what happens instead. */
export interface Problem {
  readonly kind: "NetworkPolicy" | "Pod" | "Namespace";
  readonly namespace: string;
  readonly name: string;
  /** What is wrong, where, and what to do about it. */
  readonly message: string;
  readonly effect: string;
}

const DIRECTIONS = ["ingress", "egress"] as const;
const PORT_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const ALL_PORTS = { first: 0, last: 65_535 } as const;

/**
 * Parses a NetworkPolicy (networking.k8s.io/v1) and never throws: what is wrong with it becomes a problem, and less is allowed. A rule with a
 * mistake allows nothing. A policy whose selector cannot be read isolates every pod of its namespace. One that says something unknown about
 * itself, or whose directions cannot be read, isolates in both.
 */
export function parsePolicy(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): Policy {
  const { name, namespace = "" } = object.metadata;
  const problems: Problem[] = [];
  const attempt = <T>(effect: string, parse: () => T): T | undefined => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push({ kind: "NetworkPolicy", namespace, name, message: `${error.message}: ${error.remedy}`, effect });
      return undefined;
    }
  };
  const spec = attempt("it allows nothing, in both directions", () =>
    readFields((object as { readonly spec?: unknown }).spec ?? {}, "spec", ["podSelector", "policyTypes", ...DIRECTIONS]),
  );
  const fallback = readableSpec(object);
  const selector =
    attempt("it isolates every pod of its namespace", () => parseSelector(fallback["podSelector"] ?? {}, "spec.podSelector")) ?? [];
  const directions = spec === undefined ? DIRECTIONS : (attempt("it isolates in both directions", () => directionsOf(spec)) ?? DIRECTIONS);
  const rulesOf = (direction: Direction): readonly PolicyRule[] => {
    const path = `spec.${direction}`;
    const rules = attempt(`it allows no ${direction}`, () => readList(spec?.[direction], path)) ?? [];
    return rules.flatMap((rule, at) => attempt("this rule allows nothing", () => parseRule(rule, direction, `${path}[${at}]`)) ?? []);
  };
  const sections = directions.map((direction) => [direction, rulesOf(direction)] as const);
  return { namespace, name, selector, ...Object.fromEntries(sections), problems };
}

/** The fields of a specification, also of one that has unknown ones. */
function readableSpec(object: object): Fields {
  const { spec } = object as { readonly spec?: unknown };
  return typeof spec === "object" && spec !== null && !Array.isArray(spec) ? (spec as Fields) : {};
}

/** Where no type is named, a policy isolates for ingress, and for egress if it has a rule for that: as the API server defaults it. */
function directionsOf(spec: Fields): readonly Direction[] {
  const types = readList(spec["policyTypes"], "spec.policyTypes");
  if (types.length === 0) return readList(spec["egress"], "spec.egress").length > 0 ? DIRECTIONS : ["ingress"];
  const named = new Set(types.map((type, at) => readOneOf(type, `spec.policyTypes[${at}]`, ["Ingress", "Egress"])));
  return DIRECTIONS.filter((direction) => named.has(direction === "ingress" ? "Ingress" : "Egress"));
}

function parseRule(value: unknown, direction: Direction, path: string): PolicyRule {
  const peersField = direction === "ingress" ? "from" : "to";
  const fields = readFields(value, path, [peersField, "ports"]);
  const peers = readList(fields[peersField], `${path}.${peersField}`);
  const ports = readList(fields["ports"], `${path}.ports`);
  return {
    peers: peers.length === 0 ? "any" : peers.map((peer, at) => parsePeer(peer, `${path}.${peersField}[${at}]`)),
    ports: ports.length === 0 ? "any" : ports.map((port, at) => parsePort(port, `${path}.ports[${at}]`)),
  };
}

function parsePeer(value: unknown, path: string): Peer {
  const fields = readFields(value, path, ["podSelector", "namespaceSelector", "ipBlock"]);
  const [pods, namespaces, block] = ["podSelector", "namespaceSelector", "ipBlock"].map((name) => fields[name] ?? undefined);
  if (block !== undefined) {
    if (pods !== undefined || namespaces !== undefined) throw wrong(path, "has an ipBlock and a selector", "make two peers of them");
    return { kind: "addresses", ranges: parseBlock(block, `${path}.ipBlock`) };
  }
  if (pods === undefined && namespaces === undefined) throw wrong(path, "names nobody", "set podSelector, namespaceSelector or ipBlock");
  return {
    kind: "pods",
    namespaces: namespaces === undefined ? "own" : parseSelector(namespaces, `${path}.namespaceSelector`),
    pods: pods === undefined ? [] : parseSelector(pods, `${path}.podSelector`),
  };
}

function parseBlock(value: unknown, path: string): readonly AddressRange[] {
  const fields = readFields(value, path, ["cidr", "except"]);
  const block = readCidr(fields["cidr"], `${path}.cidr`);
  const except = readList(fields["except"], `${path}.except`).map((each, at) => {
    const range = readCidr(each, `${path}.except[${at}]`);
    if (!isWithin(block, range))
      throw wrong(`${path}.except[${at}]`, `is not within ${String(fields["cidr"])}`, "except a part of the block");
    return range;
  });
  return subtractRanges(block, except);
}

function readCidr(value: unknown, path: string): AddressRange {
  const range = parseCidr(readText(value, path));
  if (range === undefined) throw wrong(path, `is ${JSON.stringify(value)}`, "write an address, a slash and the length of the prefix");
  return range;
}

function parsePort(value: unknown, path: string): PolicyPort {
  const fields = readFields(value, path, ["protocol", "port", "endPort"]);
  const protocol = readOneOf(fields["protocol"] ?? "TCP", `${path}.protocol`, PROTOCOLS);
  const [port, endPort] = [fields["port"] ?? undefined, fields["endPort"] ?? undefined];
  if (endPort !== undefined && typeof port !== "number")
    throw wrong(`${path}.endPort`, "has no number to begin with", "set port to a number");
  if (port === undefined) return { protocol, ...ALL_PORTS };
  if (typeof port === "string") return { protocol, name: readPortName(port, `${path}.port`) };
  const first = readPortNumber(port, `${path}.port`);
  const last = endPort === undefined ? first : readPortNumber(endPort, `${path}.endPort`);
  if (last < first) throw wrong(`${path}.endPort`, `is below ${first}`, "set it to port or more");
  return { protocol, first, last };
}

function readPortName(name: string, path: string): string {
  if (name.length > 15 || !PORT_NAME.test(name) || !/[a-z]/.test(name))
    throw wrong(path, `is ${JSON.stringify(name)}`, "use a number, or the name of a container's port");
  return name;
}
