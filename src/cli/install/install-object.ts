import { LABEL_MANAGED_BY, MANAGED_BY } from "../../domain/names.ts";

/** An object of the installation, ready to be applied. */
export interface InstallObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** What every such object carries. */
export const installLabels = { [LABEL_MANAGED_BY]: MANAGED_BY, "app.kubernetes.io/part-of": "argosy" };
