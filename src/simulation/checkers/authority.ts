import { ANNOTATION_EPOCH, DEPLOYER_ROLE } from "../../domain/names.ts";
import { mapAt } from "../../runtime/kube/testing/json.ts";
import type { Happening } from "../history.ts";
import { subjectsOf } from "../models/authority.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Checker } from "./checker.ts";
import { accountOf, createOwners } from "./owners.ts";
import { standingApplicationOf } from "./standing.ts";

/**
 * I1: while an API server of the users' cluster lets in one account of a unit, none lets in another one, and once an owner was let in,
 * nothing that its predecessor asked for is carried out any more. Accounts of two units are not two owners: a workspace may be in parts, and where an
 * API server stood still, a namespace that ended and was made anew may still let in the account of the former one.
 */
export function oneAuthority(): Checker {
  const units = createUnits();
  const latest = new Map<string, string>();
  const judgeAccounts = (namespace: string, accounts: readonly string[]): string | undefined => {
    for (const [unit, [only, ...others]] of Map.groupBy(accounts, units.of))
      if (only !== undefined && others.length === 0) latest.set(`${namespace} ${unit}`, only);
    const whose = new Set(accounts.map(units.of));
    return accounts.length > 1 && (whose.has("") || whose.size < accounts.length)
      ? `in ${namespace} may write: ${accounts.join(", ")}`
      : undefined;
  };
  return {
    property: "I1",
    observe({ happening }) {
      units.learn(happening);
      if (happening.kind === "authority") return judgeAccounts(happening.namespace, happening.accounts);
      if (happening.kind !== "engine-write" || !happening.taken) return undefined;
      const { namespace, account, instance } = happening;
      const now = latest.get(`${namespace} ${units.of(account)}`);
      return now === undefined || now === account ? undefined : `${instance} wrote in ${namespace} as ${account} when ${now} was let in`;
    },
  };
}

/** The unit of each account, as placements show it. An unknown account (empty) may belong to any unit. */
function createUnits() {
  const units = new Map<string, string>();
  return {
    learn(happening: Happening): void {
      if (happening.kind === "placed") units.set(accountOf(happening), happening.unit);
    },
    of: (account: string): string => units.get(account) ?? "",
  };
}

/**
 * I1 for each application: what the users' cluster carries out for it was asked for by the instance that owns its unit by the rows. Two parts of a
 * workspace may write in its namespace at the same time; this tells them apart.
 */
export function ownersWriteAlone(): Checker {
  const owners = createOwners();
  const instances = new Map<string, string>();
  const units = new Map<string, string>();
  return {
    property: "I1",
    observe({ happening }) {
      owners.learn(happening);
      if (happening.kind === "placed") instances.set(accountOf(happening), happening.instance);
      if (happening.kind === "passed") units.set(happening.application, happening.unit);
      const changed = standingApplicationOf(happening);
      // Its label follows what has passed, so only the first one tells.
      if (changed !== undefined && !units.has(changed.standing.name)) units.set(changed.standing.name, changed.standing.unit);
      if (happening.kind !== "engine-write" || !happening.taken) return undefined;
      const { application, account, namespace, instance } = happening;
      const owner = owners.of(units.get(application) ?? "")?.instance;
      const writer = instances.get(account);
      return owner === undefined || writer === undefined || owner === writer
        ? undefined
        : `${instance} wrote for ${application} in ${namespace} as ${account}, and another instance owns it`;
    },
  };
}

/** I8: an owner binding names nobody but the account of the unit's owner by the rows, under one of its epochs. During a move it may name nobody. */
export function ownerBindingsNameOwners(): Checker {
  const owners = createOwners();
  return {
    property: "I8",
    observe({ happening }) {
      owners.learn(happening);
      if (happening.kind !== "object" || happening.resource !== "rolebindings.rbac.authorization.k8s.io" || happening.change === "DELETED")
        return undefined;
      const { object, namespace } = happening;
      if (mapAt(object, "roleRef")["name"] !== DEPLOYER_ROLE) return undefined;
      const epoch = Number(textAt(annotationsOf(object), ANNOTATION_EPOCH));
      const ownedUnits = owners.inNamespace(namespace);
      const subjects = subjectsOf(object);
      const strangers = subjects.filter(
        (subject) => !ownedUnits.some((ownedUnit) => accountOf(ownedUnit) === subject && ownedUnit.epoch >= epoch),
      );
      if (strangers.length > 0) return `the owner binding of ${namespace} names ${strangers.join(", ")} under epoch ${epoch}`;
      const isTaken =
        subjects.length > 0 || ownedUnits.some(({ unit, epoch: newest }) => newest > epoch || owners.moveOf(unit)?.epoch === epoch);
      return isTaken ? undefined : `the owner binding of ${namespace} names nobody under epoch ${epoch}, and no move has taken it`;
    },
  };
}
