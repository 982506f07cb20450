/** What one API server said when an account asked whether it may write somewhere, and of a write that was only tried. */
export interface AccessAnswer {
  readonly endpoint: string;
  /** Absent: no answer. */
  readonly isAllowed: boolean | undefined;
  /** An absent status: no answer. */
  readonly trial: { readonly status: number | undefined; readonly message: string };
}
