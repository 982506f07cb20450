/** A container image by its name, without the registry, and its tag. */
export interface Image {
  /** Last part of the repository: `argocd` of `quay.example/argoproj/argocd:v3.5.7@sha256:…`. */
  readonly name: string;
  readonly tag: string | undefined;
}

export function parseImage(reference: string): Image {
  const [withTag = ""] = reference.split("@");
  const last = withTag.slice(withTag.lastIndexOf("/") + 1);
  const [name = "", tag] = last.split(":");
  return { name, tag };
}
