/** What an AppProject says of the cluster that an instance reads through a filter. */
export interface SeenProject {
  readonly name: string;
  readonly uid: string;
  /** Namespaces of its destinations there, sorted; `everything` where one of them is a pattern. */
  readonly namespaces: readonly string[] | "everything";
  /** What its annotation says is let in. */
  readonly letIn: string | undefined;
}
