import { type Address, compareAddresses, isInRanges } from "../addresses.ts";
import type { NodeRules } from "../plan-rules.ts";
import type { Direction, PolicyPort, Protocol } from "../policy.ts";

/** A connection by its first packet. */
export interface Connection {
  readonly source: Address;
  readonly target: Address;
  readonly protocol: Protocol;
  /** Port of the target. */
  readonly port: number;
}

/** Whether the rules let a new connection pass. It decides as the text of `render-rules.ts` makes the kernel decide, in the same order. */
export function isAllowed(rules: NodeRules, connection: Connection): boolean {
  const { source, target } = connection;
  if (isAmong(rules.closed, source) || isAmong(rules.closed, target)) return false;
  if (compareAddresses(source, target) === 0 && isAmong(rules.pods, source)) return true;
  if ([source, target].some((each) => isInRanges(rules.podRanges, each) && !isAmong(rules.pods, each))) return false;
  if (!isDirectionAllowed(rules, "egress", connection)) return false;
  return isInRanges(rules.trustedSources, source) || isDirectionAllowed(rules, "ingress", connection);
}

function isDirectionAllowed(rules: NodeRules, direction: Direction, connection: Connection): boolean {
  const [subject, peer] = direction === "egress" ? [connection.source, connection.target] : [connection.target, connection.source];
  const { groups, policies } = rules[direction];
  const group = groups.find(({ pods }) => isAmong(pods, subject));
  if (group === undefined) return true;
  return group.policies.some((at) =>
    policies[at]?.rules.some(
      ({ peers, ports }) =>
        (peers === "any" || isInRanges(peers, peer)) && (ports === "any" || ports.some((port) => isPort(rules, port, connection))),
    ),
  );
}

function isPort(rules: NodeRules, port: PolicyPort, { target, protocol, port: number }: Connection): boolean {
  if (port.protocol !== protocol) return false;
  if (!("name" in port)) return port.first <= number && number <= port.last;
  const named = rules.namedPorts.find((each) => each.protocol === protocol && each.name === port.name);
  return named?.targets.some((each) => each.port === number && compareAddresses(each.address, target) === 0) ?? false;
}

const isAmong = (addresses: readonly Address[], address: Address): boolean =>
  addresses.some((each) => compareAddresses(each, address) === 0);
