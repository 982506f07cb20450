/** What is known of an Argo CD before its Applications are looked at. */
interface AdoptedFrom {
  readonly namespace: string;
  /** Its settings; absent: there is none. */
  readonly settings: Readonly<Record<string, string>> | undefined;
  /** Those of the cluster it is on. */
  readonly namespaces: readonly { readonly name: string; readonly uid: string }[];
  /** Uid of the namespace `kube-system` of the cluster users' resources are on. */
  readonly clusterUid: string;
  readonly instanceNamespaces: readonly string[];
}

/**
 * What speaks against taking anything over from an Argo CD. It has to stand where users' resources do, or another fleet would be let loose there, and
 * instances have to find what it deploys tracked in their own way. The default of that differs between releases, so it has to be said.
 */
export function whyNotFrom(from: AdoptedFrom): { readonly message: string; readonly remedy: string } | undefined {
  const { namespace, settings, namespaces } = from;
  if (!namespaces.some(({ name, uid }) => name === "kube-system" && uid === from.clusterUid))
    return {
      message: "is on another cluster than users' resources are",
      remedy: "Give --kubeconfig, and --context, of the fleet's API cluster",
    };
  if (from.instanceNamespaces.includes(namespace))
    return { message: "is an instance of this fleet", remedy: "`argosy move` and `argosy drain` take from one instance to another" };
  if (settings === undefined) return { message: "there is no Argo CD in that namespace", remedy: "Name the namespace its argocd-cm is in" };
  if (settings["application.resourceTrackingMethod"] !== "annotation") {
    const remedy = "Say so there (it is the default from Argo CD 3.0 on) and sync what it then shows as OutOfSync";
    return { message: "does not say application.resourceTrackingMethod: annotation", remedy };
  }
  if ((settings["installationID"] ?? "") === "") return undefined;
  return { message: "has an installationID, which what it deploys is tracked by", remedy: "Take it out, and sync what is then OutOfSync" };
}
