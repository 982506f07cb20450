import { parseIssuedToken } from "../../../domain/account-token.ts";
import type { Clock } from "../../../domain/clock.ts";
import { UnavailableError } from "../../../domain/errors.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { requestToken } from "../../../runtime/kube/request-token.ts";
import type { AccountTokens } from "../../port.ts";
import { ENGINE_SECRETS } from "./types.ts";

export function createAccountTokens({ client, clock }: { readonly client: KubeClient; readonly clock: Clock }): AccountTokens {
  return {
    async issue(account, lifeMs, signal) {
      const askedAt = clock.now();
      const issued = parseIssuedToken(await requestToken(client, account, lifeMs, signal), askedAt);
      if (issued !== undefined) return issued;
      throw new UnavailableError("asking for a token of an account", { code: "kube.undecodable", context: { ...account } });
    },
    // Its name is that of the account, in a namespace where everything is ours: it need not be read before.
    removeEndless: (account, signal) => client.delete(ENGINE_SECRETS, account, {}, signal),
  };
}
