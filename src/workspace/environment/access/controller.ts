import { ENVIRONMENT_PURPOSE, type Environment } from "../../../domain/environment.ts";
import { canonicalJson } from "../../../domain/hash.ts";
import type { EnvironmentStore } from "../../../store/environment/port.ts";
import type { AccountAsk, createAccountController, Installed } from "../account/controller.ts";
import { hasOtherScope } from "../account-objects.ts";
import type { createAccountRemoval } from "../removal/controller.ts";

export interface AccessDeps {
  readonly environments: Pick<EnvironmentStore, "putCredential">;
  readonly accounts: ReturnType<typeof createAccountController>;
  readonly removal: ReturnType<typeof createAccountRemoval>;
}

/** What instances enter an environment with. */
export interface EnvironmentAccess {
  /** The user's own credential, or accounts. One is never widened, narrowed or carried elsewhere: the rights it had would stay. */
  provide(ask: AccountAsk, before: Environment | undefined, signal: AbortSignal): Promise<Installed>;
  /**
   * Takes away what nobody enters it with any more, once the row says what they do enter it with. False: not yet, for an instance may
   * still have it (`isNews`), or a unit is handed over there.
   */
  tidy(ask: AccountAsk, before: Environment | undefined, isNews: boolean, signal: AbortSignal): Promise<boolean>;
}

export function createEnvironmentAccess({ environments, accounts, removal }: AccessDeps): EnvironmentAccess {
  return {
    async provide(ask, before, signal) {
      if (!ask.wish.createsAccount) {
        const secret = { id: ask.id, use: { purpose: ENVIRONMENT_PURPOSE }, plaintext: canonicalJson(ask.credential) } as const;
        return { kind: "installed", fingerprint: await environments.putCredential(secret, signal) };
      }
      const isOther = before !== undefined && hasOtherScope(before, ask.wish);
      if (isOther && !(await removal.removeFormer(before, ask, signal))) return { kind: "moving" };
      return accounts.install(ask, signal);
    },
    async tidy(ask, before, isNews, signal) {
      if (ask.wish.createsAccount) await removal.forget(ask, "user", signal);
      if (ask.wish.createsAccount || before === undefined) return true;
      return !isNews && removal.removeFormer(before, ask, signal);
    },
  };
}
