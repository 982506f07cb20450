import { join } from "node:path";
import { buildSet } from "../hack/dev-cluster/build.ts";
import { createAuthority, issueServer } from "../hack/dev-cluster/x509.ts";
import { type GitServer, startGitServer } from "../hack/git-server/git-server.ts";
import { type GitSshServer, startGitSshServer } from "../hack/git-server/git-ssh-server.ts";

/** Repositories that may require credentials. */
export interface PrivateGit {
  readonly https: GitServer;
  readonly ssh: GitSshServer;
  /** What the fleet has to declare to reach them. */
  readonly trust: {
    readonly certificateAuthorities: readonly { readonly host: string; readonly certificates: string }[];
    readonly sshKnownHosts: string;
  };
  stop(): Promise<void>;
}

/** Serves one folder of repositories, over TLS with an unknown authority, and over SSH. */
export async function startPrivateGit(directory: string, signal: AbortSignal): Promise<PrivateGit> {
  const repositories = join(directory, "private-git");
  const subject = { commonName: "e2e git" };
  const authority = createAuthority(subject);
  const tls = issueServer(authority, { subject, names: ["127.0.0.1"] });
  const https = await startGitServer({ directory: repositories, tls });
  const ssh = await startGitSshServer(
    { repositories, directory: join(directory, "git-ssh"), programs: await buildSet("tools", {}, signal) },
    signal,
  );
  return {
    ...{ https, ssh },
    trust: { certificateAuthorities: [{ host: "127.0.0.1", certificates: authority.cert }], sshKnownHosts: `${ssh.knownHost}\n` },
    stop: async () => void (await Promise.all([https.stop(), ssh.stop()])),
  };
}
