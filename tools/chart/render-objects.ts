import { stringify } from "yaml";
import type { InstallObject } from "../../src/cli/install/install-object.ts";
import { renderPolicies } from "../../src/cli/install/policies.ts";
import { type AccountLayout, renderAccounts, renderApiClusterBase } from "../../src/cli/install/roles.ts";
import { DEPLOYER_ROLE, SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { renderCrds } from "../../src/workspace/api/crd.ts";

/** Files of the chart that are generated from the program: path below charts/argosy and text. */
export type ChartFiles = Readonly<Record<string, string>>;

/** Helm leaves these where they are when the release is uninstalled: what instances and users go on needing. */
const KEEP = { "helm.sh/resource-policy": "keep" };
const HEAD = "# Generated from the program's own objects; `ARGOSY_WRITE_GOLDEN=1 npm test -- tools/chart` writes it anew.\n";

/** The users' kinds, one file for each. */
export function renderDefinitions(): ChartFiles {
  return Object.fromEntries(renderCrds().map((crd) => [`files/definitions/${crd.metadata.name}.yaml`, renderObjects([kept(crd)])]));
}

/** Objects as one YAML stream. */
function renderObjects(objects: readonly InstallObject[]): string {
  return HEAD + objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join("---\n");
}

/** The same object, which stays when the release goes. */
function kept(object: InstallObject): InstallObject {
  const { annotations } = object.metadata as { readonly annotations?: Readonly<Record<string, string>> };
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...KEEP } } } as InstallObject;
}

/**
 * The same object as one that Helm makes before an installation and knows no more of: no upgrade and no rollback changes it. The template asks
 * before whether it is there.
 */
function madeOnce(object: InstallObject): InstallObject {
  return {
    ...object,
    // After the pod that migrates, whose weight is less: a database that cannot be used leaves nothing.
    metadata: { ...object.metadata, annotations: { "helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "5" } },
  } as InstallObject;
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
    ];
  });
  return {
    "files/base.yaml": renderObjects(base.filter((object) => !isDeployer(object)).map(kept)),
    "files/admission-policies.yaml": renderObjects(renderPolicies()),
    "files/deployer-role.yaml": renderObjects(base.filter(isDeployer).map(madeOnce)),
    ...Object.fromEntries(accounts),
  };
}

function nameOf({ kind, metadata }: InstallObject): string {
  return `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}
