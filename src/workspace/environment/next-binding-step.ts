import type { OwnerRoleBinding } from "../../domain/environment.ts";
import { canonicalJson } from "../../domain/hash.ts";
import { asArray, asObject } from "../../domain/json.ts";
import { ANNOTATION_EPOCH } from "../../domain/names.ts";

/** What is kept of a binding, or an account, that was seen on a user's cluster: all of it is a stranger's word. */
export interface SeenMark {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent: it says none, or nothing that is one. */
  readonly epoch: number | undefined;
  readonly isDeleting: boolean;
}

export interface SeenBinding extends SeenMark {
  /** Hashable texts of whom it binds, and to what. */
  readonly subjects: string;
  readonly roleRef: string;
  readonly hasAnnotations: boolean;
}

/** The next step that makes an owner binding say what it should. */
export type BindingStep =
  | { readonly kind: "done" }
  | { readonly kind: "create" }
  | {
      readonly kind: "patch";
      readonly patch: readonly { readonly op: "test" | "add"; readonly path: string; readonly value: unknown }[];
    }
  /** It binds to another role, which cannot be changed. */
  | { readonly kind: "delete"; readonly preconditions: Pick<SeenMark, "uid" | "resourceVersion"> }
  /** It is on its way out. */
  | { readonly kind: "wait" }
  /** A newer epoch wrote it. */
  | { readonly kind: "fenced" };

/** Decides it from what was seen there. Nothing that a newer epoch than `epoch` wrote is touched, and every write tests what was seen. */
export function nextBindingStep(desired: OwnerRoleBinding, epoch: number, seen: SeenBinding | undefined): BindingStep {
  if (seen === undefined) return { kind: "create" };
  if ((seen.epoch ?? 0) > epoch) return { kind: "fenced" };
  if (seen.isDeleting) return { kind: "wait" };
  const { uid, resourceVersion } = seen;
  if (seen.roleRef !== roleText(desired.roleRef)) return { kind: "delete", preconditions: { uid, resourceVersion } };
  if (seen.epoch === epoch && seen.subjects === subjectsText(desired.subjects)) return { kind: "done" };
  return {
    kind: "patch",
    patch: [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
      seen.hasAnnotations
        ? { op: "add", path: `/metadata/annotations/${ANNOTATION_EPOCH.replace("/", "~1")}`, value: String(epoch) }
        : { op: "add", path: "/metadata/annotations", value: { [ANNOTATION_EPOCH]: String(epoch) } },
      { op: "add", path: "/subjects", value: desired.subjects },
    ],
  };
}

/** Reads identity and epoch of an object; `undefined` for what is no object. */
export function parseMark(raw: unknown): SeenMark | undefined {
  const metadata = asObject(asObject(raw)["metadata"]);
  const { uid, resourceVersion, deletionTimestamp } = metadata;
  if (typeof uid !== "string" || typeof resourceVersion !== "string") return undefined;
  const epoch = asObject(metadata["annotations"])[ANNOTATION_EPOCH];
  const isEpoch = typeof epoch === "string" && /^\d{1,15}$/.test(epoch);
  return { uid, resourceVersion, epoch: isEpoch ? Number(epoch) : undefined, isDeleting: deletionTimestamp !== undefined };
}

export function parseClusterBinding(raw: unknown): SeenBinding | undefined {
  const mark = parseMark(raw);
  if (mark === undefined) return undefined;
  const { subjects, roleRef, metadata } = asObject(raw);
  const hasAnnotations = Object.keys(asObject(asObject(metadata)["annotations"])).length > 0;
  return { ...mark, subjects: subjectsText(asArray(subjects)), roleRef: roleText(roleRef), hasAnnotations };
}

function subjectsText(subjects: readonly unknown[]): string {
  return canonicalJson(
    subjects.map((subject) => {
      const { kind, name, namespace } = asObject(subject);
      return [String(kind), String(name), String(namespace)];
    }),
  );
}

function roleText(roleRef: unknown): string {
  const { kind, name } = asObject(roleRef);
  return canonicalJson([String(kind), String(name)]);
}
