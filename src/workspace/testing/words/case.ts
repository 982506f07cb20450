import type { Condition } from "../../../domain/user-resource.ts";
import type { REASONS } from "../../api/reasons.ts";

/** One sentence users may read, how it comes about, and how it compares with the service of before. */
export interface WordsCase {
  readonly kind: keyof typeof REASONS;
  /** `Type=Status/Reason` of the condition it stands in. */
  readonly condition: string;
  readonly message: string;
  /** `same`: reason and words. `new`: it said nothing of the kind. */
  readonly compared: "same" | "better" | "different" | "new";
  readonly why: string;
  readonly said: () => readonly Condition[] | Promise<readonly Condition[]>;
}

/** Sentences of the service of before that are never said here, and why not. */
export interface Unsaid {
  readonly kind: keyof typeof REASONS;
  readonly words: string;
  readonly why: string;
}
