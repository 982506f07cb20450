import { ANNOTATION_EPOCH } from "../../domain/names.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";
import type { Checker } from "./checker.ts";

/** I7: each placement has a larger epoch than every one before, and no object goes back to an older one while it lives. */
export function epochsGrow(): Checker {
  let last = 0;
  return {
    property: "I7",
    look({ happening }) {
      if (happening.kind === "placed") {
        const { unit, epoch } = happening;
        const before = last;
        last = Math.max(last, epoch);
        return epoch > before ? undefined : `unit ${unit} was placed under epoch ${epoch} after ${before} had been given out`;
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
