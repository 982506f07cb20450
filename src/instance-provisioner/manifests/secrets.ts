import type { EngineObject } from "../../domain/engine.ts";
import { REDIS, REPO_SERVER_MTLS, REPO_SERVER_TLS } from "./names.ts";
import { secret } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";
import { hasMutualTls } from "./version.ts";

export function renderSecrets({ instance, release, secrets }: ManifestParameters): readonly EngineObject[] {
  const { authority, server, client } = secrets.certificates;
  const mutual = { "client-ca.crt": authority, "client.crt": client.certificate, "client.key": client.key, "server-ca.crt": authority };
  return [
    // Without this key a change of argocd-cm is read and thrown away.
    secret(instance, "argocd-secret", { "server.secretkey": secrets.serverSecretKey }),
    secret(instance, REDIS, { auth: secrets.redisPassword }),
    secret(instance, REPO_SERVER_TLS, { "tls.crt": server.certificate, "tls.key": server.key, "ca.crt": authority }),
    ...(hasMutualTls(release.version) ? [secret(instance, REPO_SERVER_MTLS, mutual)] : []),
  ];
}
