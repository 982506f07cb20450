import { type Address, type AddressRange, FAMILIES, type Family, formatAddress, formatRange, isWholeFamily } from "./addresses.ts";
import { type AddressRule, mergePorts, type NodeRules, type PolicyRules } from "./plan-rules.ts";
import type { Direction, NamedPort, NumberedPorts, Protocol } from "./policy.ts";

export const TABLE = "argosy_policies";
/** The chain through which the kernel enters the table. */
export const ENTRY_CHAIN = "forward";

/** nft(8) refuses longer comments than 128 bytes. */
const LONGEST_COMMENT = 120;

/**
 * Writes rules as one script for `nft -f`. The kernel takes over all of it at once or none, in place of what the table held, so there is no
 * moment without rules, and loading it twice is the same as once.
 *
 * A packet meets the same few rules however many pods there are: sets say whether an address is known, maps say which chain judges it. The
 * chain of a group of pods asks the chain of each policy that selects them; what none of them allows is dropped. What egress allows goes on to
 * `ingress`; what that allows leaves the table. Targets are judged after the translation of Services' addresses, which happens before the
 * forward hook.
 */
export function renderRules(rules: NodeRules): string {
  const body = [...sets(rules), ...maps(rules), ...fixedChains(rules), ...chainsOf(rules, "egress"), ...chainsOf(rules, "ingress")];
  const lines = [`add table inet ${TABLE}`, `delete table inet ${TABLE}`, `table inet ${TABLE} {`, ...body.map(indent), "}", ""];
  return lines.join("\n");
}

const ip = (family: Family): string => (family === 4 ? "ip" : "ip6");
const indent = (line: string): string => (line === "" ? "" : `  ${line}`);
const ofFamily = <T extends { readonly family: Family }>(list: readonly T[], family: Family): readonly T[] =>
  list.filter((each) => each.family === family);

interface SetText {
  readonly kind?: "set" | "map";
  readonly name: string;
  readonly type: string;
  readonly isInterval?: boolean;
  readonly elements: readonly string[];
}

function setText({ kind = "set", name, type, isInterval = false, elements }: SetText): readonly string[] {
  const list = elements.map((element) => `  ${element},`);
  return [
    `${kind} ${name} {`,
    `  type ${type}`,
    ...(isInterval ? ["  flags interval"] : []),
    ...(list.length === 0 ? [] : ["  elements = {", ...list.map(indent), "  }"]),
    "}",
  ];
}

function sets(rules: NodeRules): readonly string[] {
  return FAMILIES.flatMap((family) => [
    ...rangeSet("trusted", family, rules.trustedSources),
    ...rangeSet("pod_ranges", family, rules.podRanges),
    ...addressSet("pods", family, rules.pods),
    ...setText({
      ...{ name: `own_v${family}`, type: `ipv${family}_addr . ipv${family}_addr` },
      elements: ofFamily(rules.pods, family).map((each) => `${formatAddress(each)} . ${formatAddress(each)}`),
    }),
    ...addressSet("closed", family, rules.closed),
    ...rules.namedPorts.flatMap(({ protocol, name, targets }) =>
      setText({
        ...{ name: namedPortSet({ protocol, name }, family), type: `ipv${family}_addr . inet_service` },
        elements: targets.filter(({ address }) => address.family === family).map((each) => `${formatAddress(each.address)} . ${each.port}`),
      }),
    ),
    ...(["egress", "ingress"] as const).flatMap((direction) => peerSets(rules, direction, family)),
  ]);
}

function addressSet(name: string, family: Family, addresses: readonly Address[]): readonly string[] {
  const elements = ofFamily(addresses, family).map(formatAddress);
  return setText({ name: `${name}_v${family}`, type: `ipv${family}_addr`, elements });
}

function rangeSet(name: string, family: Family, ranges: readonly AddressRange[]): readonly string[] {
  const elements = ofFamily(ranges, family).map(formatRange);
  return setText({ name: `${name}_v${family}`, type: `ipv${family}_addr`, isInterval: true, elements });
}

function peerSets(rules: NodeRules, direction: Direction, family: Family): readonly string[] {
  return rules[direction].policies.flatMap((policy, at) =>
    policy.rules.flatMap(({ peers }, rule) => {
      if (peers === "any") return [];
      const ranges = ofFamily(peers, family);
      return ranges.length === 0 || ranges.some(isWholeFamily) ? [] : rangeSet(peerSet(direction, at, rule), family, ranges);
    }),
  );
}

const policyChain = (direction: Direction, at: number): string => `${direction}_policy_${at + 1}`;
const groupChain = (direction: Direction, at: number): string => `${direction}_group_${at + 1}`;
const peerSet = (direction: Direction, policy: number, rule: number): string => `${policyChain(direction, policy)}_rule_${rule + 1}`;
const namedPortSet = ({ protocol, name }: NamedPort, family: Family): string => `port_${protocol.toLowerCase()}_${name}_v${family}`;

/** Which chain judges the connections of each isolated pod. */
function maps(rules: NodeRules): readonly string[] {
  return FAMILIES.flatMap((family) =>
    (["egress", "ingress"] as const).flatMap((direction) =>
      setText({
        ...{ kind: "map", name: `${direction}_of_v${family}`, type: `ipv${family}_addr : verdict` },
        elements: rules[direction].groups.flatMap(({ pods }, at) =>
          ofFamily(pods, family).map((pod) => `${formatAddress(pod)} : goto ${groupChain(direction, at)}`),
        ),
      }),
    ),
  );
}

