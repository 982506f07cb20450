import type { Released } from "./release.ts";
import type { Verdict } from "./verify.ts";

/** What a person reads after a release was made. */
export function renderReleased({ version, commit, directory, images, files, isSigned }: Released): string {
  const digests = Object.entries(images).map(([platform, digest]) => `  ${platform}  ${digest}`);
  return [
    `Argosy ${version} of commit ${commit} is in ${directory}${isSigned ? "" : " (not signed: no --key was given)"}`,
    ...digests,
    ...files.filter((name) => !name.endsWith(".sig")).map((name) => `  ${name}`),
  ].join("\n");
}

/** What a person reads after a release was checked: one line for each thing that differs. */
export function renderVerdict({ version, files, isSignatureChecked, images, problems }: Verdict): string {
  if (problems.length > 0) return problems.map(({ file, what }) => `${file} ${what}`).join("\n");
  const signatures = isSignatureChecked ? "every file is signed by the owner of the key" : "signatures were not checked: give --public-key";
  const digests = Object.entries(images).map(([platform, digest]) => `  ${platform}  ${digest}`);
  return [`Argosy ${version ?? ""}: ${files.length} files are as they were made; ${signatures}`, ...digests].join("\n");
}
