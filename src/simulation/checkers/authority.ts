import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { ANNOTATION_EPOCH, DEPLOYER_ROLE } from "../../domain/names.ts";
import { mapAt } from "../../runtime/kube/testing/json.ts";
import { accountName } from "../../shard/names.ts";
import { subjectsOf } from "../models/authority.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Checker } from "./checker.ts";

/** I1: the authoriser never lets in two accounts of ours at once. */
export function oneAuthority(): Checker {
  return {
    property: "I1",
    look({ happening }) {
      if (happening.kind !== "authority" || happening.accounts.length < 2) return undefined;
      return `in ${happening.namespace} may write: ${happening.accounts.join(", ")}`;
    },
  };
}

/** I8: whoever a register names is the account of the unit's owner by the rows, under its epoch. */
export function registersNameOwners(): Checker {
  const owners = new Map<string, Set<string>>();
  return {
    property: "I8",
    look({ happening }) {
      if (happening.kind === "placed") {
        const { namespace, unit, instance, epoch } = happening;
        const known = owners.get(namespace) ?? new Set();
        owners.set(namespace, known.add(`${accountName(unit as UnitId, instance as InstanceId)}@${epoch}`));
      }
      if (happening.kind !== "object" || happening.resource !== "rolebindings.rbac.authorization.k8s.io" || happening.change === "DELETED")
        return undefined;
      const { object, namespace } = happening;
      if (mapAt(object, "roleRef")["name"] !== DEPLOYER_ROLE) return undefined;
      const epoch = textAt(annotationsOf(object), ANNOTATION_EPOCH);
      const strangers = subjectsOf(object).filter((subject) => owners.get(namespace)?.has(`${subject}@${epoch}`) !== true);
      return strangers.length === 0 ? undefined : `the register of ${namespace} names ${strangers.join(", ")} under epoch ${epoch}`;
    },
  };
}
