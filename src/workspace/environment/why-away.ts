import type { ProbeAnswer } from "./finding.ts";

/** Why nothing could be done on a cluster as its user, for people who run the fleet. */
export function whyAway(answer: ProbeAnswer): string {
  switch (answer.kind) {
    case "unreachable":
      return `no answer from its cluster (${answer.why})`;
    case "forbidden":
      return "the credentials of its user may not change service accounts, roles and role bindings there";
    case "refused":
    case "accepted":
      return "its cluster does not take the credentials of its user";
    case "untrusted":
      return "nobody vouches for the certificate of its cluster";
    case "inside":
    case "reserved":
      return "its address may not be reached";
  }
}
