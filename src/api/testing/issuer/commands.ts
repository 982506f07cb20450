/** A token to sign. Claims are taken as they are: nothing is added. */
export interface SignRequest {
  readonly key: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly as?: "none" | "hs256-with-the-public-key";
}

/** What a test tells the issuer's process to do. */
export type IssuerCommand =
  | ({ readonly do: "sign" } & SignRequest)
  | { readonly do: "add-key"; readonly kid: string; readonly alg: string }
  /** These keys and no others. */
  | { readonly do: "publish"; readonly kids: readonly string[] }
  | {
      readonly do: "behave";
      readonly as: "well" | "failing" | "redirecting" | "silent" | "dripping" | "huge" | "symmetric" | "wrong-issuer" | "plain-keys";
    }
  /** How often its documents were read since it was forgotten. */
  | { readonly do: "count" }
  /** It is as it was at its start, with the same keys. */
  | { readonly do: "forget" };
