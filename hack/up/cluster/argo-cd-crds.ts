import { join } from "node:path";
import process from "node:process";
import { InputError } from "../../../src/domain/errors.ts";
import { goSet } from "../../dev-cluster/go-sets.ts";
import { findGo, runGo } from "../../dev-cluster/go-toolchain.ts";

/**
 * The directory with the CRDs of a release: the one in ARGOSY_ARGO_CD_CRDS, else that of the Go module of the
 * release. Throws `InputError` if there is neither.
 */
export async function argoCdCrds(version: string, signal: AbortSignal): Promise<string> {
  const named = process.env["ARGOSY_ARGO_CD_CRDS"];
  if (named !== undefined) return named;
  const { directory } = goSet(`argo-cd-${version}`);
  const module = await findGo().then(
    (go) => runGo(go, { directory, args: ["mod", "download", "-json", "github.com/argoproj/argo-cd/v3"] }, signal),
    () => undefined,
  );
  if (module !== undefined) return join((JSON.parse(module) as { readonly Dir: string }).Dir, "manifests", "crds");
  throw new InputError(`the CustomResourceDefinitions of Argo CD ${version} are not at hand`, {
    code: "up.no-crds",
    path: "ARGOSY_ARGO_CD_CRDS",
    remedy: "Name the directory manifests/crds of that release's source in ARGOSY_ARGO_CD_CRDS, or install Go",
  });
}
