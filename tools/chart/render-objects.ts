import { stringify } from "yaml";
import { renderFlows } from "../../src/cli/install/flows.ts";
import type { InstallObject } from "../../src/cli/install/install-object.ts";
import { renderPolicies } from "../../src/cli/install/policies.ts";
import { type AccountLayout, renderAccounts, renderApiClusterBase, renderTokenReviewRights } from "../../src/cli/install/roles.ts";
import { DEPLOYER_ROLE, SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { renderCrds } from "../../src/workspace/api/crd.ts";

/** Files of the chart that are generated from the program: path below charts/argosy and text. */
export type ChartFiles = Readonly<Record<string, string>>;

/** Helm leaves these where they are when the release is uninstalled: what instances and users go on needing. */
const KEPT = { "helm.sh/resource-policy": "keep" };
/**
 * Helm makes these before an installation and knows no more of them: no upgrade and no rollback changes them. The template asks before whether
 * they are there. After the pod that migrates, whose weight is less: a database that cannot be used leaves nothing.
 */
const MADE_ONCE = { "helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "5" };
const HEAD = "# Generated from the program's own objects; `ARGOSY_WRITE_GOLDEN=1 npm test -- tools/chart` writes it anew.\n";

/** The users' kinds, one file for each. */
export function renderDefinitions(): ChartFiles {
  return Object.fromEntries(
    renderCrds().map((crd) => [`files/definitions/${crd.metadata.name}.yaml`, renderObjects(annotated([crd], KEPT))]),
  );
}

/** Objects as one YAML stream. */
function renderObjects(objects: readonly InstallObject[]): string {
  return HEAD + objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join("---\n");
}

/** The objects with what Helm is to know of them. */
function annotated(objects: readonly InstallObject[], more: Readonly<Record<string, string>>): readonly InstallObject[] {
  return objects.map((object) => {
    const { annotations } = object.metadata as { readonly annotations?: Readonly<Record<string, string>> };
    return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...more } } } as InstallObject;
  });
}

const LAYOUTS: readonly AccountLayout[] = ["account-per-role", "one-account"];

/** Namespaces but the release's own, roles and accounts. */
export function renderRights(): ChartFiles {
  const base = renderApiClusterBase().filter(({ metadata }) => metadata.name !== SYSTEM_NAMESPACE);
  const isDeployer = ({ metadata }: InstallObject) => metadata.name === DEPLOYER_ROLE;
  const accounts = LAYOUTS.flatMap((layout) => {
    const here = renderAccounts(layout, { hostsInstances: false });
    const names = new Set(here.map(nameOf));
    const engine = renderAccounts(layout, { hostsInstances: true }).filter((object) => !names.has(nameOf(object)));
    return [
      [`files/accounts/${layout}/api-cluster.yaml`, renderObjects(here)] as const,
      [`files/accounts/${layout}/instances.yaml`, renderObjects(engine)] as const,
      [`files/accounts/${layout}/token-reviews.yaml`, renderObjects(renderTokenReviewRights(layout))] as const,
    ];
  });
  return {
    "files/base.yaml": renderObjects(
      annotated(
        base.filter((object) => !isDeployer(object)),
        KEPT,
      ),
    ),
    "files/admission-policies.yaml": renderObjects(renderPolicies()),
    "files/priority-levels.yaml": renderObjects(renderFlows()),
    "files/deployer-role.yaml": renderObjects(annotated(base.filter(isDeployer), MADE_ONCE)),
    ...Object.fromEntries(accounts),
  };
}

function nameOf({ kind, metadata }: InstallObject): string {
  return `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}
