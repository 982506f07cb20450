import { RefusedError, UnavailableError } from "../../../../domain/errors.ts";
import type { KubeClient } from "../../../../runtime/kube/client.ts";
import type { TokenReviews } from "../../port.ts";

const AUTHENTICATION = "authentication.k8s.io/v1";
const TIMEOUT_MS = 5_000;
const MOST_GROUPS = 1000;

interface Review {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: { readonly username?: string; readonly groups?: readonly string[] };
  };
}

/** Asks an API server whose token one is. Needs the right to `create tokenreviews`. */
export function createTokenReviews(client: Pick<KubeClient, "request">, audiences: readonly string[]): TokenReviews {
  return {
    async review(token, signal) {
      const body = { apiVersion: AUTHENTICATION, kind: "TokenReview", spec: { token, audiences } };
      const path = `/apis/${AUTHENTICATION}/tokenreviews`;
      const request = { method: "POST", path, body, idempotent: true, timeoutMs: TIMEOUT_MS } as const;
      const { status } = await client.request<Review>(request, signal).catch((cause: unknown) => {
        if (!(cause instanceof RefusedError)) throw cause;
        throw new UnavailableError("asking the API cluster whose token one is", { code: "api.token-review", cause });
      });
      const { username = "", groups = [] } = status?.user ?? {};
      // A server that knows no audiences says yes and names none: the token may have been given to anybody.
      const isForUs = status?.audiences?.some((audience) => audiences.includes(audience)) === true;
      if (status?.authenticated === true && isForUs && /^[^\p{C}\p{Zl}\p{Zp}]{1,250}$/u.test(username))
        return { name: username, groups: groups.slice(0, MOST_GROUPS) };
      const how = `\`kubectl create token NAME --audience ${audiences[0] ?? ""}\` makes one`;
      const refused = `it has expired, its account is gone, or it is not for ${audiences.join(" or ")}; ${how}`;
      return { refused, isProven: false };
    },
  };
}
