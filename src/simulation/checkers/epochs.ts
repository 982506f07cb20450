import { ANNOTATION_EPOCH } from "../../domain/names.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";
import type { Checker } from "./checker.ts";

/** I7: no epoch is given out twice, a unit's owners have growing ones, and no object goes back to an older one while it lives. */
export function epochsGrow(): Checker {
  const given = new Set<number>();
  const last = new Map<string, number>();
  return {
    property: "I7",
    observe({ happening }) {
      if (happening.kind === "placed") {
        const { unit, epoch } = happening;
        const before = last.get(unit) ?? 0;
        const isNew = !given.has(epoch) && epoch > before;
        given.add(epoch);
        last.set(unit, epoch);
        return isNew ? undefined : `unit ${unit} was placed under epoch ${epoch} after ${before}, or another unit has it`;
      }
      if (happening.kind !== "object" || happening.change !== "MODIFIED") return undefined;
      const [before, now] = [epochOf(happening.before), epochOf(happening.object)];
      const { by, resource, namespace, name } = happening;
      const goesBack = before !== undefined && (now === undefined || now < before) && by.startsWith("argosy-");
      return goesBack ? `${by} took ${resource} ${namespace}/${name} from epoch ${before} to ${now ?? "none"}` : undefined;
    },
  };
}

function epochOf(object: JsonMap | undefined): number | undefined {
  const epoch = annotationsOf(object)[ANNOTATION_EPOCH];
  return epoch === undefined ? undefined : Number(epoch);
}