/** Chains that are always there. They name sets and maps that may be empty. */
function fixedChains({ trustedSources }: NodeRules): readonly string[] {
  const everyFamily = (line: (ip: string, suffix: string) => readonly string[]) =>
    FAMILIES.flatMap((family) => line(ip(family), `v${family}`));
  return [
    ...chain(ENTRY_CHAIN, [
      "type filter hook forward priority filter; policy accept;",
      "ct state established,related accept",
      // Bridged packets pass this hook too, and without these an IPv6 pod would find no neighbour.
      "icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept",
      // Many pods at once, and addresses that no pod is known by: neither can be judged.
      "ip daddr { 224.0.0.0/4, 255.255.255.255 } drop",
      "ip6 daddr { fe80::/10, ff00::/8 } drop",
      "ip6 saddr fe80::/10 drop",
      ...everyFamily((at, suffix) => [`${at} saddr @closed_${suffix} drop`, `${at} daddr @closed_${suffix} drop`]),
      ...everyFamily((at, suffix) => [`${at} saddr . ${at} daddr @own_${suffix} accept`]),
      ...everyFamily((at, suffix) => [
        `${at} saddr @pod_ranges_${suffix} ${at} saddr != @pods_${suffix} counter drop`,
        `${at} daddr @pod_ranges_${suffix} ${at} daddr != @pods_${suffix} counter drop`,
      ]),
      ...everyFamily((at, suffix) => [`${at} saddr vmap @egress_of_${suffix}`]),
      "goto ingress",
    ]),
    ...chain("ingress", [
      ...(trustedSources.length === 0 ? [] : everyFamily((at, suffix) => [`${at} saddr @trusted_${suffix} accept`])),
      ...everyFamily((at, suffix) => [`${at} daddr vmap @ingress_of_${suffix}`]),
      "accept",
    ]),
  ];
}

function chain(name: string, lines: readonly string[]): readonly string[] {
  return ["", `chain ${name} {`, ...lines.map(indent), "}"];
}

function chainsOf(rules: NodeRules, direction: Direction): readonly string[] {
  const { groups, policies } = rules[direction];
  const verdict = direction === "egress" ? "goto ingress" : "accept";
  return [
    ...groups.flatMap((group, at) =>
      chain(groupChain(direction, at), [...group.policies.map((policy) => `jump ${policyChain(direction, policy)}`), "counter drop"]),
    ),
    ...policies.flatMap((policy, at) =>
      chain(policyChain(direction, at), [
        `comment "${commentOf(policy)}"`,
        ...policy.rules.flatMap((rule, position) =>
          matches(rule, direction, { rules, peers: peerSet(direction, at, position) }).map((match) =>
            [...match, verdict].filter((part) => part !== "").join(" "),
          ),
        ),
      ]),
    ),
  ];
}

/** Names of objects hold nothing else; a quotation mark would end the comment. */
function commentOf({ namespace, name }: PolicyRules): string {
  return `${namespace}/${name}`.replaceAll(/[^\w./-]/g, "?").slice(0, LONGEST_COMMENT);
}

/** The conditions of a rule, one list for each line that it takes. */
function matches(
  rule: AddressRule,
  direction: Direction,
  names: { readonly rules: NodeRules; readonly peers: string },
): readonly (readonly string[])[] {
  const field = direction === "ingress" ? "saddr" : "daddr";
  const peers = peerMatches(rule, field, names.peers);
  if (rule.ports === "any") return peers.map(({ match }) => [match]);
  const numbered = mergePorts(rule.ports.flatMap((port) => ("name" in port ? [] : [port])));
  const named = rule.ports.flatMap((port) => ("name" in port ? [port] : []));
  const protocols = [...new Set(numbered.map(({ protocol }) => protocol))];
  return [
    ...protocols.flatMap((protocol) => peers.map(({ match }) => [match, portMatch(protocol, numbered)])),
    ...named.flatMap((port) =>
      peers.flatMap(({ match, families }) =>
        families.map((family) => [match, `${ip(family)} daddr . ${port.protocol.toLowerCase()} dport @${namedPortSet(port, family)}`]),
      ),
    ),
  ];
}

/** How peers are recognised: one condition for each family of addresses that they have. */
function peerMatches({ peers }: AddressRule, field: "saddr" | "daddr", set: string) {
  if (peers === "any") return [{ match: "", families: FAMILIES }];
  return FAMILIES.flatMap((family) => {
    const ranges = ofFamily(peers, family);
    if (ranges.length === 0) return [];
    const match = ranges.some(isWholeFamily) ? `meta nfproto ipv${family}` : `${ip(family)} ${field} @${set}_v${family}`;
    return [{ match, families: [family] }];
  });
}

function portMatch(protocol: Protocol, ports: readonly NumberedPorts[]): string {
  const own = ports.filter((each) => each.protocol === protocol);
  if (own.some(({ first, last }) => first === 0 && last === 65_535)) return `meta l4proto ${protocol.toLowerCase()}`;
  const list = own.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
  return `${protocol.toLowerCase()} dport ${list.length === 1 ? list[0] : `{ ${list.join(", ")} }`}`;
}
